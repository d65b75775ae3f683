"""What the keyboard does beside typing: commands, the last message, the sheet of keys."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Chat
from tests.browser.looks import faults_at_rest

pytestmark = pytest.mark.browser


def test_a_slash_offers_the_commands_with_what_they_do(chat: Chat) -> None:
    box = chat.page.locator("#composer textarea")
    menu = chat.page.get_by_role("listbox", name="Commands")
    box.press_sequentially("/")
    expect(menu).to_be_visible()
    expect(menu.get_by_role("option", selected=True)).to_have_count(1)
    box.press_sequentially("rem")
    expect(menu.get_by_role("option").filter(visible=True)).to_have_count(1)
    expect(menu).to_contain_text("/remember")
    box.press("Enter")
    expect(box).to_have_value("/remember ")
    expect(menu).not_to_be_visible()
    expect(box).to_be_focused()


def test_the_menu_goes_by_arrows_and_is_put_away(chat: Chat) -> None:
    box = chat.page.locator("#composer textarea")
    menu = chat.page.get_by_role("listbox", name="Commands")
    box.press_sequentially("/")
    chosen = menu.get_by_role("option", selected=True)
    expect(chosen).to_have_count(1)
    first = chosen.inner_text()
    box.press("ArrowDown")
    assert chosen.inner_text() != first
    box.press("ArrowUp")
    assert chosen.inner_text() == first
    assert faults_at_rest(chat.page) == {}
    box.press("Escape")
    expect(menu).not_to_be_visible()
    expect(box).to_have_value("/")
    box.fill("")
    box.press_sequentially("/")
    expect(menu).to_be_visible()


def test_a_command_that_is_typed_out_is_sent_by_enter(chat: Chat) -> None:
    box = chat.page.locator("#composer textarea")
    box.press_sequentially("/help")
    expect(chat.page.get_by_role("listbox", name="Commands")).to_be_visible()
    box.press("Enter")
    expect(chat.page.locator("#chat")).to_contain_text("/compact")
    expect(box).to_have_value("")


def test_the_up_arrow_opens_the_last_message_again(chat: Chat) -> None:
    for text in ("the first", "the second"):
        chat.say(text)
        expect(chat.page.locator("#chat")).to_contain_text(f"You said: {text}")
        chat.wait_for_end()
    box = chat.page.locator("#composer textarea")
    box.fill("begun")
    box.press("ArrowUp")
    expect(chat.page.locator("#edit-text textarea")).to_have_count(0)
    box.fill("")
    box.press("ArrowUp")
    expect(chat.page.locator("#edit-text textarea")).to_have_value("the second")
    chat.page.keyboard.press("Escape")
    expect(chat.page.locator("#edit-text textarea")).to_have_count(0)


def test_a_question_mark_shows_all_keys_unless_it_is_typed(chat: Chat) -> None:
    sheet = chat.page.get_by_role("dialog", name="Keys")
    chat.page.locator("#composer textarea").press_sequentially("?")
    chat.page.locator("#new-chat").focus()
    expect(sheet).to_have_count(0)
    chat.page.keyboard.press("?")
    expect(sheet).to_contain_text("Ctrl")
    assert faults_at_rest(chat.page) == {}
    chat.page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
    expect(chat.page.locator("#new-chat")).to_be_focused()
    expect(chat.page.locator("#composer textarea")).to_have_value("?")


def test_the_settings_open_by_a_key(chat: Chat) -> None:
    chat.page.keyboard.press("Control+,")
    expect(chat.page.get_by_role("dialog", name="Settings")).to_be_visible()


@pytest.mark.parametrize("width", [1440, 820], ids=["folded to icons", "a drawer"])
def test_what_is_typed_right_after_the_keys_of_the_search_is_in_it(chat: Chat, width: int) -> None:
    chat.page.set_viewport_size({"width": width, "height": 900})
    if width == 1440:
        chat.act("toggle-left", "")
    expect(chat.page.locator("#search")).not_to_be_visible()
    chat.page.locator("#composer textarea").focus()
    chat.page.evaluate(
        """() => {
            const press = (key, ctrlKey) => document.activeElement.dispatchEvent(
                new KeyboardEvent("keydown", { key, ctrlKey, bubbles: true, cancelable: true }));
            press("k", true);
            window.typedInto = document.activeElement.closest("#search") !== null;
        }"""
    )
    assert chat.page.evaluate("window.typedInto")
    chat.page.keyboard.type("ferry")
    expect(chat.page.locator("#search").get_by_role("textbox")).to_have_value("ferry")
    expect(chat.page.locator("#composer textarea")).to_have_value("")
