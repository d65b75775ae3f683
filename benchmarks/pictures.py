"""Every state of the page at five widths in both themes, as pictures in ./pictures: what a stranger would see.

With `--readme` those of the README, written into ./docs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from assistant.assembly.assistant import open_assistant
from assistant.ui.page import PageServer, start
from benchmarks.readme_picture import take_readme_pictures
from tests.browser.behind import Behind, opened_behind
from tests.conftest import find_chromium
from tests.fakes.home import home_settings
from tests.fakes.page_player import PagePlayer

README_FOLDER = Path(__file__).parent.parent / "docs"
HEIGHTS = {1920: 1080, 1440: 900, 1024: 768, 820: 1180, 390: 844}
THEMES = ("light", "dark")
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass(frozen=True, slots=True)
class Stage:
    """What is behind the page: the assistant, and the player that answers it."""

    behind: Behind
    player: PagePlayer


@dataclass(frozen=True, slots=True)
class State:
    """One state: its name and what leads to it from a new conversation."""

    name: str
    reach: Callable[[Page, Stage], None]
    is_offline: bool = False


def say(page: Page, text: str, until: str) -> None:
    """Send a message and wait for what must stand there then."""
    page.locator("#composer textarea").fill(text)
    page.keyboard.press("Enter")
    page.locator(until).last.wait_for()


def open_right(page: Page, tab: str) -> None:
    """Show a tab of the right panel."""
    show_panel(page, "right")
    page.get_by_role("tab", name=tab).click()
    page.wait_for_timeout(400)


def show_panel(page: Page, side: str) -> None:
    """Open a panel that is closed."""
    if not page.locator(f"#{side}").is_visible():
        page.locator(f"#open-{side} button").click()
        page.wait_for_timeout(400)


def _tools(page: Page, _: Stage) -> None:
    say(page, "tools: when is Friday free?", ".p-foot")


def _tools_open(page: Page, stage: Stage) -> None:
    _tools(page, stage)
    page.locator(".p-row summary", has_text="Bash").click()
    page.locator(".p-row summary", has_text="Thinking").click()
    page.locator("#chat .m-scroller").evaluate("box => box.scrollTo(0, 0)")


def _streaming(page: Page, stage: Stage) -> None:
    stage.player.gate.clear()
    say(page, "slow: begin and wait", "text=It begins")
    page.locator("#composer textarea").fill("And one more thing")
    page.keyboard.press("Enter")
    page.locator(".p-queued").wait_for()


def _conflict(page: Page, stage: Stage) -> None:
    open_right(page, "Memory")
    page.locator("#editor .cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("\n- Bring the passport")
    page.wait_for_timeout(300)
    path = stage.behind.home / "MEMORY.md"
    path.write_text(path.read_text("utf-8") + "- Written by another hand\n", "utf-8")
    page.locator("#save").click()
    page.locator(".p-conflict").wait_for()
    page.get_by_role("button", name="Show diff").click()
    page.locator(".p-conflict .p-diff").wait_for()


def _compact(page: Page) -> None:
    ferries = "I have seen three ferries today. " * 600
    page.evaluate("text => window.palimpsest.send('send', text)", f"1 answer My dentist is on Friday 15:30. {ferries}")
    page.locator(".p-foot").last.wait_for()
    say(page, "And now?", ".m-own >> text=You said")
    say(page, "/compact", ".p-compaction")


def _summary(page: Page, _: Stage) -> None:
    _compact(page)
    page.locator(".p-summary summary").last.click()


def _undone(page: Page, _: Stage) -> None:
    _compact(page)
    page.locator("#chat").get_by_role("button", name="Undo").click()
    page.locator(".p-undone").last.wait_for()


def _recalled(page: Page, stage: Stage) -> None:
    stage.behind.assistant.is_recall_on = True
    say(page, "Which hotels in Alfama?", ".p-row-recalled")


def _past(page: Page, _: Stage) -> None:
    show_panel(page, "left")
    page.get_by_role("button", name="Lisbon trip").click()
    page.get_by_text("Question 40 about").wait_for()
    page.locator("#chat .m-scroller").evaluate("box => box.scrollTo(0, 0)")


def _sessions(page: Page, _: Stage) -> None:
    show_panel(page, "left")


def _model(page: Page, _: Stage) -> None:
    open_right(page, "Model")
    page.locator("#model").get_by_role("button", name="Test connection").click()
    page.locator("#model .p-report").wait_for()


def _context(page: Page, _: Stage) -> None:
    _compact(page)
    open_right(page, "Context")


STATES = (
    State("welcome", lambda page, _: None),
    State("setup", lambda page, _: None, is_offline=True),
    State("answer", _tools),
    State("work-open", _tools_open),
    State("streaming", _streaming),
    State("approval", lambda page, _: say(page, "approve: tidy up", ".p-approval")),
    State(
        "approval-diff",
        lambda page, stage: say(page, f"edit: {stage.behind.home / 'files' / 'plan.md'}", ".p-approval"),
    ),
    State("compaction", _summary),
    State("compaction-undone", _undone),
    State("memory-chips", lambda page, _: say(page, "remember: I prefer window seats", ".p-foot")),
    State("recalled", _recalled),
    State("failed", lambda page, _: say(page, "fail: please", ".p-failed")),
    State("max-steps", lambda page, _: say(page, "steps: please", ".p-stopped")),
    State("hostile", lambda page, _: say(page, "hostile: please", ".p-foot")),
    State("past", _past),
    State("sessions", _sessions),
    State("memory", lambda page, _: open_right(page, "Memory")),
    State("memory-conflict", _conflict),
    State("context", _context),
    State("model", _model),
)


@contextmanager
def serving(home: Path, is_offline: bool) -> Generator[tuple[PageServer, Stage]]:
    """The page on a free port, with a few conversations of other days."""
    player = PagePlayer()
    with opened_behind(home, player) as behind:
        behind.write_past("tax", "税表和收据", 3)
        behind.write_past("garden", "Plan for the balcony garden", 5)
        behind.write_past("lisbon", "Lisbon trip", 40, folded_turns=20)
        offline = home_settings(home, provider="offline", memory_store_backend="local")
        server = start(behind.settings, (lambda *_: open_assistant(offline)) if is_offline else behind.open)
        try:
            yield server, Stage(behind, player)
        finally:
            player.gate.set()
            server.close()


def take(browser: Browser, state: State, width: int, theme: str, folder: Path) -> None:
    """Take one picture."""
    with (
        tempfile.TemporaryDirectory() as folder_of_home,
        serving(Path(folder_of_home) / "home", state.is_offline) as (server, stage),
    ):
        context = browser.new_context(viewport={"width": width, "height": HEIGHTS[width]})
        page = context.new_page()
        page.goto(f"{server.url}?__theme={theme}")
        page.locator("html.p-settled").wait_for()
        page.locator("#chat .p-foot").last.wait_for()
        show_panel(page, "left")
        page.locator("#new-chat").click()
        page.locator(".p-welcome .p-suggestion").first.wait_for()
        if width < 1200:
            page.locator("#left").wait_for(state="hidden")
        reached = _reach(state, page, stage)
        page.mouse.move(width / 2, 4)
        page.wait_for_timeout(600)
        page.screenshot(path=folder / f"{state.name}-{width}-{theme}{'' if reached else '-not-reached'}.png")
        context.close()


def _reach(state: State, page: Page, stage: Stage) -> bool:
    try:
        state.reach(page, stage)
    except PlaywrightError as error:
        print(f"{state.name} was not reached: {error}", file=sys.stderr)
        return False
    return True


def main() -> int:
    """Take all pictures, or those of the states that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"states, by default all of: {', '.join(s.name for s in STATES)}")
    parser.add_argument("--folder", type=Path, default=Path("pictures"))
    parser.add_argument("--readme", action="store_true", help="take the pictures of the README alone, into docs/")
    options = parser.parse_args()
    executable = find_chromium()
    if executable is None:
        print("no Chromium on the PATH", file=sys.stderr)
        return 1
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(CHROMIUM_FLAGS))
        if options.readme:
            take_readme_pictures(browser, README_FOLDER)
            return 0
        options.folder.mkdir(parents=True, exist_ok=True)
        for state in STATES:
            if not options.names or state.name in options.names:
                for width in HEIGHTS:
                    for theme in THEMES:
                        take(browser, state, width, theme, options.folder)
                print(state.name, flush=True)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
