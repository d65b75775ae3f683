"""What an answer that streams costs the browser: main-thread time per update, long tasks, bytes, and opening the past.

Twenty updates a second in Chromium, in a short conversation and in one of 1,000 messages.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from assistant.ui.page import start
from benchmarks.figures import Figure, report
from tests.browser.behind import opened_behind
from tests.fakes.page_player import STREAMED_PIECES, STREAMED_TEXT, PagePlayer

CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
)
# Two messages a turn.
PAST_TURNS = 500
_WAIT_MILLISECONDS = 180_000
_LONG_TASKS = """() => {
    window.longTasks = [];
    new PerformanceObserver(list => list.getEntries().forEach(entry => window.longTasks.push(entry.duration)))
        .observe({ type: 'longtask' });
}"""
_OPEN = """async () => {
    const started = performance.now();
    [...document.querySelectorAll('#sessions .p-session')].find(row => row.textContent.includes('Many years')).click();
    const isOpen = () => document.querySelector('#chat').textContent.includes('Question 500 about');
    while (!isOpen()) await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    return performance.now() - started;
}"""


def main() -> int:
    """Measure both conversations in one browser."""
    with tempfile.TemporaryDirectory() as folder, opened_behind(Path(folder) / "home", PagePlayer()) as behind:
        behind.write_past("years", "Many years", PAST_TURNS)
        behind.write_past("short", "Short one", 2)
        server = start(behind.settings, behind.open)
        try:
            with sync_playwright() as playwright:
                chromium = shutil.which("chromium")
                browser = playwright.chromium.launch(executable_path=chromium, args=list(CHROMIUM_FLAGS))
                return report(measured(browser, server.url))
        finally:
            server.close()


def measured(browser: Browser, address: str) -> Sequence[Figure]:
    """The figures of a short conversation, and of a long one."""
    page = opened_page(browser, address, "short")
    figures = streamed(page, "short", 9.0)
    page.close()
    page = opened_page(browser, address, "short")
    figures.append(Figure("open 1,000 messages", page.evaluate(_OPEN) / 1000, "s", at_most=0.5))
    page.wait_for_timeout(3_000)
    while (earlier := page.get_by_role("button", name="Load earlier")).count() and _entries(page) < 1_000:
        count = _entries(page)
        earlier.first.click()
        page.wait_for_function("count => document.querySelectorAll('#chat .m-node').length > count", arg=count)
    page.locator("#chat .m-scroller").evaluate("box => box.scrollTo(0, box.scrollHeight)")
    return [*figures, *streamed(page, "1,000 messages", 15.0)]


def opened_page(browser: Browser, address: str, session_id: str) -> Page:
    """A page that rests, with this conversation."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(_WAIT_MILLISECONDS)
    page.goto(f"{address}?c={session_id}")
    page.locator("#chat .p-foot").last.wait_for()
    page.wait_for_timeout(3_000)
    return page


def streamed(page: Page, name: str, goal: float) -> list[Figure]:
    """What one streamed answer costs."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    session.send("Network.enable")
    received: dict[str, float] = {}
    session.on("Network.dataReceived", lambda event: _add(received, event["requestId"], event["encodedDataLength"]))
    # The whole of an answer as it came over the wire, its head too.
    session.on(
        "Network.loadingFinished", lambda event: received.update({event["requestId"]: event["encodedDataLength"]})
    )
    page.evaluate(_LONG_TASKS)
    before = _busy_seconds(page, session)
    page.locator("#composer textarea").fill("stream it")
    page.locator("#composer textarea").press("Enter")
    page.locator("#stop button").wait_for()
    # Looking for it at every frame would be most of what is measured.
    page.wait_for_function("document.querySelectorAll('#stop button').length === 0", polling=500)
    busy = (_busy_seconds(page, session) - before) * 1000 / STREAMED_PIECES
    long_tasks = [task for task in page.evaluate("window.longTasks") if task > 80]
    return [
        Figure(f"{name}: main thread per update", busy, "ms", at_most=goal),
        Figure(f"{name}: tasks over 80 ms", len(long_tasks), "", at_most=0),
        Figure(f"{name}: bytes by the text", sum(received.values()) / len(STREAMED_TEXT.encode()), "×", at_most=2.5),
    ]


def _add(received: dict[str, float], request_id: str, size: float) -> None:
    received[request_id] = received.get(request_id, 0) + size


def _set(received: dict[str, float], request_id: str, size: float) -> None:
    received[request_id] = size


def _entries(page: Page) -> int:
    return page.locator("#chat .m-node").count()


def _busy_seconds(page: Page, session: CDPSession) -> float:
    """How long the main threads of pages have run. Where Linux counts it, what other programs took does not count."""
    browser = page.context.browser
    assert browser is not None
    system = browser.new_browser_cdp_session()
    renderers = [
        one["id"] for one in system.send("SystemInfo.getProcessInfo")["processInfo"] if one["type"] == "renderer"
    ]
    system.detach()
    counts = [Path(f"/proc/{pid}/task/{pid}/schedstat") for pid in renderers]
    if counts and all(count.exists() for count in counts):
        return sum(int(count.read_text().split()[0]) for count in counts) / 1e9
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


if __name__ == "__main__":
    sys.exit(main())
