"""The proxy on the way to a server, by the variables of every program."""

from __future__ import annotations

import pytest

from assistant.errors import ModelUnreachableError
from assistant.models.proxies import choose_proxy, goes_direct

WEB, OTHER = "https://api.example.com/v1", "http://192.0.2.7:8000/v1"
PROXY = "http://proxy.corp:3128"


@pytest.mark.parametrize(
    ("address", "proxies", "proxy"),
    [
        (WEB, {}, ""),
        (WEB, {"https": PROXY}, PROXY),
        (WEB, {"http": PROXY}, ""),
        (OTHER, {"http": PROXY, "https": "http://other:1"}, PROXY),
        (WEB, {"all": PROXY}, PROXY),
        (WEB, {"https": "proxy.corp:3128"}, PROXY),
        (WEB, {"https": f' "{PROXY}"\n'}, PROXY),
        (WEB, {"https": "https://name:word@proxy.corp:3128"}, "https://name:word@proxy.corp:3128"),
        (WEB, {"https": PROXY, "no": "example.com"}, ""),
        ("http://127.0.0.1:11434/v1", {"http": PROXY}, ""),
        ("http://localhost:11434/v1", {"all": "socks5://127.0.0.1:1"}, ""),
        ("http://[::1]:11434/v1", {"all": "not a proxy"}, ""),
    ],
)
def test_the_proxy_of_an_address(address: str, proxies: dict[str, str], proxy: str) -> None:
    assert choose_proxy(address, proxies) == proxy


@pytest.mark.parametrize(
    ("exceptions", "address", "is_direct"),
    [
        ("*", WEB, True),
        ("example.com", WEB, True),
        (".example.com", WEB, True),
        ("*.example.com", WEB, True),
        ("EXAMPLE.com.", WEB, True),
        ("ample.com", WEB, False),
        ("example.com:443", WEB, True),
        ("example.com:8443", WEB, False),
        ("https://api.example.com", WEB, True),
        ("192.0.2.7", OTHER, True),
        ("192.0.2.0/24", OTHER, True),
        ("192.0.3.0/24", OTHER, False),
        ("192.0.2.7:8000", OTHER, True),
        ("192.0.2.7:80", OTHER, False),
        ("fd00::/8", OTHER, False),
        ("::1,fd00::/8, 192.0.2.0/24", OTHER, True),
        ("localhost 192.0.2.7", OTHER, True),
        ("fd00::/8", "http://[fd00::2]:8000/v1", True),
        ("fd00::2", "http://[fd00::2]:8000/v1", True),
        ("[fd00::2]:8000", "http://[fd00::2]:8000/v1", True),
        ("[fd00::2]:9000", "http://[fd00::2]:8000/v1", False),
        ("[fd00::2]", "http://[fd00::2]:8000/v1", True),
        ("fd00:0:0::2", "http://[fd00::2]:8000/v1", True),
        ("[::1", WEB, False),
        ("192.0.2.0/99", OTHER, False),
        (",, ;", WEB, False),
        ("", WEB, False),
    ],
)
def test_an_address_that_needs_no_proxy(exceptions: str, address: str, is_direct: bool) -> None:
    assert goes_direct(address, exceptions) == is_direct


@pytest.mark.parametrize(
    ("proxy", "words"),
    [
        ("::::", "is no address such as"),
        ("ftp://proxy:21", "is no address such as"),
        ("http://proxy:port", "is no address such as"),
        ("socks4://proxy:1080", "speaks SOCKS"),
        ("socks4a://proxy:1080", "speaks SOCKS"),
        ("http://name:secret@:0", "is no address such as"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_told_with_a_way_out(proxy: str, words: str) -> None:
    with pytest.raises(ModelUnreachableError, match=words) as caught:
        choose_proxy(WEB, {"all": proxy})
    assert "NO_PROXY" in str(caught.value)
    assert "secret" not in str(caught.value)
