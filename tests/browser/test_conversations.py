"""The list of conversations, its trash, and the search box by keyboard, in the browser."""

from __future__ import annotations

import re
from collections.abc import Generator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.behind import Behind
from tests.browser.conftest import Chat

pytestmark = pytest.mark.browser


def row_of(chat: Chat, title: str) -> Locator:
    """The line of a conversation, with its menu open."""
    row = chat.page.locator("#sessions li", has_text=title)
    row.hover()
    row.locator(".p-more").click()
    return row


def find(chat: Chat, words: str) -> Locator:
    """The search box with these words, by keyboard alone."""
    chat.page.keyboard.press("Control+k")
    box = chat.page.locator("#search :is(input, textarea)")
    expect(box).to_be_focused()
    chat.page.keyboard.type(words)
    return box


def test_a_conversation_is_renamed_in_its_line(chat: Chat, behind: Behind) -> None:
    behind.write_past("bern", "Bern", 2)
    chat.open("c=bern")
    row_of(chat, "Bern")
    field = chat.page.get_by_label("Title of this conversation")
    expect(field).to_be_focused()
    field.fill("Weekend <b>in</b> Bern")
    field.press("Enter")
    expect(chat.page.locator("#top h1")).to_have_text("Weekend <b>in</b> Bern")
    row_of(chat, "Weekend")
    chat.page.keyboard.press("Escape")
    expect(field).to_have_count(0)


def test_what_goes_to_the_trash_comes_back_by_undo_or_from_there(chat: Chat, behind: Behind) -> None:
    behind.write_past("oslo", "Oslo fjord", 2)
    chat.open("c=oslo")
    for _ in range(2):
        row_of(chat, "Oslo fjord").get_by_role("button", name="Move to trash").click()
        expect(chat.page.locator("#sessions li", has_text="Oslo fjord")).to_have_count(0)
        expect(chat.page.locator(".p-welcome")).to_be_visible()
        toast = chat.page.locator("#toast .p-toast")
        expect(toast).to_contain_text("“Oslo fjord” is in the trash.")
        toast.get_by_role("button", name="Undo").click()
        expect(chat.page.locator("#top h1")).to_have_text("Oslo fjord")
        expect(toast).to_have_count(0)
    row_of(chat, "Oslo fjord").get_by_role("button", name="Move to trash").click()
    expect(chat.page.locator("#sessions li", has_text="Oslo fjord")).to_have_count(0)
    chat.page.locator("#sessions").get_by_role("button", name="Trash (").click()
    pane = chat.page.get_by_role("dialog", name="Trash")
    pane.locator("li", has_text="Oslo fjord").get_by_role("button", name="Restore").click()
    expect(chat.page.locator("#top h1")).to_have_text("Oslo fjord")
    expect(pane).to_have_count(0)


def test_the_trash_is_emptied_after_a_question_with_the_number(chat: Chat, behind: Behind) -> None:
    for name in ("one", "two"):
        behind.write_past(name, f"Old {name}", 1)
        behind.store.sessions.trash(name)
    chat.open()
    chat.page.locator("#sessions").get_by_role("button", name="Trash (2)").click()
    pane = chat.page.get_by_role("dialog", name="Trash")
    pane.get_by_role("button", name="Empty trash").click()
    expect(pane).to_contain_text("Delete 2 conversations for good? Every word leaves the journal and search")
    pane.get_by_role("button", name="Delete for good").click()
    expect(pane).to_have_count(0)
    assert behind.store.sessions.trashed() == []


def test_enter_opens_the_first_hit_also_before_it_is_there(chat: Chat, behind: Behind) -> None:
    behind.index_words()
    find(chat, "kingfishers")
    chat.page.keyboard.press("Enter")
    expect(chat.page.locator("#chat .m-found")).to_contain_text("Question 7 about the kingfishers")
    expect(chat.page.locator("#chat .m-found")).to_be_in_viewport()


def test_arrows_choose_a_hit_and_escape_ends_the_search(chat: Chat, behind: Behind) -> None:
    for day, number in (("2026-11-23", "one"), ("2026-11-24", "two")):
        (behind.home / "memory" / f"{day}.md").write_text(f"# {day}\n\n- Catamaran {number}\n", "utf-8")
    behind.index_words()
    box = find(chat, "Catamaran")
    expect(chat.page.locator(".p-hit")).to_have_count(2)
    chat.page.keyboard.press("ArrowDown")
    chat.page.keyboard.press("ArrowDown")
    expect(chat.page.locator(".p-hit").nth(1)).to_be_focused()
    second = "Catamaran one" if "Catamaran one" in chat.page.locator(".p-hit").nth(1).inner_text() else "Catamaran two"
    chat.page.keyboard.press("Enter")
    chat.page.wait_for_function("words => document.getSelection().toString().includes(words)", arg=second)
    box.focus()
    box.press("Escape")
    expect(box).to_have_value("")
    expect(chat.page.locator(".p-hit")).to_have_count(0)


