"""Machines whose network is strange: proxies, exceptions from them, certificates, addresses, keys."""

from __future__ import annotations

from benchmarks.machines.machine import ALL, TALKING, Address, Machine
from benchmarks.machines.outside import Outside


def network_machines(outside: Outside) -> list[Machine]:
    """All of them."""
    return [*_proxies(outside), *_certificates(outside), *_addresses_and_keys()]


def _proxies(outside: Outside) -> list[Machine]:
    dead, gone = "http://127.0.0.1:9", "socks5://127.0.0.1:9"
    relay = outside.address("remote").removesuffix("/v1")
    exceptions = f"localhost,127.0.0.0/8,::1,fd00::/8,[::1]:80,{outside.host}/24,*.corp"
    both = {"HTTP_PROXY": dead, "HTTPS_PROXY": dead}
    return [
        Machine("plain", commands=ALL),
        Machine("a SOCKS proxy, the model here", {"ALL_PROXY": gone}, commands=ALL),
        Machine("a SOCKS proxy", {"ALL_PROXY": gone}, "remote", told="SOCKS|proxy", commands=TALKING),
        Machine(
            "a SOCKS proxy as desktops write it",
            {"all_proxy": "socks://127.0.0.1:9"},
            "remote",
            told="SOCKS|proxy",
            commands=TALKING,
        ),
        Machine("a dead proxy, the model here", both, commands=ALL),
        Machine("a dead proxy, no model", both, "none", commands=ALL),
        Machine("a dead proxy", {"http_proxy": dead}, "remote", told="proxy .*NO_PROXY", commands=TALKING),
        Machine("a proxy that works", {"http_proxy": relay}, "named", commands=TALKING),
        Machine("a proxy without http://", {"http_proxy": relay.removeprefix("http://")}, "named", commands=TALKING),
        Machine("a proxy that is no address", {"ALL_PROXY": "::::", "HTTP_PROXY": "ftp:/x"}, "remote", told="proxy"),
        Machine("a network in NO_PROXY", {"HTTP_PROXY": dead, "NO_PROXY": exceptions}, "remote", commands=TALKING),
        Machine(
            "an odd NO_PROXY", {"HTTP_PROXY": dead, "NO_PROXY": "::1,[::1,fe80::/10,9.0.0.0/99,;;,*.*"}, commands=ALL
        ),
    ]


def _certificates(outside: Outside) -> list[Machine]:
    if outside.certificate is None:
        return []
    trusted, nowhere = {"SSL_CERT_FILE": str(outside.certificate)}, {"SSL_CERT_FILE": "/no/such/file.pem"}
    own: Address = "own certificate"
    return [
        Machine("a certificate of its own", {}, own, told="certificate .*SSL_CERT_FILE", commands=TALKING),
        Machine("a certificate of its own that is trusted", trusted, own, commands=TALKING),
        Machine("a certificate file that is gone", nowhere, own, told="SSL_CERT_FILE", commands=TALKING),
        Machine("a certificate file that is gone, the model here", nowhere, commands=ALL),
    ]


def _addresses_and_keys() -> list[Machine]:
    key, base = "PALIMPSEST_API_KEY", "PALIMPSEST_BASE_URL"
    away = "http://127.0.0.1:9/v1"
    odd = [
        ("a key with a foreign letter", {key: "k-t\u00e9st"}, "PALIMPSEST_API_KEY.*copy the key"),
        ("a key with a line end in it", {key: "k-a\nk-b"}, "PALIMPSEST_API_KEY"),
        ("an address with a blank", {base: "http://127.0.0.1: 9/v1"}, "PALIMPSEST_BASE_URL"),
        ("an address without http://", {base: "127.0.0.1:9/v1"}, "PALIMPSEST_BASE_URL"),
        ("an address of another kind", {base: "ws://127.0.0.1:9/v1"}, "PALIMPSEST_BASE_URL"),
        ("an address of nobody", {base: "http://no.such.machine.invalid/v1"}, "No machine is called"),
    ]
    return [
        Machine("a key with blanks around it", {key: "  k-test \r\n"}, commands=TALKING),
        Machine("a key in quotes behind Bearer", {key: '"Bearer k-test"'}, commands=TALKING),
        *(Machine(name, values, told=told, commands=TALKING) for name, values, told in odd),
        Machine("a port where nobody is", {base: away}, told="Nothing answers", commands=ALL),
    ]
