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


def test_a_page_at_rest_draws_nothing(open_tab: Callable[[], Chat]) -> None:
    chat = open_tab()
    chat.page.add_init_script("""
        const nextFrame = window.requestAnimationFrame.bind(window);
        window.drawn = 0;
        window.requestAnimationFrame = (draw) => nextFrame((time) => (window.drawn++, draw(time)));
    """)
    chat.open()
    # Whatever draws at every frame has drawn since the last look, a second ago.
    chat.page.wait_for_function(
        "() => { const before = window.seen; window.seen = window.drawn; return before === window.drawn; }",
        polling=1_000,
    )


JOIN = """const seen = [];
    const stream = new AbortController();
    const read = async (address) => {
        const answer = await fetch(address + "#/queue/data?", {signal: stream.signal});
        for (const reader = answer.body.getReader(); !(await reader.read()).done; ) seen.push("words");
        seen.push("ended");
    };
    const join = () => fetch("gradio_api/queue/join?next", {method: "POST"}).then(() => seen.push("taken"));
"""
"""Reads a stream of events, and sends an event that the server takes at once."""


def test_an_event_is_known_to_be_taken_once_the_stream_before_it_has_ended(chat: Chat) -> None:
    chat.page.route("**/kept", lambda route: None)
    chat.page.route("**/queue/join?next", lambda route: route.fulfill(body="{}"))
    order = chat.page.evaluate(
        f"""async () => {{ {JOIN}
            const reading = read("kept");
            const first = join();
            setTimeout(() => seen.push("closed") && stream.abort(), 20);
            await Promise.all([reading, first]);
            await join();
            return seen;
        }}"""
    )
    assert (order[0], sorted(order)) == ("closed", ["closed", "ended", "taken", "taken"])


def test_a_stream_that_gradio_closes_ends_as_if_all_were_read(chat: Chat) -> None:
    chat.say("slow: begin and wait")
    expect(chat.page.locator("#chat")).to_contain_text("It begins")
    seen = chat.page.evaluate(
        f"""async () => {{ {JOIN}
            const reading = read(`patches?session_hash=${{window.palimpsest.transcript.tab()}}&version=0`);
            while (!seen.length) await new Promise((resolve) => setTimeout(resolve, 10));
            stream.abort();
            await reading;
            return seen;
        }}"""
    )
    assert (set(seen[:-1]), seen[-1]) == ({"words"}, "ended")