def test_a_recalled_line_opens_its_file_at_the_line(chat: Chat, recall: None) -> None:
    chat.say("Which hotels in Alfama?")
    chat.wait_for_end()
    row = chat.page.locator("#chat .p-row-recalled").last
    row.locator("summary").click()
    row.get_by_role("button", name="memory/2026-11-29.md:3").click()
    expect(chat.page.locator("#file-head h2")).to_have_text("memory/2026-11-29.md")
    chat.page.wait_for_function("document.getSelection().toString().includes('three hotels')")


def test_the_page_tells_its_time_zone_with_what_is_said(chat: Chat, behind: Behind) -> None:
    chat.page.context.add_cookies([{"name": "palimpsest_zone", "value": "Asia/Tokyo", "url": chat.address}])
    chat.say("Hello")
    chat.wait_for_end()
    assert str(behind.assistant.store.clock.now().tzinfo) == "Asia/Tokyo"
    assert chat.page.evaluate("document.cookie").startswith("palimpsest_zone=")


def test_back_and_forward_go_through_the_conversations(chat: Chat, behind: Behind) -> None:
    behind.write_past("rome", "Rome by train", 1)
    behind.write_past("faro", "Faro by bus", 1)
    chat.open("c=rome")
    title = chat.page.locator("#top h1")
    expect(title).to_have_text("Rome by train")
    chat.open_session("Faro by bus")
    expect(title).to_have_text("Faro by bus")
    expect(chat.page).to_have_url(re.compile("c=faro"))
    chat.page.go_back()
    expect(title).to_have_text("Rome by train")
    expect(chat.page).to_have_url(re.compile("c=rome"))
    chat.page.go_forward()
    expect(title).to_have_text("Faro by bus")


def test_what_the_page_was_sent_and_did_not_get_is_sent_again(chat: Chat, behind: Behind) -> None:
    behind.write_past("ghent", "Ghent by canal", 1)
    chat.open()
    row = chat.page.locator("#sessions .p-session", has_text="Ghent by canal")
    expect(row).to_be_visible()
    # A connection that ends at once, as a proxy or a sleeping laptop ends it.
    ended = 'data: {"msg":"close_stream"}\n\n'
    chat.page.route(
        "**/gradio_api/queue/data?*", lambda route: route.fulfill(content_type="text/event-stream", body=ended), times=1
    )
    row.click()
    expect(chat.page.locator("#top h1")).to_have_text("Ghent by canal")
    expect(chat.page.locator("#chat .m-person")).to_have_count(1)
    expect(chat.page).to_have_url(re.compile("c=ghent"))
    chat.say("And by road?")
    expect(chat.page.locator("#chat")).to_contain_text("You said: And by road?")


def test_what_is_typed_into_a_title_goes_on_when_the_list_is_drawn_again(chat: Chat, behind: Behind) -> None:
    behind.write_past("lille", "Lille", 1)
    chat.open("c=lille")
    row_of(chat, "Lille")
    field = chat.page.get_by_label("Title of this conversation")
    chat.page.keyboard.type("Two days")
    field.evaluate("field => field.setSelectionRange(3, 3)")
    chat.page.keyboard.type(" or three")
    # As Gradio does with a list that the server drew.
    chat.page.evaluate(
        """() => {
            const list = document.querySelector("#sessions .p-sessions");
            list.querySelector(".p-session-edit").remove();
            list.outerHTML = list.outerHTML;
        }"""
    )
    expect(field).to_be_focused()
    chat.page.keyboard.type(" good")
    expect(field).to_have_value("Two or three good days")
    chat.page.keyboard.press("Enter")
    expect(chat.page.locator("#top h1")).to_have_text("Two or three good days")


def test_an_address_without_a_conversation_says_so(chat: Chat) -> None:
    chat.open("c=nowhere")
    expect(chat.page.get_by_text("No conversation is at this address")).to_be_visible()
    expect(chat.page).not_to_have_url(re.compile("nowhere"))


def test_the_link_of_a_conversation_is_copied(chat: Chat, behind: Behind) -> None:
    chat.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    behind.write_past("turin", "Turin", 1)
    chat.open("c=turin")
    row_of(chat, "Turin").get_by_role("button", name="Copy link").click()
    assert chat.page.evaluate("navigator.clipboard.readText()") == f"{chat.address}?c=turin"


