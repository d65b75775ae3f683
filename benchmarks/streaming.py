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
    # Time of the thread and not of the clock: other programs of the machine do not count.
    session.send("Performance.setTimeDomain", {"timeDomain": "threadTicks"})
    session.send("Performance.enable")
    session.send("Network.enable")
    received = [0]
    session.on("Network.dataReceived", lambda event: received.append(event["dataLength"]))
    page.evaluate(_LONG_TASKS)
    before = _busy_seconds(session)
    page.locator("#composer textarea").fill("stream it")
    page.locator("#composer textarea").press("Enter")
    page.locator("#stop button").wait_for()
    page.wait_for_function("document.querySelectorAll('#stop button').length === 0")
    busy = (_busy_seconds(session) - before) * 1000 / STREAMED_PIECES
    long_tasks = [task for task in page.evaluate("window.longTasks") if task > 80]
    return [
        Figure(f"{name}: main thread per update", busy, "ms", at_most=goal),
        Figure(f"{name}: tasks over 80 ms", len(long_tasks), "", at_most=0),
        Figure(f"{name}: bytes by the text", sum(received) / len(STREAMED_TEXT.encode()), "×", at_most=2.5),
    ]


def _entries(page: Page) -> int:
    return page.locator("#chat .m-node").count()


def _busy_seconds(session: CDPSession) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


if __name__ == "__main__":
    sys.exit(main())
