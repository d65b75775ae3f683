"""The page of a home as a browser opens it: how long until it is there, lists conversations and has answered."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
from playwright.sync_api import sync_playwright

from tests.fakes.free_port import free_port

ROOT = Path(__file__).parent.parent
WAIT_SECONDS = 120.0
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
)


@dataclass(frozen=True, slots=True)
class OpenedPage:
    """CPU seconds of the program to the page and to an answer of the built-in assistant, and its memory then.

    `list_seconds` is how long after the field for a message the list of conversations came, by the clock.
    """

    page_seconds: float
    answer_seconds: float
    list_seconds: float
    resident_mib: float


def installed_environment() -> dict[str, str]:
    """The environment of this process, without the switch by which Python would compile the program at every start."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def opened_page(home: Path) -> OpenedPage:
    """Open the page of a home and ask one thing."""
    environment = {
        **installed_environment(),
        "PALIMPSEST_HOME": str(home),
        "PALIMPSEST_PROVIDER": "offline",
        "PALIMPSEST_PORT": str(free_port()),
    }
    with started_program(environment) as process:
        address = read_address(process)
        watched = psutil.Process(process.pid)
        httpx.get(address, timeout=WAIT_SECONDS, trust_env=False).raise_for_status()
        page_seconds = _cpu_seconds(watched)
        list_seconds = _ask(address)
        return OpenedPage(page_seconds, _cpu_seconds(watched), list_seconds, watched.memory_info().rss / 2**20)


@contextmanager
def started_program(environment: Mapping[str, str]) -> Generator[subprocess.Popen[str]]:
    """`python app.py` in this environment, ended behind it; what it prints can be read, see `read_address`."""
    process = subprocess.Popen(
        [sys.executable, "app.py"],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(WAIT_SECONDS)


def read_address(process: subprocess.Popen[str]) -> str:
    """Where the page of a program is that was just started, once it says so; its output is read up to there."""
    assert process.stdout is not None
    for line in process.stdout:
        if found := _ADDRESS.search(line):
            return found[0]
    raise SystemExit("app.py ended without telling an address")


def _ask(address: str) -> float:
    """What a browser does: open the page's own events until a message was answered; seconds until the list came."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=[*CHROMIUM_FLAGS])
        page = browser.new_page()
        page.goto(address)
        page.wait_for_selector("textarea")
        shown = time.monotonic()
        # A new home says there that it has none.
        page.wait_for_selector("#sessions .p-sessions", state="attached", timeout=WAIT_SECONDS * 1000)
        list_seconds = time.monotonic() - shown
        page.fill("textarea", "Who are you?")
        page.keyboard.press("Enter")
        page.wait_for_function("document.body.innerText.includes('not a language model')", timeout=WAIT_SECONDS * 1000)
        browser.close()
    return list_seconds


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system + times.children_user + times.children_system
