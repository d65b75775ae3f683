"""The settings over the page: kept in `.env`, in force at once, fixed where the environment sets them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from dotenv import dotenv_values
from playwright.sync_api import BrowserContext, Locator, Page, expect

from assistant.assembly.assistant import Assistant, open_assistant
from assistant.config.settings import load_settings
from assistant.models.chat_model import connect_or_stand_in
from assistant.models.detect import ServerPlace
from assistant.storage.profile_file import read_profiles
from assistant.ui.page import PageServer
from tests.browser.conftest import Chat, Serve, leaves_the_page
from tests.browser.looks import WIDTHS, faults_at_rest
from tests.fakes.players import RuleBasedPlayer
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import ChatRequest, Reply

pytestmark = pytest.mark.browser

KEY = "sk-settings-31"


def answer(request: ChatRequest) -> Reply:
    """The test of the connection as asked; to a person who it is."""
    is_test = "connection_check" in request.tools
    return RuleBasedPlayer()(request) if is_test else Reply(text=f"I am {request.model}.")


@pytest.fixture
def provider() -> Generator[StrictProvider]:
    """A model server of this machine."""
    with StrictProvider(answer, models=("small-7b", "large-70b")) as running:
        yield running


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: StrictProvider) -> Path:
    """A home in which a small model answers, in an environment that sets the time zone and no more."""
    for name in ("PALIMPSEST_PROVIDER", "PALIMPSEST_BASE_URL", "OPENAI_API_KEY", "DASHSCOPE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PALIMPSEST_TIMEZONE", "Europe/Lisbon")
    monkeypatch.setenv("MEMORY_STORE_BACKEND", "local")
    home = tmp_path / "home"
    home.mkdir()
    lines = ("PROVIDER=openai", f"BASE_URL={provider.base_url}", "MODEL=small-7b", "EMBEDDER=none")
    (home / ".env").write_text("# by hand\n" + "".join(f"PALIMPSEST_{line}\n" for line in lines), "utf-8")
    return home


@pytest.fixture
def server(serve: Serve, home: Path, provider: StrictProvider) -> PageServer:
    """The page of that home."""

    @asynccontextmanager
    async def open_one() -> AsyncGenerator[Assistant]:
        async with open_assistant(load_settings(home), connect=connect_or_stand_in) as assistant:
            assistant.own_settings.places = (ServerPlace("Ollama", provider.port),)
            yield assistant

    return serve(lambda *_: open_one(), home)


@pytest.fixture
def chat(context: BrowserContext, server: PageServer) -> Chat:
    """A tab of that page."""
    chat = Chat(context.new_page(), server.url)
    chat.open()
    return chat


def settings_of(page: Page, section: str = "Model") -> Locator:
    """The view, opened at a section."""
    view = page.get_by_role("dialog", name="Settings")
    if not view.is_visible():
        page.locator("#open-settings button").click()
    view.get_by_role("button", name=section, exact=True).click()
    expect(view.get_by_role("heading", name=section, exact=True, level=3)).to_be_visible()
    return view


def test_another_model_answers_from_the_next_message_on(chat: Chat, home: Path) -> None:
    chat.say("Who are you?")
    chat.wait_for_end()
    view = settings_of(chat.page)
    view.get_by_text("large-70b").click()
    view.get_by_role("button", name="Try and use").click()
    expect(view.get_by_role("status")).to_contain_text("large-70b answered")
    chat.page.keyboard.press("Escape")
    expect(view).to_have_count(0)
    expect(chat.page.locator("#top .p-chip")).to_have_text("large-70b")
    chat.say("And now?")
    expect(chat.page.locator("#chat")).to_contain_text("I am large-70b.")
    expect(chat.page.locator("#chat")).to_contain_text("I am small-7b.")
    assert (home / ".env").read_text("utf-8").startswith("# by hand\n")


def test_what_is_wrong_with_a_server_is_said_and_what_answers_goes_on(chat: Chat, home: Path) -> None:
    before = dotenv_values(home / ".env")
    with StrictProvider(answer, api_key=KEY) as guarded:
        view = settings_of(chat.page)
        view.get_by_text("A server of my own").click()
        view.get_by_label("Address").fill(guarded.base_url)
        view.locator("[name=server-key]").fill("sk-wrong")
        view.get_by_role("button", name="Try and use").click()
        expect(view.locator(".p-report-bad")).to_contain_text("refused the key")
        expect(view.get_by_label("Address")).to_have_value(guarded.base_url)
        assert dotenv_values(home / ".env") == before
        expect(chat.page.locator("#top .p-chip")).to_have_text("small-7b")
        view.locator("[name=server-key]").fill(KEY)
        view.get_by_role("button", name="Try and use").click()
        expect(view.locator(".p-report-ok")).to_contain_text("strict-7b answered")
        expect(view.locator("[name=server-key]")).to_have_value("")
    assert dotenv_values(home / ".env")["PALIMPSEST_API_KEY"] == KEY


def test_a_profile_is_made_tried_edited_and_removed(chat: Chat, home: Path) -> None:
    with StrictProvider(answer, api_key=KEY, models=("guarded-9b",)) as guarded:
        view = settings_of(chat.page)
        view.get_by_role("button", name="New profile").click()
        view.get_by_label("Name").fill("At work")
        view.get_by_text("A server of my own").click()
        view.get_by_label("Address").fill(guarded.base_url)
        view.locator("[name=server-key]").fill("sk-wrong")
        view.get_by_role("button", name="Try and keep").click()
        expect(view.locator(".p-report-bad")).to_contain_text("refused the key")
        expect(view.get_by_label("Name")).to_have_value("At work")
        view.locator("[name=server-key]").fill(KEY)
        view.get_by_role("button", name="Try and keep").click()
        expect(view.locator(".p-report-ok")).to_contain_text("guarded-9b answered")
        view.get_by_role("button", name="Edit: At work").click()
        expect(view.locator("[name=server-key]")).to_have_value("")
        view.get_by_label("Window in tokens").fill("8000")
        view.get_by_role("button", name="Try and keep").click()
        expect(view.locator(".p-report-ok")).to_contain_text("guarded-9b answered")
    view.get_by_role("button", name="Use in new conversations: At work").click()
    expect(view.locator(".p-profile", has_text="At work")).to_contain_text("in new conversations")
    (kept,) = read_profiles(home / "profiles.json")
    assert (kept.name, kept.max_input_length, dotenv_values(home / ".env")[kept.key]) == ("At work", 8_000, KEY)
    assert KEY not in chat.page.content()
    view.get_by_role("button", name="Remove: At work").click()
    view.get_by_role("button", name="Remove", exact=True).click()
    expect(view.locator(".p-report-ok")).to_contain_text("At work is removed")
    assert read_profiles(home / "profiles.json").names == ()
    assert KEY not in (home / ".env").read_text("utf-8")


def test_numbers_choices_and_what_they_do(chat: Chat, home: Path) -> None:
    view = settings_of(chat.page, "Window and compression")
    view.get_by_label("Window in tokens").fill("12000")
    view.get_by_label("Compress at").fill("50")
    view.get_by_role("button", name="Save").click()
    expect(view).to_contain_text("compressed at 6,000 of 12,000 tokens")
    view.get_by_label("Window in tokens").fill("12")
    view.get_by_role("button", name="Save").click()
    expect(view.locator(".p-report-bad")).to_contain_text("PALIMPSEST_MAX_INPUT_LENGTH")
    view = settings_of(chat.page, "Tools and permissions")
    view.get_by_role("combobox").select_option("read-only")
    view.get_by_role("button", name="Save").click()
    expect(view.get_by_role("status")).to_contain_text("It counts from now on")
    kept = dotenv_values(home / ".env")
    assert kept["PALIMPSEST_MAX_INPUT_LENGTH"] == "12000"
    assert kept["PALIMPSEST_MEMORY_COMPACT_RATIO"] == "0.5"
    assert kept["PALIMPSEST_TOOLS"] == "read-only"


def test_what_the_environment_sets_is_shown_and_cannot_be_changed(chat: Chat) -> None:
    view = settings_of(chat.page, "Appearance")
    zone = view.get_by_label("Time zone")
    expect(zone).to_have_value("Europe/Lisbon")
    expect(zone).to_be_disabled()
    expect(view).to_contain_text("PALIMPSEST_TIMEZONE")


@leaves_the_page
def test_theme_and_density_are_those_of_the_browser(chat: Chat) -> None:
    view = settings_of(chat.page, "Appearance")
    view.get_by_label("Theme").select_option("dark")
    expect(chat.page.locator("body.dark")).to_have_count(1)
    view.get_by_label("Density").select_option("compact")
    chat.page.reload()
    chat.page.locator("html.p-settled").wait_for()
    expect(chat.page.locator("body.dark")).to_have_count(1)
    expect(chat.page.locator("html[data-density=compact]")).to_have_count(1)


@leaves_the_page
def test_the_language_of_the_page_is_switched_without_a_restart(chat: Chat, home: Path) -> None:
    view = settings_of(chat.page, "Appearance")
    view.locator("[name=language]").select_option("zh")
    view.get_by_role("button", name="Save").click()
    expect(chat.page.locator("#new-chat")).to_have_text("新对话")
    chat.page.locator("html.p-settled").wait_for()
    expect(chat.page.locator("#composer textarea")).to_have_attribute("aria-label", "消息")
    expect(chat.page.locator("#chat")).to_contain_text("你知道我的哪些事")
    assert dotenv_values(home / ".env")["PALIMPSEST_LANGUAGE"] == "zh"
    chat.page.locator("#open-settings button").click()
    chat.page.get_by_role("dialog").get_by_role("button", name="外观").click()
    chat.page.locator("[name=language]").select_option("auto")
    chat.page.get_by_role("dialog").get_by_role("button", name="保存").click()
    expect(chat.page.locator("#new-chat")).to_have_text("New chat")


def test_where_everything_lies_and_how_large_it_is(chat: Chat, home: Path) -> None:
    view = settings_of(chat.page, "Data")
    expect(view).to_contain_text(str(home))
    expect(view).to_contain_text("MB")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_settings_can_be_read_and_pressed_everywhere(chat: Chat, theme: str) -> None:
    chat.open(f"__theme={theme}")
    seen: dict[str, object] = {}
    for section in ("Model", "Window and compression", "Memory", "Appearance", "Data"):
        settings_of(chat.page, section)
        for width, height in WIDTHS:
            chat.page.set_viewport_size({"width": width, "height": height})
            seen[f"{section} {width}"] = faults_at_rest(chat.page)
    assert {name: found for name, found in seen.items() if found} == {}
