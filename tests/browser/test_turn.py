"""A turn in the browser: sent, streamed, stopped, followed by others, gone on with."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Chat, leaves_the_page
from tests.fakes.page_player import PagePlayer

pytestmark = pytest.mark.browser


def test_a_message_is_answered_and_the_conversation_is_listed_and_named(chat: Chat) -> None:
    chat.say("Good morning")
    expect(chat.page.locator("#chat")).to_contain_text("You said: Good morning")
    chat.wait_for_end()
    expect(chat.page.locator("#composer textarea")).to_have_value("")
    expect(chat.page.locator("h1")).to_have_text("Good morning")
    expect(chat.page.locator("#sessions .p-selected")).to_contain_text("Good morning")
    assert re.search(r"c=[0-9a-f]{32}$", chat.page.url)
    expect(chat.page.locator("#meter")).to_contain_text("of 128k tokens")


def test_an_answer_streams_and_the_next_message_waits_for_it(chat: Chat, player: PagePlayer) -> None:
    chat.say("slow please")
    chat.page.get_by_text("It begins …").wait_for()
    chat.say("and then this")
    expect(chat.page.locator(".p-queued")).to_contain_text("and then this")
    expect(chat.page.locator("#composer textarea")).to_have_value("")
    player.gate.set()
    expect(chat.page.locator("#chat")).to_contain_text("and it ends.")
    expect(chat.page.locator("#chat")).to_contain_text("You said: and then this")
    expect(chat.page.locator(".p-queued")).to_have_count(0)


def test_what_is_being_written_is_left_alone_while_an_answer_streams(chat: Chat, player: PagePlayer) -> None:
    chat.say("slow please")
    chat.page.get_by_text("It begins …").wait_for()
    chat.page.locator("#composer textarea").fill("half a thought")
    chat.page.wait_for_timeout(500)
    player.gate.set()
    chat.wait_for_end()
    expect(chat.page.locator("#composer textarea")).to_have_value("half a thought")


@pytest.mark.parametrize("way", ["button", "escape"])
def test_stop_ends_the_turn_and_continue_goes_on(chat: Chat, way: str) -> None:
    chat.say("slow please")
    chat.page.get_by_text("It begins …").wait_for()
    if way == "button":
        chat.page.get_by_role("button", name="Stop the answer").click()
    else:
        chat.page.keyboard.press("Escape")
    expect(chat.page.locator(".p-stopped")).to_contain_text("Interrupted")
    expect(chat.page.locator("#stop button")).to_have_count(0)
    chat.page.get_by_role("button", name="Continue").click()
    expect(chat.page.locator("#chat")).to_contain_text("Going on where it was cut.")
    expect(chat.page.locator(".p-stopped")).to_have_count(0)


@leaves_the_page
def test_a_reload_in_the_middle_shows_the_turn_and_its_end(chat: Chat, player: PagePlayer) -> None:
    chat.say("slow please")
    chat.page.get_by_text("It begins …").wait_for()
    chat.page.reload()
    chat.page.get_by_text("It begins …").wait_for()
    expect(chat.page.get_by_role("button", name="Stop the answer")).to_be_visible()
    player.gate.set()
    expect(chat.page.locator("#chat")).to_contain_text("and it ends.")
    chat.wait_for_end()


def test_a_closed_tab_ends_nothing(chat: Chat, open_tab: Callable[[], Chat], player: PagePlayer) -> None:
    chat.say("slow please")
    chat.page.get_by_text("It begins …").wait_for()
    query = chat.page.url.partition("?")[2]
    chat.page.close()
    player.gate.set()
    other = open_tab()
    other.open(query)
    expect(other.page.locator("#chat")).to_contain_text("and it ends.")


def test_a_second_tab_sees_what_the_first_one_asks(chat: Chat, open_tab: Callable[[], Chat]) -> None:
    chat.say("first")
    chat.wait_for_end()
    other = open_tab()
    other.open(chat.page.url.partition("?")[2])
    expect(other.page.locator("#chat")).to_contain_text("You said: first")
    chat.say("second")
    expect(other.page.locator("#chat")).to_contain_text("You said: second")


def test_a_failed_turn_says_why_and_can_be_tried_again(chat: Chat) -> None:
    chat.say("fail please")
    expect(chat.page.locator(".p-failed")).to_contain_text("broke off in the middle of the answer")
    expect(chat.page.locator("#chat")).to_contain_text("I was just about to")
    chat.page.locator(".p-failed").get_by_role("button", name="Retry").click()
    expect(chat.page.locator("#chat")).to_contain_text("The second try worked.")
    expect(chat.page.locator(".p-failed")).to_have_count(0)
    assert "I was just about to" not in chat.answers


def test_at_the_step_limit_the_turn_can_go_on(chat: Chat) -> None:
    chat.say("steps please")
    expect(chat.page.locator(".p-stopped")).to_contain_text("Step limit reached")
    chat.page.get_by_role("button", name="Continue").click()
    expect(chat.page.locator("#chat")).to_contain_text("Going on where it was cut.")


def test_tool_calls_are_folds_that_stay_open_while_the_answer_grows(chat: Chat) -> None:
    chat.say("tools please")
    fold = chat.page.locator("details.p-row", has_text="Bash")
    fold.locator("summary").click()
    chat.wait_for_end()
    expect(fold).to_have_attribute("open", "")
    expect(fold).to_contain_text("free from 15:00")
    expect(fold).to_contain_text("echo $$ && $$")
    expect(chat.page.locator("details.p-row-error")).to_contain_text("missing.md")
    expect(chat.page.locator("#chat pre code", has_text="def minutes")).to_contain_text("<b>bold</b>")


def test_the_keyboard_sends_and_breaks_lines(chat: Chat) -> None:
    box = chat.page.locator("#composer textarea")
    box.click()
    chat.page.keyboard.type("one")
    chat.page.keyboard.press("Shift+Enter")
    chat.page.keyboard.type("two")
    expect(box).to_have_value("one\ntwo")
    chat.page.keyboard.press("Enter")
    expect(chat.page.locator("#chat")).to_contain_text("You said")


def test_a_suggestion_is_put_into_the_composer(chat: Chat) -> None:
    chat.page.get_by_role("button", name="What do you know about me?").click()
    expect(chat.page.locator("#composer textarea")).to_have_value("What do you know about me?")


def test_an_answer_is_copied_as_it_was_written(chat: Chat) -> None:
    chat.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    chat.say("tools please")
    chat.wait_for_end()
    chat.page.get_by_role("button", name="Copy", exact=True).click()
    chat.page.wait_for_function("navigator.clipboard.readText().then(text => text.includes('\\treturn hours * 60'))")
