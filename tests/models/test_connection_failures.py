"""A connection that does not come about is explained by its cause, without a library's words."""

from __future__ import annotations

import socket
import ssl

import httpx
import openai
import pytest

from assistant.models.connection_failures import explain_connection_error

REQUEST = httpx.Request("POST", "https://model.example/v1/chat/completions")
HTTPS, HTTP = "https://model.example/v1", "http://model.example/v1"


def wrapped(*causes: BaseException) -> openai.APIConnectionError:
    """An error as the client raises it: each cause within the next."""
    error: BaseException = openai.APIConnectionError(request=REQUEST)
    outermost = error
    for cause in causes:
        error.__cause__ = cause
        error = cause
    assert isinstance(outermost, openai.APIConnectionError)
    return outermost


@pytest.mark.parametrize(
    ("causes", "where", "start"),
    [
        ([], HTTP, "Nothing answers at http://model.example/v1."),
        ([httpx.ConnectError("All connection attempts failed")], HTTP, "Nothing answers at"),
        ([httpx.ConnectError("x"), ConnectionRefusedError(111, "Connection refused")], HTTP, "Nothing answers at"),
        ([httpx.ConnectError("[SSL: WRONG_VERSION_NUMBER] wrong version number")], HTTPS, "What answers at https://"),
        ([httpx.ConnectError("x"), ssl.SSLError("record layer failure")], HTTPS, "What answers at https://"),
        (
            [httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate")],
            HTTPS,
            "This machine does not trust the certificate of https://model.example/v1 (it is self-signed).",
        ),
        (
            [httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: certificate has expired")],
            HTTPS,
            "This machine does not trust the certificate of https://model.example/v1 (it has expired).",
        ),
        (
            [httpx.ConnectError("x"), ssl.SSLCertVerificationError("Hostname mismatch, certificate is not valid")],
            HTTPS,
            "This machine does not trust the certificate of https://model.example/v1 (it is for another name).",
        ),
        ([httpx.ConnectError("[Errno -2] Name or service not known")], HTTP, "No machine is called model.example."),
        (
            [httpx.ConnectError("x"), socket.gaierror(-3, "Temporary failure")],
            HTTP,
            "No machine is called model.example.",
        ),
        ([httpx.ProxyError("403 Forbidden")], HTTP, "The proxy that is set in the environment"),
        ([httpx.LocalProtocolError("Illegal header value b'Bearer k\\n'")], HTTP, "The request to http://model"),
        ([UnicodeEncodeError("ascii", "é", 0, 1, "ordinal not in range")], HTTP, "The request to http://model"),
        ([httpx.UnsupportedProtocol("Request URL is missing a protocol")], "model", "model is no address"),
        (
            [httpx.RemoteProtocolError("Server disconnected without sending a response.")],
            HTTP,
            "What answers at http://model.example/v1 gave no answer that can be read. Does it want https,",
        ),
        ([httpx.RemoteProtocolError("illegal status line")], HTTPS, "What answers at https://model.example/v1 gave no"),
    ],
)
def test_the_cause_is_named(causes: list[BaseException], where: str, start: str) -> None:
    words = explain_connection_error(wrapped(*causes), where)
    assert words.startswith(start)
    assert not any(word in words for word in ("Error", "Errno", "SSL:", "ordinal", "Illegal"))


@pytest.mark.parametrize(
    ("causes", "start"),
    [
        ([httpx.ConnectError("All connection attempts failed")], "The proxy http://proxy:3128 that is set in the"),
        ([httpx.ProxyError("407 Proxy Authentication Required")], "The proxy http://proxy:3128 that is set in the"),
        (
            [httpx.ConnectError("x"), ssl.SSLCertVerificationError("self-signed certificate")],
            "This machine does not trust",
        ),
    ],
)
def test_a_proxy_that_leads_nowhere_is_named(causes: list[BaseException], start: str) -> None:
    words = explain_connection_error(wrapped(*causes), HTTPS, "http://name:secret@proxy:3128")
    assert (words.startswith(start), "secret" in words) == (True, False)
