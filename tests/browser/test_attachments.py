"""Files are attached: chosen, dropped or pasted, shown as chips, sent, and never lost without a word."""

from __future__ import annotations

import re
from typing import Literal

import pytest
from playwright.sync_api import FilePayload, Locator, expect

from tests.agent.readers.test_office_texts import word_file
from tests.browser.behind import Behind
from tests.browser.conftest import Chat, leaves_the_page
from tests.fakes.drawn import picture_bytes
from tests.fakes.page_player import PagePlayer

pytestmark = pytest.mark.browser

NOTES = FilePayload(name="notes.txt", mimeType="text/plain", buffer=b"The meeting is on Friday at 15:00.")
ARCHIVE = FilePayload(name="all.zip", mimeType="application/zip", buffer=b"PK\x03\x04\x14\0abc")
_TRANSFER = """([kind, text, name]) => {
    const transfer = new DataTransfer();
    if (name) transfer.items.add(new File([text], name, {type: "text/plain"}));
    else transfer.setData("text/plain", text);
    const box = document.querySelector("#composer textarea");
    box.focus();
    const about = {bubbles: true, cancelable: true};
    if (kind === "paste") box.dispatchEvent(new ClipboardEvent("paste", {clipboardData: transfer, ...about}));
    else for (const step of ["dragenter", "dragover", "drop"])
        document.querySelector("#chat").dispatchEvent(new DragEvent(step, {dataTransfer: transfer, ...about}));
}"""


def choose(chat: Chat, *files: FilePayload) -> None:
    """Choose files with the button."""
    with chat.page.expect_file_chooser() as chooser:
        chat.page.get_by_role("button", name="Attach files").click()
    chooser.value.set_files(list(files))


def bring(chat: Chat, kind: Literal["paste", "drop"], text: str, name: str = "") -> None:
    """Paste or drop a text, as a file where it has a name."""
    chat.page.evaluate(_TRANSFER, [kind, text, name])


def chips(chat: Chat) -> Locator:
    """What waits to be sent."""
    return chat.page.locator("#attached .p-attachment")


def test_files_are_chosen_and_sent_and_the_model_reads_them(chat: Chat, behind: Behind) -> None:
    choose(chat, NOTES, FilePayload(name="table.csv", mimeType="text/csv", buffer=b"day,hours\nMon,8\n"))
    expect(chips(chat)).to_have_count(2)
    expect(chips(chat).first).to_contain_text(re.compile(r"notes\.txt\s*34 B · \d+ tokens"))
    chat.say("When is it?")
    expect(chips(chat)).to_have_count(0)
    chat.wait_for_end()
    assert "The meeting is on Friday at 15:00." in chat.answers
    sent = chat.page.locator("#chat .m-person .p-sent .p-attachment-name")
    assert sent.all_inner_texts() == ["notes.txt", "table.csv"]
    assert (behind.home / "files" / "attached" / "table.csv").read_bytes() == b"day,hours\nMon,8\n"
    chat.page.reload()
    expect(sent).to_have_text(["notes.txt", "table.csv"])


def test_files_alone_are_a_message(chat: Chat) -> None:
    choose(chat, NOTES)
    expect(chips(chat)).to_contain_text("tokens")
    chat.page.locator("#composer textarea").press("Enter")
    expect(chat.page.locator("#chat .m-person")).to_contain_text("Attached: notes")
    chat.wait_for_end()


def test_what_is_refused_says_why_and_can_be_removed(chat: Chat) -> None:
    choose(chat, ARCHIVE, NOTES)
    refused = chips(chat).filter(has_text="all.zip")
    expect(refused).to_contain_text("Archives are not opened. Attach the files that are in all.zip.")
    expect(chips(chat).filter(has_text="notes.txt")).to_contain_text("tokens")
    chat.page.get_by_role("button", name="Remove all.zip").press("Enter")
    expect(chips(chat)).to_have_count(1)
    expect(chat.page.get_by_role("button", name="Remove notes.txt")).to_be_focused()
    chat.page.keyboard.press("Enter")
    expect(chips(chat)).to_have_count(0)
    expect(chat.page.locator("#composer textarea")).to_be_focused()


def test_a_file_is_dropped_anywhere_on_the_page(chat: Chat) -> None:
    bring(chat, "drop", "dropped words", "dropped.md")
    expect(chips(chat)).to_contain_text("dropped.md")
    expect(chat.page.locator("html.p-dropping")).to_have_count(0)


def test_a_file_is_pasted(chat: Chat) -> None:
    bring(chat, "paste", "pasted words", "from-elsewhere.txt")
    expect(chips(chat)).to_contain_text("from-elsewhere.txt")


def test_a_short_paste_goes_into_the_message(chat: Chat) -> None:
    bring(chat, "paste", "short")
    expect(chips(chat)).to_have_count(0)


def test_a_long_paste_becomes_a_file_and_can_be_put_into_the_message(chat: Chat) -> None:
    pasted = "a line that was pasted\n" * 400
    bring(chat, "paste", pasted)
    expect(chips(chat)).to_contain_text("pasted-1.txt")
    chat.page.get_by_role("button", name="Put it into the message").click()
    expect(chips(chat)).to_have_count(0)
    expect(chat.page.locator("#composer textarea")).to_have_value(pasted)


