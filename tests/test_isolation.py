"""No test leaves the machine or sees the person's own keys and home."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from assistant.config.settings import load_settings


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "model.invalid"])
def test_a_connection_beyond_loopback_is_refused_and_remembered(host: str, outside_attempts: list[str]) -> None:
    with pytest.raises(PermissionError, match=host):
        socket.create_connection((host, 9), timeout=1)
    assert outside_attempts == [f"socket.getaddrinfo {host}"]
    outside_attempts.clear()


def test_an_address_that_needs_no_look_up_is_refused_too(outside_attempts: list[str]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened, pytest.raises(PermissionError):
        opened.connect(("192.0.2.1", 9))
    assert outside_attempts == ["socket.connect 192.0.2.1"]
    outside_attempts.clear()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_loopback_is_open(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection((host, server.getsockname()[1]), timeout=5).close()


def test_the_home_is_the_tests_own_and_no_key_is_set(tmp_path: Path) -> None:
    assert load_settings().home == tmp_path / "home"
    assert [name for name in os.environ if name.endswith("_API_KEY")] == []
