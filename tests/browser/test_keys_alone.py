"""By keys alone from an empty home to a saved and a forgotten line: the focus is always seen, and never lost."""

from __future__ import annotations

import re
from collections.abc import Generator
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from assistant.ui.page import PageServer
from tests.browser.behind import opened_first
from tests.browser.conftest import Chat, Serve
from tests.fakes.page_player import PagePlayer
from tests.fakes.provider import StrictProvider

pytestmark = pytest.mark.browser

MOST_STEPS = 40
# In a field the caret is seen; of a choice its label is marked, of the editor its frame.
UNSEEN_FOCUS = """() => {
    const one = document.activeElement;
    const isField = one.matches("textarea, input:not([type=radio], [type=checkbox]), .cm-content");
    const marked = [one, one.closest("label")].filter(Boolean);
    const isSeen = isField || marked.some(e => getComputedStyle(e).outlineStyle !== "none");
    return isSeen && one !== document.body ? "" : one.outerHTML.slice(0, 200);
}"""


@pytest.fixture
def provider() -> Generator[StrictProvider]:
    """A model server of this machine."""
    with StrictProvider(PagePlayer(), models=("small-7b", "large-70b"), window_tokens=64_000) as running:
        yield running


@pytest.fixture
def server(serve: Serve, new_home: Path, provider: StrictProvider) -> PageServer:
    """The page of an empty home."""
    return serve(partial(opened_first, new_home, provider.port), new_home)


def go(page: Page, target: Locator, key: str = "Tab") -> None:
    """Press a key until a target has the focus; whatever has it on the way is seen to have it."""
    for _ in range(MOST_STEPS):
        if target.evaluate("one => one === document.activeElement"):
            return
        page.keyboard.press(key)
        assert page.evaluate(UNSEEN_FOCUS) == ""
    pytest.fail(f"{key} does not lead to {target}")


def test_keys_alone_lead_from_the_first_run_to_a_forgotten_line(
    context: BrowserContext, server: PageServer, new_home: Path
) -> None:
    chat = Chat(context.new_page(), server.url)
    page, keys, composer = chat.page, chat.page.keyboard, chat.page.locator("#composer textarea")
    page.goto(server.url)
    page.locator(".p-first").wait_for()
    expect(composer).to_be_focused()

    # The first run.
    go(page, page.get_by_role("radio", name="small-7b"), "Shift+Tab")
    keys.press("ArrowDown")
    expect(page.get_by_role("radio", name="large-70b")).to_be_checked()
    go(page, page.get_by_role("button", name="Begin"))
    keys.press("Enter")
    expect(page.locator("#top .p-chip")).to_have_text("large-70b")
    expect(composer).to_be_focused()

    # A conversation, and an approval.
    keys.type("approve it")
    keys.press("Enter")
    card = page.get_by_role("group", name=re.compile("Needs your approval"))
    go(page, card.get_by_role("button", name="Allow once"), "Shift+Tab")
    keys.press("y")
    expect(page.locator("#chat")).to_contain_text("Done: the build folder is gone.")
    expect(composer).to_be_focused()
    chat.wait_for_end()

    # A line of memory.
    go(page, page.get_by_role("button", name="Show memory, context and model"), "Shift+Tab")
    keys.press("Enter")
    expect(page.locator("#close-right button")).to_be_focused()
    user = page.locator("#files .p-file", has_text="USER.md")
    go(page, user)
    keys.press("Enter")
    expect(page.locator("#file-head h2")).to_have_text("USER.md")
    expect(user).to_be_focused()
    editor = page.locator("#editor .cm-content")
    go(page, editor)
    keys.press("Control+End")
    keys.type("\n- Collects fountain pens")
    expect(page.locator("#file-head")).to_contain_text("not saved")
    keys.press("Control+s")
    expect(page.locator("#file-head .p-file-state")).to_have_text("saved")
    assert "- Collects fountain pens\n" in (new_home / "USER.md").read_text("utf-8")

    # It is forgotten again.
    go(page, page.locator("#file-head").get_by_role("button", name="Forget"), "Shift+Tab")
    keys.press("Enter")
    task = page.locator("#memory-work")
    expect(task.get_by_label("What is to be forgotten")).to_be_focused()
    keys.type("fountain pens")
    keys.press("Enter")
    tick = task.get_by_role("checkbox").first
    go(page, tick)
    keys.press("Space")
    keys.press("Space")
    expect(tick).to_be_checked()
    go(page, task.get_by_role("button", name="Forget what is ticked"))
    keys.press("Enter")
    expect(task).to_contain_text("Forgotten")
    assert "fountain pens" not in (new_home / "USER.md").read_text("utf-8")
    go(page, task.get_by_role("button", name="Close"))
    keys.press("Enter")
    expect(page.get_by_role("tab", name="Memory")).to_be_focused()

    # The sheet of keys, and back to where it was opened.
    keys.press("?")
    expect(page.get_by_role("dialog", name="Keys").get_by_role("button", name="Close")).to_be_focused()
    keys.press("Escape")
    expect(page.get_by_role("tab", name="Memory")).to_be_focused()
