"""The first run: from an empty home to an answer, by clicks alone."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from pathlib import Path

import pytest
from dotenv import dotenv_values
from playwright.sync_api import BrowserContext, Page, expect

from assistant.ui.page import PageServer
from tests.browser.behind import opened_first
from tests.browser.conftest import Serve, leaves_the_page
from tests.browser.looks import WIDTHS, faults_at_rest
from tests.fakes.players import RuleBasedPlayer
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import ChatRequest, Reply
from tests.models.small_model import installed_small_model

pytestmark = pytest.mark.browser

KEY = "sk-first-run-77"


def answer(request: ChatRequest) -> Reply:
    """The test of the connection as asked; to a person that it is there."""
    return RuleBasedPlayer()(request) if "connection_check" in request.tools else Reply(text="I am the new model.")


@pytest.fixture
def provider() -> Generator[StrictProvider]:
    """A model server of this machine that asks for no key."""
    with StrictProvider(answer, models=("small-7b", "large-70b")) as running:
        yield running


@pytest.fixture
def guarded() -> Generator[StrictProvider]:
    """A server that asks for a key."""
    with StrictProvider(answer, api_key=KEY) as running:
        yield running


@pytest.fixture
def home(new_home: Path) -> Path:
    """The home behind the page."""
    return new_home


@pytest.fixture
def server(serve: Serve, home: Path, provider: StrictProvider) -> PageServer:
    """The page of that home, on a machine where one server runs."""
    return serve(partial(opened_first, home, provider.port), home)


@pytest.fixture
def page(context: BrowserContext, server: PageServer) -> Page:
    """The page as it is opened for the first time."""
    page = context.new_page()
    page.goto(server.url)
    page.locator(".p-first").wait_for()
    return page


def test_the_first_answer_is_four_clicks_away(page: Page, home: Path, provider: StrictProvider) -> None:
    page.get_by_text("large-70b").click()
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#top .p-chip")).to_have_text("large-70b")
    page.locator("#chat .p-suggestion", has_text="What do you know about me?").click()
    expect(page.locator("#composer textarea")).to_have_value("What do you know about me?")
    page.get_by_role("button", name="Send message").click()
    expect(page.locator("#chat")).to_contain_text("I am the new model.")
    assert {str(entry.body["model"]) for entry in provider.log} == {"large-70b"}
    kept = dotenv_values(home / ".env")
    assert kept["PALIMPSEST_BASE_URL"] == provider.base_url
    assert kept["PALIMPSEST_MODEL"] == "large-70b"
    assert kept["PALIMPSEST_TOOLS"] == "ask"


@pytest.mark.timeout(400)
def test_a_model_in_a_file_answers_without_a_server(
    serve: Serve, context: BrowserContext, home: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home.parent / "models" / "Small.gguf"
    path.parent.mkdir()
    path.symlink_to(installed_small_model())
    monkeypatch.setenv("PALIMPSEST_TOOLS", "off")
    monkeypatch.setenv("PALIMPSEST_MAX_REPLY_TOKENS", "100")
    page: Page = request.getfixturevalue("page")
    page.get_by_text("A file on this machine").click()
    begin, small = page.get_by_role("button", name="Begin"), page.locator("#top .p-chip", has_text="Small")
    begin.click()
    expect(small.or_(page.locator("#chat .p-failed")).first).to_be_visible(timeout=150_000)
    if not small.is_visible():
        # So small a model may say nothing at all when it is tried.
        begin.click()
    expect(small).to_be_visible(timeout=100_000)
    kept = dotenv_values(home / ".env")
    assert (kept["PALIMPSEST_PROVIDER"], kept["PALIMPSEST_MODEL_FILE"]) == ("local", str(path))
    page.locator("#composer textarea").fill("Say yes.")
    page.locator("#composer textarea").press("Enter")
    # So small a model does not always find an end.
    page.locator("#chat .p-foot, #chat :text('What came is kept')").last.wait_for(timeout=60_000)


@leaves_the_page
def test_a_key_is_pasted_tried_kept_and_never_shown_again(page: Page, home: Path, guarded: StrictProvider) -> None:
    page.get_by_text("A server of my own").click()
    page.get_by_label("Address").fill(guarded.base_url)
    key = page.locator("[name=server-key]")
    key.fill("sk-wrong")
    page.get_by_text("Only read files").click()
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#chat .p-failed")).to_contain_text("refused the key")
    assert not (home / ".env").exists()
    assert page.get_by_label("Address").input_value() == guarded.base_url
    key.fill(KEY)
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#top .p-chip")).to_have_text("strict-7b")
    assert (home / ".env").stat().st_mode & 0o077 == 0
    assert dotenv_values(home / ".env")["PALIMPSEST_API_KEY"] == KEY
    page.reload()
    page.locator("#chat .p-welcome").wait_for()
    assert KEY not in page.content()
    shown = page.evaluate("[...document.querySelectorAll('input, textarea')].map(field => field.value).join()")
    assert KEY not in shown


def test_none_for_now_and_another_language_is_a_choice_too(page: Page, home: Path) -> None:
    page.get_by_text("No language model for now").click()
    page.get_by_text("中文").click()
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#chat .p-setup")).to_be_visible()
    assert dotenv_values(home / ".env")["PALIMPSEST_LANGUAGE"] == "zh"


def test_the_sample_is_one_click_away_and_the_choices_come_back(page: Page) -> None:
    page.get_by_role("button", name="Show me a sample conversation").click()
    expect(page.locator("#chat .m-person").first).to_be_visible()
    page.locator("#new-chat").click()
    expect(page.locator(".p-first")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_choices_can_be_read_and_pressed_everywhere(page: Page, server: PageServer, theme: str) -> None:
    page.goto(f"{server.url}?__theme={theme}")
    page.locator(".p-first").wait_for()
    seen: dict[str, object] = {}
    for choice in ("A provider, with a key of mine", "A server of my own"):
        page.get_by_text(choice).click()
        for width, height in WIDTHS:
            page.set_viewport_size({"width": width, "height": height})
            page.mouse.move(width / 2, 2)
            seen[f"{choice} {width}"] = faults_at_rest(page)
    assert {name: found for name, found in seen.items() if found} == {}
