"""Over which proxy an address is reached, by the variables of every other program (pure but for `proxy_of`)."""

from __future__ import annotations

import ipaddress
import re
import urllib.request
from collections.abc import Mapping
from urllib.parse import urlsplit

from assistant.config.words import say
from assistant.errors import ModelUnreachableError
from assistant.models.server_report import is_loopback

_PORTS = {"http": 80, "https": 443}
_SOCKS = ("socks5", "socks5h")
_SEPARATORS = re.compile(r"[\s,;]+")


def proxy_of(address: str) -> str:
    """The proxy on the way to an address as this machine is set; empty where there is none.

    Raises `ModelUnreachableError` for one that cannot be used.
    """
    # On Windows and macOS this reads the system's settings as well.
    return choose_proxy(address, urllib.request.getproxies())


def choose_proxy(address: str, proxies: Mapping[str, str]) -> str:
    """The proxy for an address among those of each scheme, `all`, and `no` with the addresses that need none.

    What is said to a server on this machine goes to none. Raises `ModelUnreachableError` for one that cannot be used.
    """
    parts = urlsplit(address)
    if is_loopback(address) or goes_direct(address, proxies.get("no", "")):
        return ""
    set_proxy = proxies.get(parts.scheme, "") or proxies.get("all", "")
    return _usable(set_proxy.strip(" \t\r\n\"'"), address)


def goes_direct(address: str, exceptions: str) -> bool:
    """True where NO_PROXY names the address: `*`, a name and all below it, an address, a network, each with or without
    a port.
    """
    parts = urlsplit(address)
    host = (parts.hostname or "").rstrip(".").lower()
    port = parts.port or _PORTS.get(parts.scheme)
    return any(_names(entry.lower(), host, port) for entry in _SEPARATORS.split(exceptions) if entry)


def _names(entry: str, host: str, port: int | None) -> bool:
    if entry == "*":
        return True
    entry = entry.partition("://")[2] or entry
    name, named_port = _split_port(entry)
    if named_port is not None and named_port != port:
        return False
    address = _ip(host)
    if "/" in name or _ip(name) is not None:
        try:
            return address is not None and address in ipaddress.ip_network(name, strict=False)
        except (ValueError, TypeError):
            return False
    name = name.removeprefix("*").strip(".")
    return bool(name) and (host == name or host.endswith(f".{name}"))


def _split_port(entry: str) -> tuple[str, int | None]:
    """A name and its port; the colons of an address of version 6 are none."""
    if entry.startswith("["):
        name, _, rest = entry[1:].partition("]")
        network, _, port = rest.rpartition(":") if ":" in rest else (rest, "", "")
        return name + network, int(port) if port.isdigit() else None
    name, _, port = entry.rpartition(":")
    return (name, int(port)) if port.isdigit() and name and ":" not in name else (entry, None)


def _ip(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _usable(proxy: str, address: str) -> str:
    if not proxy:
        return ""
    full = proxy if "://" in proxy else f"http://{proxy}"
    # Desktops write it so.
    full = re.sub(r"^socks(4a?)?://", lambda found: "socks4://" if found[1] else "socks5://", full)
    try:
        parts = urlsplit(full)
        is_address = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
        parts = urlsplit("http://")
    if not is_address or parts.scheme not in ("http", "https", "socks4", *_SOCKS):
        raise ModelUnreachableError(say("proxies", "no_proxy_address", proxy=shown_proxy(proxy), where=address))
    if parts.scheme == "socks4" or (parts.scheme in _SOCKS and not _has_socks()):
        raise ModelUnreachableError(say("proxies", "no_socks", proxy=shown_proxy(full), where=address))
    return full


def shown_proxy(proxy: str) -> str:
    """The proxy without a name and a password in it."""
    start, mark, rest = proxy.rpartition("@")
    if not mark:
        return proxy
    scheme = start.partition("://")[0]
    return f"{scheme}://{rest}" if "://" in start else rest


def _has_socks() -> bool:
    try:
        import socksio  # pyright: ignore[reportMissingImports, reportUnusedImport]  # noqa: F401, PLC0415
    except ImportError:
        return False
    return True
