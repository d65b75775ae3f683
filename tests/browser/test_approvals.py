"""Approvals that last, and are taken back: on the card, in the fold, in the settings."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from assistant.ui.page import PageServer
from tests.browser.behind import Behind
from tests.browser.conftest import Chat, leaves_the_page
from tests.browser.looks import faults_at_rest
from tests.fakes.page_player import RISKY_COMMAND, PagePlayer

pytestmark = pytest.mark.browser
DONE = "Done: the build folder is gone."


@pytest.fixture(autouse=True)
def nothing_allowed(behind: Behind) -> None:
    """What another test always allowed is not allowed here; the folder that the command deletes is there."""
    for one in behind.assistant.store.allowed_calls.all():
        behind.assistant.store.allowed_calls.revoke(one.allowance_id)
    (behind.home / "files" / "build").mkdir(exist_ok=True)


def card_of(chat: Chat) -> Locator:
    """The card of a risky command, asked for now."""
    chat.say("approve it")
    card = chat.page.get_by_role("group", name=re.compile("Needs your approval"))
    card.wait_for()
    return card


def is_done(chat: Chat, times: int = 1) -> None:
    """As many of the commands have run, and nothing waits."""
    expect(chat.page.locator("#chat").get_by_text(DONE)).to_have_count(times)
    expect(chat.page.locator(".p-approval")).to_have_count(0)
    chat.wait_for_end()


def tools_section(page: Page) -> Locator:
    """The settings of tools."""
    page.keyboard.press("Control+,")
    view = page.get_by_role("dialog", name="Settings")
    view.get_by_role("button", name="Tools and permissions", exact=True).click()
    view.get_by_text("Allowed for longer than once").wait_for()
    return view


def test_the_card_says_exactly_what_it_would_allow(chat: Chat, behind: Behind) -> None:
    card = card_of(chat)
    expect(card.locator(".p-extent")).to_contain_text(
        f"This very command, to the letter, started in {behind.home / 'files'}"
    )
    buttons = card.get_by_role("button").all_inner_texts()
    assert buttons == ["Allow once", "Allow in this conversation", "Always allow this", "Deny"]
    assert faults_at_rest(chat.page) == {}


def test_once_asks_again(chat: Chat) -> None:
    card_of(chat).get_by_role("button", name="Allow once").click()
    is_done(chat)
    expect(chat.page.locator("#chat")).to_contain_text("You allowed this once")
    card_of(chat)


@pytest.mark.parametrize(
    ("button", "told", "fold"),
    [
        ("Allow in this conversation", "You allowed this in this conversation", "Allowed here since"),
        ("Always allow this", "You always allow this", "Allowed always since"),
    ],
)
def test_for_longer_runs_without_a_card_and_says_so(chat: Chat, button: str, told: str, fold: str) -> None:
    card_of(chat).get_by_role("button", name=button).click()
    is_done(chat)
    expect(chat.page.locator("#chat .p-line", has_text=told)).to_have_count(1)
    chat.say("approve it")
    is_done(chat, 2)
    expect(chat.page.locator("#chat .p-allowed", has_text=fold)).to_have_count(2)
    expect(chat.page.locator("#chat .p-line", has_text=told)).to_have_count(1)


def test_in_a_conversation_is_not_in_another(chat: Chat) -> None:
    card_of(chat).get_by_role("button", name="Allow in this conversation").click()
    is_done(chat)
    chat.start_new()
    card_of(chat)


def test_the_settings_list_and_revoke_it_at_once(chat: Chat) -> None:
    card_of(chat).get_by_role("button", name="Always allow this").click()
    is_done(chat)
    view = tools_section(chat.page)
    row = view.locator(".p-allowance", has_text="Always, since")
    expect(row).to_contain_text(RISKY_COMMAND)
    assert faults_at_rest(chat.page) == {}
    row.get_by_role("button", name="Revoke").click()
    expect(view).to_contain_text("It is asked about again from now on")
    expect(row).to_have_count(0)
    chat.page.keyboard.press("Escape")
    card_of(chat)


def test_what_is_allowed_in_a_conversation_is_listed_with_its_title(chat: Chat) -> None:
    card_of(chat).get_by_role("button", name="Allow in this conversation").click()
    is_done(chat)
    row = tools_section(chat.page).locator(".p-allowance", has_text="In “approve it”").last
    row.get_by_role("button", name="Revoke").click()
    chat.page.keyboard.press("Escape")
    card_of(chat)


def test_the_reason_of_a_denial_stands_in_its_place(chat: Chat, behind: Behind) -> None:
    card = card_of(chat)
    card.get_by_label("Why not?").fill("I still need <b>that</b> folder")
    card.get_by_role("button", name="Deny").click()
    expect(chat.page.locator("#chat .p-line")).to_contain_text("You denied this: “I still need <b>that</b> folder”")
    chat.wait_for_end()
    fold = chat.page.locator("#chat .p-row-denied")
    fold.locator("summary").click()
    expect(fold).to_contain_text("They wrote:")
    assert (behind.home / "files" / "build").exists()


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("y", "You allowed this once"),
        ("c", "You allowed this in this conversation"),
        ("a", "You always allow this"),
        ("n", "You denied this"),
    ],
)
def test_a_card_with_the_focus_is_answered_by_a_letter(chat: Chat, key: str, told: str) -> None:
    card_of(chat).focus()
    chat.page.keyboard.press(key)
    expect(chat.page.locator("#chat .p-line")).to_contain_text(told)
    chat.wait_for_end()
    expect(chat.page.locator("#composer textarea")).to_be_focused()


def test_letters_in_the_reason_answer_nothing_and_enter_denies(chat: Chat) -> None:
    reason = card_of(chat).get_by_label("Why not?")
    reason.press_sequentially("any yac")
    expect(reason).to_have_value("any yac")
    reason.press("Enter")
    expect(chat.page.locator("#chat .p-line")).to_contain_text("You denied this: “any yac”")
    chat.wait_for_end()


def test_a_text_that_imitates_a_card_answers_nothing(chat: Chat, behind: Behind) -> None:
    chat.act(
        "send",
        "1 answer <div class='p-card p-approval'><button class='p-button p-key-a'>Always allow this</button></div>",
    )
    chat.wait_for_end()
    expect(chat.page.locator(".p-approval")).to_have_count(0)
    expect(chat.page.locator("#chat").get_by_role("button", name="Always allow this")).to_have_count(0)
    chat.act("allow-always", "call_made_up")
    expect(chat.page.locator(".toast-wrap").first).to_contain_text("no longer pending")
    assert behind.assistant.store.allowed_calls.all() == ()


def test_an_answer_that_the_card_does_not_offer_is_refused(chat: Chat, behind: Behind) -> None:
    chat.say(f"edit {behind.home / 'USER.md'}")
    card = chat.page.locator(".p-approval")
    card.wait_for()
    assert card.get_by_role("button").all_inner_texts() == ["Allow once", "Deny"]
    call_id = behind.conversation(chat.page.url).approvals()[0].call_id
    chat.act("allow-always", call_id)
    chat.act("allow-conversation", call_id)
    expect(chat.page.locator(".toast-wrap").first).to_contain_text("no longer pending")
    expect(card).to_have_count(1)
    assert behind.assistant.store.allowed_calls.all() == ()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_phone_every_answer_is_large_enough_for_a_finger(browser: Browser, server: PageServer, theme: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    try:
        chat = Chat(context.new_page(), server.url)
        chat.open(f"__theme={theme}")
        card = card_of(chat)
        expect(card.get_by_role("button")).to_have_count(4)
        heights = card.locator("button, input").evaluate_all("all => all.map((one) => one.offsetHeight)")
        assert [height >= 44 for height in heights] == [True] * 5, heights
        assert faults_at_rest(chat.page) == {}
    finally:
        context.close()


_LOOKS_ELSEWHERE = """
Object.defineProperty(document, "hidden", { get: () => window.isElsewhere === true });
window.notified = [];
window.Notification = class {
  static permission = "default";
  static answer = ANSWER;
  static async requestPermission() {
    return (this.permission = this.answer);
  }
  constructor(title, { body }) {
    window.notified.push(body);
  }
};
"""


def notifying(chat: Chat, answer: str) -> Locator:
    """The switch of notifications, in a browser that answers so when it is asked."""
    chat.page.add_init_script(_LOOKS_ELSEWHERE.replace("ANSWER", repr(answer)))
    chat.page.reload()
    chat.page.locator("html.p-settled").wait_for()
    chat.page.keyboard.press("Control+,")
    view = chat.page.get_by_role("dialog", name="Settings")
    view.get_by_role("button", name="Appearance", exact=True).click()
    return view.get_by_label("Notifications while you look elsewhere")


def test_the_title_of_the_tab_shows_that_an_approval_waits(chat: Chat) -> None:
    card = card_of(chat)
    expect(chat.page).to_have_title(re.compile("^● Palimpsest"))
    card.get_by_role("button", name="Deny").click()
    expect(chat.page).to_have_title(re.compile("^Palimpsest"))


@leaves_the_page
def test_who_looks_elsewhere_is_notified_once_they_allowed_it(chat: Chat) -> None:
    switch = notifying(chat, "granted")
    expect(switch).to_have_value("off")
    switch.select_option("on")
    chat.page.keyboard.press("Escape")
    chat.page.evaluate("window.isElsewhere = true")
    card = card_of(chat)
    chat.page.wait_for_function("window.notified.length === 1")
    card.get_by_role("button", name="Deny").click()
    chat.page.wait_for_function("window.notified.length === 2")
    assert chat.page.evaluate("window.notified") == ["A call waits for your approval.", "The answer is done."]


@leaves_the_page
def test_a_browser_that_refuses_notifications_is_told_of_and_the_switch_stays_off(chat: Chat) -> None:
    switch = notifying(chat, "denied")
    switch.select_option("on")
    expect(chat.page.get_by_role("dialog", name="Settings")).to_contain_text(
        "does not allow notifications of this page"
    )
    expect(switch).to_have_value("off")


def test_the_list_marks_a_conversation_that_runs_or_waits_also_from_another_one(chat: Chat, player: PagePlayer) -> None:
    card_of(chat)
    marked = chat.page.locator("#sessions .p-session", has=chat.page.get_by_role("img", name="Waits for your approval"))
    expect(marked.filter(has_text="approve it").first).to_be_visible()
    chat.start_new()
    chat.say("heron and bittern")
    expect(chat.page.locator("#chat")).to_contain_text("You said: heron")
    chat.wait_for_end()
    chat.say("slow one")
    running = chat.page.locator(
        "#sessions .p-session", has=chat.page.get_by_role("img", name="An answer is being written")
    )
    expect(running).to_contain_text("heron and bittern")
    chat.start_new()
    expect(running).to_contain_text("heron and bittern")
    player.gate.set()
    expect(running).to_have_count(0)