def test_a_paste_of_more_than_the_window_is_sent_as_a_file(chat: Chat, behind: Behind) -> None:
    pasted = "much more than any window holds, again and again\n" * 20_000
    bring(chat, "paste", pasted)
    expect(chips(chat)).to_contain_text("tokens")
    expect(chat.page.get_by_role("button", name="Put it into the message")).to_have_count(0)
    chat.say("answer read it")
    chat.wait_for_end()
    kept = chat.page.locator("#chat .p-sent .p-attachment-about").inner_text().rpartition(" ")[2]
    assert (behind.home / kept).read_text("utf-8") == pasted


def test_a_command_leaves_the_files_where_they_are(chat: Chat) -> None:
    choose(chat, NOTES)
    expect(chips(chat)).to_contain_text("tokens")
    chat.say("/help")
    expect(chat.page.locator("#chat")).to_contain_text("/compact")
    expect(chips(chat)).to_have_count(1)


@leaves_the_page
def test_a_reload_says_what_became_of_them(chat: Chat) -> None:
    choose(chat, NOTES)
    expect(chips(chat)).to_contain_text("tokens")
    chat.page.reload()
    expect(chips(chat)).to_contain_text("Not sent: the page was loaded again. Attach it once more.")
    chat.page.get_by_role("button", name="Remove notes.txt").click()
    expect(chips(chat)).to_have_count(0)


def test_a_file_waits_behind_a_running_turn_with_its_message(chat: Chat, player: PagePlayer) -> None:
    chat.say("slow one")
    expect(chat.page.locator("#chat")).to_contain_text("It begins")
    choose(chat, NOTES)
    expect(chips(chat)).to_contain_text("tokens")
    chat.say("and this")
    expect(chips(chat)).to_have_count(0)
    player.gate.set()
    expect(chat.page.locator("#chat .p-sent")).to_contain_text("notes.txt")
    expect(chat.page.locator("#chat")).to_contain_text("The meeting is on Friday at 15:00.")


def test_an_edited_message_keeps_its_files(chat: Chat) -> None:
    choose(chat, NOTES)
    expect(chips(chat)).to_contain_text("tokens")
    chat.say("answer first")
    chat.wait_for_end()
    chat.page.get_by_role("button", name="Edit this message").click()
    chat.page.locator("#edit-text textarea").fill("what does it say")
    chat.page.get_by_role("button", name="Send again").click()
    expect(chat.page.locator("#chat")).to_contain_text("The meeting is on Friday at 15:00.")
    expect(chat.page.locator("#chat .p-sent")).to_contain_text("notes.txt")


def picture(form: str = "PNG") -> FilePayload:
    """A picture of 64 by 48 points."""
    name, mime = f"chart.{form.lower()}", f"image/{form.lower()}"
    return FilePayload(name=name, mimeType=mime, buffer=picture_bytes(form, 64, 48))


def test_a_picture_is_shown_and_sent_and_is_there_after_a_reload(chat: Chat, behind: Behind) -> None:
    choose(chat, picture(), picture("JPEG"))
    expect(chips(chat).locator("img.p-attachment-look")).to_have_count(2)
    expect(chips(chat).last).to_contain_text("2k tokens")
    chat.say("answer two pictures")
    chat.wait_for_end()
    shown = chat.page.locator("#chat .p-attachment-picture img")
    for _ in range(2):
        expect(shown).to_have_count(2)
        expect(shown.first).to_have_js_property("naturalWidth", 64)
        chat.page.reload()
    names = {path.suffix for path in (behind.home / "pictures").iterdir()}
    assert names == {".png", ".jpg"}


def test_a_picture_is_nothing_but_a_picture_and_is_for_the_tab_of_its_person(chat: Chat) -> None:
    choose(chat, picture())
    expect(chips(chat)).to_contain_text("tokens")
    chat.say("answer a picture")
    address = chat.page.locator("#chat .p-attachment-picture").evaluate("link => link.href")
    answer = chat.page.request.get(address)
    assert answer.status == 200
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'; sandbox" in answer.headers["content-security-policy"]
    foreign = re.sub(r"session_hash=\w+", "session_hash=zzzz", address)
    assert [chat.page.request.get(one).status for one in (foreign, address.partition("?")[0])] == [404, 404]


def test_a_document_is_read(chat: Chat) -> None:
    mime = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    choose(chat, FilePayload(name="plan.docx", mimeType=mime, buffer=word_file()))
    expect(chips(chat)).to_contain_text("tokens")
    chat.say("What is the plan?")
    chat.wait_for_end()
    assert "Monday | 8 hours" in chat.answers


def test_a_drawing_that_could_run_is_text(chat: Chat) -> None:
    choose(chat, FilePayload(name="a.svg", mimeType="image/svg+xml", buffer=b"<svg onload='window.pwned=1'/>"))
    expect(chips(chat)).to_contain_text("a.svg")
    expect(chips(chat).locator("img")).to_have_count(0)
    chat.say("answer a drawing")
    chat.wait_for_end()
    expect(chat.page.locator("#chat .m-person img")).to_have_count(0)
    assert chat.page.evaluate("window.pwned") is None