def test_a_pinned_conversation_stands_above_the_days_until_it_is_unpinned(chat: Chat, behind: Behind) -> None:
    behind.write_past("pisa", "Pisa", 1)
    behind.write_past("siena", "Siena", 1)
    chat.open("c=siena")
    first_heading = chat.page.locator("#sessions .p-heading").first
    row_of(chat, "Pisa").get_by_role("button", name="Pin to top").click()
    expect(first_heading).to_have_text("Pinned")
    expect(titles(chat).first).to_have_text("Pisa")
    chat.open("c=siena")
    expect(titles(chat).first).to_have_text("Pisa")
    row_of(chat, "Pisa").get_by_role("button", name="Unpin").click()
    expect(first_heading).not_to_have_text("Pinned")


def test_a_conversation_is_exported_from_its_menu_and_comes_in_by_a_drop(chat: Chat, behind: Behind) -> None:
    behind.write_past("graz", "Graz", 1)
    chat.open("c=graz")
    with chat.page.expect_download() as saved:
        row_of(chat, "Graz").get_by_role("button", name="Export as Markdown").click()
    assert saved.value.suggested_filename == "Graz.md"
    text = saved.value.path().read_text("utf-8")
    drop(chat, text)
    says = chat.page.locator(".p-list-says")
    expect(says).to_have_text("Graz.md: this conversation is here already, so nothing was changed.")
    expect(says).to_be_visible()
    drop(chat, text.replace('"graz"', '"linz"').replace("Graz", "Linz"))
    expect(chat.page.locator("#top h1")).to_have_text("Linz")
    expect(says).to_have_text("Graz.md: imported.")
    drop(chat, "# Notes of mine")
    expect(says).to_contain_text("This is no conversation that Palimpsest exported.")


def drop(chat: Chat, text: str) -> None:
    """Drop a file with these words on the list of conversations."""
    chat.page.evaluate(
        """text => {
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([text], 'Graz.md'));
            const event = new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true });
            document.querySelector('#sessions').dispatchEvent(event);
        }""",
        text,
    )


def titles(chat: Chat) -> Locator:
    """The titles in the list."""
    return chat.page.locator("#sessions .p-session-title")


@pytest.fixture
def long_list(chat: Chat, behind: Behind) -> Generator[None]:
    """The page of a home with conversations of ten years."""
    with behind.many("Diary", 260):
        chat.open()
        yield


@pytest.mark.usefixtures("long_list")
def test_older_conversations_are_listed_on_demand_and_the_keyboard_goes_on_behind_them(chat: Chat) -> None:
    before = titles(chat).all_inner_texts()
    assert len(before) == 50
    chat.page.get_by_role("button", name=re.compile(r"^Older \(")).click()
    expect(titles(chat)).to_have_count(100)
    expect(chat.page.locator("#sessions .p-session:focus .p-session-title")).to_have_text(before[-1])
    assert titles(chat).all_inner_texts()[:50] == before


@pytest.mark.usefixtures("long_list")
def test_a_jump_goes_to_a_month_and_back_to_the_newest(chat: Chat) -> None:
    titles(chat).last.scroll_into_view_if_needed()
    chat.page.get_by_label("Jump to a month").select_option("2019-03")
    headings = chat.page.locator("#sessions .p-heading")
    expect(headings.nth(1)).to_have_text("March 2019")
    expect(headings.nth(1)).to_be_in_viewport()
    # The open one stands over them.
    expect(titles(chat)).to_have_count(51)
    chat.page.get_by_role("button", name="The newest").click()
    expect(chat.page.locator("#sessions .p-heading", has_text="March 2019")).to_have_count(0)
    expect(chat.page.get_by_role("button", name="The newest")).to_have_count(0)


@pytest.mark.usefixtures("long_list")
def test_the_filter_finds_in_all_titles_and_stays_while_a_conversation_is_opened(chat: Chat) -> None:
    box = chat.page.get_by_label("Filter by title")
    box.press_sequentially("diary 259")
    expect(titles(chat)).to_have_text(["Diary 259"])
    expect(box).to_be_focused()
    titles(chat).click()
    expect(chat.page.locator("#top h1")).to_have_text("Diary 259")
    expect(titles(chat)).to_have_text(["Diary 259"])
    box.fill("nowhere at all")
    expect(chat.page.locator("#sessions")).to_contain_text("No title has these words")
    box.fill("")
    expect(chat.page.locator("#sessions .p-heading").first).to_have_text("Open now")
