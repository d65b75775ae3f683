"""Why no connection to a server came about, in plain words: its name, its certificate, a proxy, or nobody there."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx

_UNKNOWN_NAME = ("name or service not known", "nodename nor servname", "getaddrinfo", "name resolution", "no address")
_REQUEST_FAULTS = (UnicodeEncodeError, httpx.LocalProtocolError, httpx.InvalidURL)


def explain_connection_error(error: BaseException, where: str) -> str:
    """One or two sentences: what failed, and what to look at. `where` is the address that was tried."""
    for cause in _causes(error):
        if words := _explain(cause, where):
            return words
    return f"Nothing answers at {where}. Is the server running, and is the address right?"


def _explain(cause: BaseException, where: str) -> str:  # noqa: C901, PLR0911 - one list of causes
    text = str(cause).lower()
    if isinstance(cause, ssl.SSLCertVerificationError) or "certificate_verify_failed" in text:
        return (
            f"This machine does not trust the certificate of {where}{_certificate_fault(text)}. For a server with a "
            "certificate of its own, SSL_CERT_FILE names the file with it."
        )
    if isinstance(cause, ssl.SSLError) or "[ssl" in text:
        return f"What answers at {where} does not speak TLS. Should the address begin with http:// and not https://?"
    if isinstance(cause, httpx.ProxyError) or "proxy" in text:
        return (
            f"The proxy that is set in the environment (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY) does not lead to {where}. "
            "NO_PROXY names the addresses that need none."
        )
    if isinstance(cause, socket.gaierror) or any(words in text for words in _UNKNOWN_NAME):
        return (
            f"No machine is called {urlsplit(where).hostname or where}. Is the address right, and is the network there?"
        )
    if isinstance(cause, _REQUEST_FAULTS):
        return f"The request to {where} cannot be written: the key or the address has a character that none may have."
    if isinstance(cause, httpx.UnsupportedProtocol):
        return f"{where} is no address: one begins with http:// or https://."
    if isinstance(cause, httpx.RemoteProtocolError):
        other = "https" if where.startswith("http:") else "http"
        return (
            f"What answers at {where} gave no answer that can be read. Does it want {other}, or is it another program?"
        )
    return ""


def _certificate_fault(text: str) -> str:
    for words, fault in (
        ("self-signed", "it is self-signed"),
        ("self signed", "it is self-signed"),
        ("expired", "it has expired"),
        ("not yet valid", "it is not valid yet; is the clock right?"),
        ("hostname mismatch", "it is for another name"),
        ("not valid for", "it is for another name"),
    ):
        if words in text:
            return f" ({fault})"
    return ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The innermost first: libraries wrap what happened in words of their own."""
    chain: list[BaseException] = []
    seen: BaseException | None = error
    while seen is not None and seen not in chain:
        chain.append(seen)
        seen = seen.__cause__ or seen.__context__
    return reversed(chain)
