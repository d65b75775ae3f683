"""CPU seconds from `python app.py` to the first answered page and to the first answer, and what imports cost.

Wall time on a shared machine says little, so the CPU time of the process and its children is taken.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx
import psutil
from playwright.sync_api import sync_playwright

from benchmarks.figures import Figure, report

ROOT = Path(__file__).parent.parent
PAGE_GOAL_SECONDS = 2.5
ANSWER_GOAL_SECONDS = 5.0
_WAIT_SECONDS = 120.0
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


def main() -> int:
    """Start the page three times and report the best; an idle start shows what the program itself costs."""
    runs = [measure_start() for _ in range(3)]
    page_seconds = min(run[0] for run in runs)
    answer_seconds = min(run[1] for run in runs)
    resident_mib = min(run[2] for run in runs)
    return report(
        [
            Figure("to the first answered page", page_seconds, "CPU s", at_most=PAGE_GOAL_SECONDS),
            Figure("to the first answer", answer_seconds, "CPU s", at_most=ANSWER_GOAL_SECONDS),
            Figure("memory after the first answer", resident_mib, "MiB", at_most=350.0),
            Figure(
                "import gradio", import_seconds("from assistant.ui.page import import_gradio; import_gradio()"), "CPU s"
            ),
            Figure("import the agent", import_seconds("import assistant.assembly.assistant"), "CPU s"),
        ]
    )


def measure_start() -> tuple[float, float, float]:
    """CPU seconds to the page and to an answer of the offline assistant, and the memory then, in MiB."""
    with tempfile.TemporaryDirectory() as home:
        environment = {
            **os.environ,
            "PALIMPSEST_HOME": home,
            "PALIMPSEST_PROVIDER": "offline",
            "PALIMPSEST_PORT": free_port(),
        }
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
            address = _read_address(process)
            watched = psutil.Process(process.pid)
            httpx.get(address, timeout=_WAIT_SECONDS, trust_env=False).raise_for_status()
            page_seconds = _cpu_seconds(watched)
            _ask(address)
            return page_seconds, _cpu_seconds(watched), watched.memory_info().rss / 2**20
        finally:
            process.terminate()
            process.wait(_WAIT_SECONDS)


def free_port() -> str:
    """A port of loopback that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return str(listener.getsockname()[1])


def import_seconds(statement: str) -> float:
    """CPU seconds of a new interpreter that carries out one statement, less those of one that does nothing."""
    return _child_cpu_seconds(statement) - _child_cpu_seconds("pass")


def _read_address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := _ADDRESS.search(line):
            return found[0]
    raise SystemExit("app.py ended without telling an address")


def _ask(address: str) -> None:
    """What a browser does: open the page's own events until a message was answered."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium",
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
            ],
        )
        page = browser.new_page()
        page.goto(address)
        page.wait_for_selector("textarea")
        page.fill("textarea", "Who are you?")
        page.keyboard.press("Enter")
        page.wait_for_function("document.body.innerText.includes('not a language model')", timeout=_WAIT_SECONDS * 1000)
        browser.close()


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system + times.children_user + times.children_system


def _child_cpu_seconds(statement: str) -> float:
    before = os.times()
    subprocess.run([sys.executable, "-c", statement], cwd=ROOT, check=True, stdin=subprocess.DEVNULL)
    after = os.times()
    return (after.children_user - before.children_user) + (after.children_system - before.children_system)


if __name__ == "__main__":
    sys.exit(main())
