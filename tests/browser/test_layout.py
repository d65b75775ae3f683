"""Nothing lies over words, and what a person needs first is in view on a small screen."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from assistant.config.settings import Settings
from assistant.ui.page import PageServer
from assistant.ui.people import open_guest
from tests.browser.conftest import Chat, Serve

pytestmark = pytest.mark.browser

SIZES = [(1280, 800), (390, 844)]


@pytest.fixture(scope="module")
def offline(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> PageServer:
    """A guest's page, behind which no language model answers: the welcome is at its longest."""
    home = tmp_path_factory.mktemp("offline") / "home"
    settings = Settings(home=home, provider="offline", embedder="none", memory_store_backend="local")
    return serve(lambda *_: open_guest(settings), home)


def bottom(locator: Locator) -> float:
    """Where an element ends, in pixels from the top of the screen."""
    box = locator.bounding_box()
    assert box is not None
    return box["y"] + box["height"]


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_every_button_of_the_welcome_is_in_view(
    context: BrowserContext, offline: PageServer, width: int, height: int
) -> None:
    chat = Chat(context.new_page(), offline.url)
    chat.page.set_viewport_size({"width": width, "height": height})
    chat.open()
    if width < 500:
        chat.page.get_by_role("button", name="Show conversations").click()
    chat.start_new()
    names = ["Show me a sample conversation", "Remember that I prefer short answers.", "Look again", "Test connection"]
    buttons = [chat.page.locator("#chat").get_by_role("button", name=name) for name in names]
    expect(buttons[0]).to_be_in_viewport()
    top = chat.page.locator("#compose").bounding_box()
    assert top is not None
    assert [bottom(button) < top["y"] for button in buttons] == [True] * len(names)
    chat.page.get_by_text("How to connect a language model").click()
    expect(chat.page.locator("#chat")).to_contain_text("DASHSCOPE_API_KEY")


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_arrow_to_the_newest_words_lies_on_none(open_tab: Callable[[], Chat], width: int, height: int) -> None:
    chat = open_tab()
    chat.page.set_viewport_size({"width": width, "height": height})
    chat.open("c=lisbon")
    arrow = chat.page.get_by_role("button", name="To the newest words")
    expect(arrow).to_have_count(0)
    chat.page.locator("#chat .m-scroller").hover()
    chat.page.mouse.wheel(0, -400)
    box = arrow.bounding_box()
    assert box is not None
    assert bottom(chat.page.locator("#chat .m-scroller")) <= box["y"] + 1
    assert box["y"] + box["height"] <= chat.page.locator("#compose").bounding_box()["y"] + 1  # type: ignore[index]
    assert chat.page.evaluate("document.scrollingElement.scrollHeight") == height
    arrow.click()
    expect(arrow).to_have_count(0)


def test_a_page_at_rest_draws_nothing(context: BrowserContext, open_tab: Callable[[], Chat]) -> None:
    context.add_init_script("""
        const nextFrame = window.requestAnimationFrame.bind(window);
        window.drawn = 0;
        window.requestAnimationFrame = (draw) => nextFrame((time) => (window.drawn++, draw(time)));
    """)
    open_tab().open()
    # Whatever draws at every frame has drawn since the last look, a second ago.
    context.pages[0].wait_for_function(
        "() => { const before = window.seen; window.seen = window.drawn; return before === window.drawn; }",
        polling=1_000,
    )
