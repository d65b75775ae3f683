"""A person edits what they said: from the pencil to the new answer."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.behind import Behind
from tests.browser.conftest import Chat
from tests.fakes.page_player import PagePlayer

pytestmark = pytest.mark.browser


@pytest.fixture
def two_turns(chat: Chat) -> Chat:
    """A tab with a conversation of two turns."""
    for text in ("first question", "second question"):
        chat.say(text)
        expect(chat.page.locator("#chat")).to_contain_text(f"You said: {text}")
        chat.wait_for_end()
    return chat


def test_an_earlier_message_is_edited_and_sent_again(two_turns: Chat) -> None:
    page = two_turns.page
    page.get_by_role("button", name="Edit this message").first.click()
    box = page.locator("#edit-text textarea")
    expect(box).to_have_value("first question")
    expect(box).to_be_focused()
    expect(page.locator("#edit-note")).to_contain_text("3 messages after it leave the context")
    expect(page.locator("#edit-note")).to_contain_text("Every word stays in the journal")
    expect(page.locator("#composer")).to_be_hidden()
    box.fill("a better question")
    page.get_by_role("button", name="Send again").click()
    expect(page.locator("#chat")).to_contain_text("You said: a better question")
    expect(page.locator("#edit")).to_have_count(0)
    two_turns.wait_for_end()
    assert "second question" not in two_turns.answers
    expect(page.locator("#chat .m-person")).to_have_count(1)


@pytest.mark.parametrize("way", ["button", "escape"])
def test_an_edit_is_cancelled_and_the_draft_below_is_still_there(two_turns: Chat, way: str) -> None:
    page = two_turns.page
    page.locator("#composer textarea").fill("half a thought")
    page.get_by_role("button", name="Edit this message").last.click()
    expect(page.locator("#edit-text textarea")).to_have_value("second question")
    if way == "button":
        page.get_by_role("button", name="Cancel").click()
    else:
        page.keyboard.press("Escape")
    expect(page.locator("#edit")).to_have_count(0)
    expect(page.locator("#composer textarea")).to_have_value("half a thought")
    assert "second question" in two_turns.answers


def test_versions_of_a_message_and_of_an_answer_are_chosen_and_stay_after_a_reload(two_turns: Chat) -> None:
    page = two_turns.page
    page.get_by_role("button", name="Edit this message").first.click()
    page.locator("#edit-text textarea").fill("a better question")
    page.get_by_role("button", name="Send again").click()
    expect(page.locator("#chat")).to_contain_text("You said: a better question")
    two_turns.wait_for_end()
    own = page.get_by_role("group", name="Versions of this message")
    expect(own).to_contain_text("2/2")
    own.get_by_role("button", name="The version before").click()
    expect(page.locator("#chat")).to_contain_text("You said: second question")
    expect(page.locator("#chat")).not_to_contain_text("a better question")
    expect(own).to_contain_text("1/2")
    two_turns.open(page.url.partition("?")[2])
    expect(page.locator("#chat")).to_contain_text("You said: second question")
    page.get_by_role("button", name="Answer again").click()
    answer = page.get_by_role("group", name="Versions of this answer")
    expect(answer).to_contain_text("2/2")
    answer.get_by_role("button", name="The version before").click()
    expect(answer).to_contain_text("1/2")


def test_a_branch_opens_with_what_stands_before_and_ones_own_message_is_copied(two_turns: Chat) -> None:
    page = two_turns.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#chat .m-person").first.hover()
    page.get_by_role("button", name="Copy this message").first.click()
    page.wait_for_function("navigator.clipboard.readText().then(text => text === 'first question')")
    page.locator("#chat .p-foot").first.hover()
    page.get_by_role("button", name="Branch from here").first.click()
    expect(page.locator("#top h1")).to_have_text("Branch of first question")
    expect(page.locator("#chat")).to_contain_text("You said: first question")
    expect(page.locator("#chat")).not_to_contain_text("second question")
    expect(page.locator("#sessions .p-session-title", has_text="first question")).not_to_have_count(1)


def test_enter_sends_again_and_the_box_opens_anew(two_turns: Chat) -> None:
    page = two_turns.page
    page.get_by_role("button", name="Edit this message").last.click()
    box = page.locator("#edit-text textarea")
    expect(box).to_have_value("second question")
    box.fill("third question")
    box.press("Enter")
    expect(page.locator("#chat")).to_contain_text("You said: third question")
    two_turns.wait_for_end()
    page.get_by_role("button", name="Edit this message").last.click()
    expect(page.locator("#edit-text textarea")).to_have_value("third question")


def test_while_a_turn_runs_there_is_no_pencil_and_a_late_click_is_told_why(
    two_turns: Chat, behind: Behind, player: PagePlayer
) -> None:
    page = two_turns.page
    page.get_by_role("button", name="Edit this message").first.click()
    expect(page.locator("#edit-text textarea")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    two_turns.say("slow please")
    page.get_by_text("It begins …").wait_for()
    expect(page.locator(".p-pencil")).to_have_count(0)
    question = behind.conversation(page.url).questions()[0]
    two_turns.act("edit", question.message_id)
    expect(page.locator(".toast-wrap")).to_contain_text("A turn is running")
    player.gate.set()
    two_turns.wait_for_end()
    expect(page.locator(".p-pencil")).to_have_count(3)
