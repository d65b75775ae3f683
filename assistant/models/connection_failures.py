"""Why no connection to a server came about, in plain words: its name, its certificate, a proxy, or nobody there."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx

from assistant.config.words import say
from assistant.models.proxies import shown_proxy

_UNKNOWN_NAME = re.compile("name or service not known|nodename nor servname|getaddrinfo|name resolution|no address")
_REQUEST_FAULTS = (UnicodeEncodeError, httpx.LocalProtocolError, httpx.InvalidURL)


def explain_connection_error(error: BaseException, where: str, proxy: str = "") -> str:
    """One or two sentences: what failed, and what to look at. `where` is the address that was tried over `proxy`."""
    causes = list(_causes(error))
    of_proxy = httpx.ProxyError | httpx.ConnectError if proxy else httpx.ProxyError
    if any(isinstance(one, of_proxy) for one in causes) and not any(isinstance(one, ssl.SSLError) for one in causes):
        return say("models", "proxy", proxy=f" {shown_proxy(proxy)}" if proxy else "", where=where)
    for cause in causes:
        if words := _explain(cause, where):
            return words
    return say("models", "nothing_answers", where=where)


def _explain(cause: BaseException, where: str) -> str:  # noqa: C901, PLR0911 - one list of causes
    text = str(cause).lower()
    if isinstance(cause, ssl.SSLCertVerificationError) or "certificate_verify_failed" in text:
        return say("models", "not_trusted", where=where, fault=_certificate_fault(text))
    if isinstance(cause, ssl.SSLError) or "[ssl" in text:
        return say("models", "no_tls", where=where)
    if isinstance(cause, socket.gaierror) or _UNKNOWN_NAME.search(text):
        return say("models", "unknown_machine", hostname=urlsplit(where).hostname or where)
    if isinstance(cause, _REQUEST_FAULTS):
        return say("models", "bad_request", where=where)
    if isinstance(cause, httpx.UnsupportedProtocol):
        return say("models", "no_address", where=where)
    if isinstance(cause, httpx.RemoteProtocolError):
        other = "https" if where.startswith("http:") else "http"
        return say("models", "unreadable_answer", where=where, other=other)
    return ""


def _certificate_fault(text: str) -> str:
    for words, fault in (
        ("self-signed", "fault_self_signed"),
        ("self signed", "fault_self_signed"),
        ("expired", "fault_expired"),
        ("not yet valid", "fault_not_yet"),
        ("hostname mismatch", "fault_other_name"),
        ("not valid for", "fault_other_name"),
    ):
        if words in text:
            return say("models", "fault", words=say("models", fault))
    return ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The innermost first: libraries wrap what happened in words of their own."""
    chain: list[BaseException] = []
    seen: BaseException | None = error
    while seen is not None and seen not in chain:
        chain.append(seen)
        seen = seen.__cause__ or seen.__context__
    return reversed(chain)
