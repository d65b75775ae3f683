"""Who answers is chosen under the message field, for each conversation, by keyboard and by thumb."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, expect

from assistant.assembly.assistant import Assistant, open_assistant
from assistant.config.profiles import Profile, Profiles
from assistant.config.settings import load_settings
from assistant.models.chat_model import connect_or_stand_in
from assistant.storage.profile_file import keep_profiles
from assistant.ui.page import PageServer
from tests.browser.conftest import WAIT_MILLISECONDS, Chat, Serve, leaves_the_page
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import ChatRequest, Reply

pytestmark = pytest.mark.browser

TOUCH_PIXELS = 44


def named(request: ChatRequest) -> Reply:
    """An answer that says who gives it."""
    return Reply(text=f"I am {request.model}.")


@pytest.fixture
def main() -> Generator[StrictProvider]:
    """What answers by the settings."""
    with StrictProvider(named, models=("main-9b",), window_tokens=64_000) as provider:
        yield provider


@pytest.fixture
def other() -> Generator[StrictProvider]:
    """What answers by the profile."""
    with StrictProvider(named, models=("other-9b",), window_tokens=32_000) as provider:
        yield provider


@pytest.fixture
def server(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, main: StrictProvider, other: StrictProvider
) -> PageServer:
    """The page of a home with one profile beside the settings' own."""
    for name in ("PROVIDER", "BASE_URL", "MODEL", "API_KEY", "MAX_INPUT_LENGTH"):
        monkeypatch.delenv(f"PALIMPSEST_{name}", raising=False)
    home = tmp_path / "home"
    home.mkdir()
    lines = ("PROVIDER=openai", f"BASE_URL={main.base_url}", "MODEL=main-9b", "EMBEDDER=none", "MEMORY=off")
    (home / ".env").write_text("".join(f"PALIMPSEST_{line}\n" for line in lines), "utf-8")
    profile = Profile(name="在家里 <b>", provider="openai", base_url=other.base_url, model="other-9b")
    keep_profiles(home / "profiles.json", Profiles((profile,)))

    @asynccontextmanager
    async def open_one() -> AsyncGenerator[Assistant]:
        async with open_assistant(load_settings(home), connect=connect_or_stand_in) as assistant:
            assistant.own_settings.places = ()
            yield assistant

    return serve(lambda *_: open_one(), home)


def picker_of(chat: Chat) -> Locator:
    return chat.page.locator("#who-answers summary")


def say_and_hear(chat: Chat, text: str, answer: str) -> None:
    chat.say(text)
    expect(chat.page.locator("#chat .m-column")).to_contain_text(answer)
    chat.wait_for_end()


@leaves_the_page
def test_the_choice_holds_for_its_conversation_and_is_made_by_keyboard(
    context: BrowserContext, server: PageServer
) -> None:
    chat = Chat(context.new_page(), server.url)
    chat.open()
    expect(picker_of(chat)).to_contain_text("main-9b")
    say_and_hear(chat, "Who are you?", "I am main-9b.")
    picker_of(chat).focus()
    chat.page.keyboard.press("Enter")
    rows = chat.page.locator("#who-answers .p-pick")
    expect(rows.first).to_be_visible()
    chat.page.keyboard.press("ArrowDown")
    chat.page.keyboard.press("ArrowDown")
    expect(rows.nth(1)).to_be_focused()
    chat.page.keyboard.press("Escape")
    expect(rows.first).to_be_hidden()
    expect(picker_of(chat)).to_be_focused()
    chat.page.keyboard.press("Enter")
    chat.page.keyboard.press("ArrowDown")
    chat.page.keyboard.press("ArrowDown")
    chat.page.keyboard.press("Enter")
    expect(picker_of(chat)).to_contain_text("在家里 <b>")
    expect(chat.page.locator("#chat .m-column")).to_contain_text("32,000 tokens in place of 64,000")
    say_and_hear(chat, "And now?", "I am other-9b.")
    chat.page.reload()
    chat.page.locator("html.p-settled").wait_for()
    expect(picker_of(chat)).to_contain_text("在家里 <b>")
    say_and_hear(chat, "Still?", "Still?")
    expect(chat.page.locator("#chat .m-column").get_by_text("I am other-9b.")).to_have_count(2)
    chat.start_new()
    expect(picker_of(chat)).to_contain_text("main-9b")


def test_a_new_conversation_begins_with_what_was_chosen_by_thumb(browser: Browser, server: PageServer) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    context.set_default_timeout(WAIT_MILLISECONDS)
    expect.set_options(timeout=WAIT_MILLISECONDS)
    chat = Chat(context.new_page(), server.url)
    chat.open()
    picker_of(chat).tap()
    row = chat.page.locator("#who-answers .p-pick", has_text="other-9b")
    expect(row).to_be_visible()
    boxes = [picker_of(chat).bounding_box(), row.bounding_box()]
    assert [box is not None and box["height"] >= TOUCH_PIXELS for box in boxes] == [True, True]
    row.tap()
    expect(picker_of(chat)).to_contain_text("在家里 <b>")
    say_and_hear(chat, "Who are you?", "I am other-9b.")
    context.close()
