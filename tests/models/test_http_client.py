"""The client of a server takes the machine's certificates; what is unusable is told before anything is sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.errors import ModelUnreachableError
from assistant.models.http_client import client_for

HTTPS, HTTP = "https://127.0.0.1:1/v1", "http://127.0.0.1:1/v1"


@pytest.mark.parametrize("content", [None, b"", b"no certificate"])
async def test_certificates_that_cannot_be_read_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    path = tmp_path / "own.pem"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    with pytest.raises(ModelUnreachableError, match=r"SSL_CERT_FILE names .*own\.pem"):
        client_for(HTTPS, 1.0)
    await client_for(HTTP, 1.0).aclose()


async def test_a_client_is_made_whatever_proxies_are_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "localhost,::1,fd00::/8,[::1]:80,192.0.2.0/24")
    await client_for(HTTP, 1.0).aclose()
    await client_for("http://192.0.2.7/v1", 1.0).aclose()
