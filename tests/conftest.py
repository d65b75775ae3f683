"""What every test gets: a home of its own, no keys, no telemetry, no connection that leaves the machine."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import shutil
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from uvicorn.loops.auto import auto_loop_factory

from assistant.config.words import speak
from tests.fakes.named_servers import NAMED_PLACES

# How fast a machine is proves nothing: a loaded one may take its time for an example.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

_FOREIGN_PREFIXES = ("PALIMPSEST_", "EMBEDDING_", "MEMORY_STORE_", "SPACE_", "GRADIO_", "HF_", "OLLAMA_")
_FOREIGN_SUFFIXES = ("_API_KEY", "_BASE_URL", "_PROXY")
_QUIET = {"GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_DISABLE_TELEMETRY": "1", "ORT_DISABLE_TELEMETRY": "1"}
_CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
# Every line of a journal is synced; where folders can be in memory, no test waits for a disk.
_MEMORY_FOLDER = Path("/dev/shm")
_ROOM_BYTES = 2 * 1024**3
_outside_attempts: list[str] = []


def pytest_configure() -> None:
    """Clean the environment before anything is imported, and close the network but for loopback."""
    for name in list(os.environ):
        if name.upper().startswith(_FOREIGN_PREFIXES) or name.upper().endswith(_FOREIGN_SUFFIXES):
            del os.environ[name]
    os.environ.update(_QUIET)
    sys.addaudithook(_refuse_outside)
    if _MEMORY_FOLDER.is_dir() and _is_fit_for_homes(_MEMORY_FOLDER):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY_FOLDER))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the browser tests last: from the first one on Playwright's event loop runs in this thread."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A browser test without a browser is skipped by a person's machine and failed by CI."""
    if item.get_closest_marker("browser") is None or find_chromium() is not None:
        return
    reason = f"no Chromium on the PATH (looked for {', '.join(_CHROMIUM_NAMES)})"
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own, not made yet; PALIMPSEST_HOME names it."""
    folder = tmp_path / "home"
    monkeypatch.setenv("PALIMPSEST_HOME", str(folder))
    # A command line that runs in this process takes the keys out of the environment for good.
    monkeypatch.setattr("assistant.config.variables._taken", {})
    return folder


@pytest.fixture(autouse=True)
def english() -> Generator[None]:
    """The program speaks English again after a test that let it speak another language."""
    yield
    speak("en")


@pytest.fixture(autouse=True)
def outside_attempts() -> Generator[list[str]]:
    """Fail a test that tried to reach another machine, even where the code under test caught the refusal."""
    _outside_attempts.clear()
    yield _outside_attempts
    assert _outside_attempts == [], "a connection beyond loopback was tried"


def pytest_asyncio_loop_factories(item: pytest.Item) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The loop of the terminal; a test marked `page_loop` also runs in the one that uvicorn serves the page in."""
    loops: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {"asyncio": asyncio.new_event_loop}
    if item.get_closest_marker("page_loop") is not None:
        loops["page"] = auto_loop_factory()
    return loops


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """The browser that browser tests drive."""
    path = find_chromium()
    assert path is not None, "mark the test with `browser`"
    return path


def find_chromium() -> str | None:
    """The first Chromium on the PATH; None where there is none."""
    return next((path for name in _CHROMIUM_NAMES if (path := shutil.which(name))), None)


def _is_fit_for_homes(folder: Path) -> bool:
    """True where there is room for the homes of all tests, and what they install there may run."""
    system = os.statvfs(folder)
    has_room = system.f_bavail * system.f_frsize > _ROOM_BYTES
    return has_room and not system.f_flag & os.ST_NOEXEC and os.access(folder, os.W_OK)


def _refuse_outside(event: str, arguments: tuple[object, ...]) -> None:
    if event not in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        return
    place = arguments[0] if event == "socket.getaddrinfo" else arguments[1]
    # An address of IPv4 or IPv6 is a tuple; a Unix socket's is a path.
    host = place[0] if isinstance(place, tuple) else place if event == "socket.getaddrinfo" else None
    if host is None or _is_loopback(os.fsdecode(host) if isinstance(host, bytes) else str(host)):
        return
    _outside_attempts.append(f"{event} {host}")
    raise PermissionError(f"tests reach loopback only, not {host!r}")


def _is_loopback(host: str) -> bool:
    if host in ("", "localhost") or host in NAMED_PLACES:
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
