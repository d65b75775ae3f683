"""What the buttons for pins, full texts, previews and memory changes do, and what they refuse."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assistant.errors import CompactionError, ConflictError
from assistant.memory.log import Origin
from assistant.ui.actions import act_in_chat
from assistant.ui.chat.chat_controller import ChatController
from assistant.ui.chat.context_panel import pin_target, preview_html
from assistant.ui.chat.full_text_dialog import MAX_CHARS, full_text_html
from assistant.ui.chat.live import LiveViews
from assistant.ui.chat.tab import Tab
from assistant.ui.components import PageUpdate
from assistant.ui.server.loading import Loaded, Loading
from tests.fakes.conversation import (
    ARTIFACT_ID,
    DENTIST_KEY,
    OFFLINE,
    FakeAssistant,
    FakeConversation,
    FakeItem,
    FakePreview,
    fake_assistant,
)

TARGET = pin_target(FakeItem("messages", "", "", 0, DENTIST_KEY))


@pytest.fixture
def assistant(home: Path) -> FakeAssistant:
    """An assistant whose turns take no time."""
    return fake_assistant(home, pace_seconds=0.0)


@pytest.fixture
async def controller(assistant: FakeAssistant) -> AsyncIterator[ChatController]:
    """The centre of the page."""
    loading, views = Loading(), LiveViews()
    loading.finish(Loaded(assistant, len))  # type: ignore[arg-type]
    yield ChatController(loading, views)
    await views.close()


@pytest.fixture
def conversation(assistant: FakeAssistant) -> FakeConversation:
    """One conversation."""
    return assistant.conversations.add("s1", "Dentist")


async def last(updates: AsyncIterator[PageUpdate]) -> PageUpdate:
    """What the page shows in the end."""
    return [update async for update in updates][-1]


async def test_a_message_is_pinned_and_unpinned(controller: ChatController, conversation: FakeConversation) -> None:
    await last(controller.send("hello", Tab("s1"), "tab"))
    shown = await last(act_in_chat(controller, "pin", TARGET, Tab("s1"), "tab"))
    assert conversation.pins == [DENTIST_KEY]
    assert ">Unpin<" in str(shown["context"])
    shown = await last(act_in_chat(controller, "unpin", TARGET, Tab("s1"), "tab"))
    assert conversation.pins == []
    assert ">Pin<" in str(shown["context"])


async def test_a_pin_that_takes_too_much_is_refused(controller: ChatController, conversation: FakeConversation) -> None:
    conversation.pins_refused = "Pins may take 12,800 tokens together."
    with pytest.raises(CompactionError, match="12,800"):
        await last(act_in_chat(controller, "pin", TARGET, Tab("s1"), "tab"))


async def test_only_what_the_model_sees_can_be_pinned(
    controller: ChatController, conversation: FakeConversation
) -> None:
    with pytest.warns(UserWarning, match="Nothing was done"):
        await last(act_in_chat(controller, "pin", "gone text block", Tab("s1"), "tab"))
    assert conversation.pins == []


async def test_a_full_text_opens_only_where_a_result_names_it(
    controller: ChatController, assistant: FakeAssistant, conversation: FakeConversation
) -> None:
    other = ARTIFACT_ID.replace("1", "2")
    for artifact_id in (ARTIFACT_ID, other):
        assistant.store.artifacts.store_as(artifact_id, "<b>all of it</b>")
    await last(controller.send("tools", Tab("s1"), "tab"))
    shown = await last(act_in_chat(controller, "full-text", ARTIFACT_ID, Tab("s1"), "tab"))
    assert "&lt;b&gt;all of it" in str(shown["dialog"])
    with pytest.warns(UserWarning, match="Nothing was done"):
        refused = await last(act_in_chat(controller, "full-text", other, Tab("s1"), "tab"))
    assert "all of it" not in str(refused.get("dialog"))
    assert (await last(act_in_chat(controller, "close-text", "", Tab("s1"), "tab")))["dialog"] == ""


def test_a_very_long_text_is_capped_and_says_so() -> None:
    html = full_text_html(ARTIFACT_ID, "x" * (MAX_CHARS + 1))
    assert html.count("x" * 100) < MAX_CHARS // 100 + 1
    assert "The first 200,000 characters" in html
    assert "200,001 characters" in html


async def test_a_look_ahead_says_what_would_be_folded_and_goes_with_the_next_message(
    controller: ChatController, conversation: FakeConversation
) -> None:
    shown = await last(controller.look_ahead(Tab("s1")))
    assert "<b>5,214</b> of 18,420 tokens" in str(shown["preview"])
    updates = [update async for update in controller.send("hello", Tab("s1"), "tab")]
    assert updates[0]["preview"] == ""


def test_a_look_ahead_says_why_nothing_would_be_folded() -> None:
    assert "Too little stands here." in preview_html(FakePreview(reason="Too little stands here."))


async def test_a_memory_change_is_undone_from_its_chip_and_told(
    controller: ChatController, assistant: FakeAssistant, conversation: FakeConversation, home: Path
) -> None:
    await last(controller.send("hello", Tab("s1"), "tab"))
    change = assistant.notes.add_lines("USER.md", "About me", ["Likes tea"], Origin("assistant", "s1"))
    assert change is not None
    await last(controller.send("hello again", Tab("s1"), "tab"))
    await last(act_in_chat(controller, "undo-change", change.change_id, Tab("s1"), "tab"))
    assert "Likes tea" not in (home / "USER.md").read_text("utf-8")
    assert [known.writer for known in assistant.memory_log.history("USER.md")][-1] == "owner"
    messages = str((await last(controller.send("hello", Tab("s1"), "tab")))["transcript"])
    assert "−1" in messages
    assert "without: - Likes tea" in messages


async def test_a_change_that_was_written_over_is_not_undone(
    controller: ChatController, assistant: FakeAssistant, conversation: FakeConversation, home: Path
) -> None:
    change = assistant.notes.add_lines("USER.md", "About me", ["Likes tea"], Origin("assistant", "s1"))
    assert change is not None
    await last(controller.send("hello", Tab("s1"), "tab"))
    path = home / "USER.md"
    path.write_text(path.read_text("utf-8").replace("Likes tea", "Likes coffee"), "utf-8")
    with pytest.raises(ConflictError):
        await last(act_in_chat(controller, "undo-change", change.change_id, Tab("s1"), "tab"))
    assert "Likes coffee" in path.read_text("utf-8")


async def test_no_change_of_another_conversation_is_undone(
    controller: ChatController, assistant: FakeAssistant, conversation: FakeConversation, home: Path
) -> None:
    change = assistant.notes.add_lines("USER.md", "About me", ["Likes tea"], Origin("assistant", "other"))
    assert change is not None
    with pytest.warns(UserWarning, match="Nothing was done"):
        await last(act_in_chat(controller, "undo-change", change.change_id, Tab("s1"), "tab"))
    assert "Likes tea" in (home / "USER.md").read_text("utf-8")


async def test_a_sample_is_offered_whoever_answers(controller: ChatController, assistant: FakeAssistant) -> None:
    assert "sample conversation" in str((await last(controller.start_new("tab")))["transcript"])
    assistant.model = OFFLINE
    assert "sample conversation" in str((await last(controller.start_new("tab")))["transcript"])
    await last(act_in_chat(controller, "show", "", Tab(), "tab"))
    assert [conversation.title for conversation in assistant.conversations.known.values()] == ["/show"]


async def test_recall_is_switched_off_and_on_where_a_language_model_answers(
    controller: ChatController, assistant: FakeAssistant
) -> None:
    assert "Turn recall off" in str((await last(controller.start_new("tab")))["model"])
    assert "Turn recall on" in str((await last(act_in_chat(controller, "recall", "off", Tab(), "tab")))["model"])
    assert assistant.is_recall_on is False
    assert "Turn recall off" in str((await last(act_in_chat(controller, "recall", "on", Tab(), "tab")))["model"])
    assistant.model = OFFLINE
    assert "Turn recall" not in str((await last(controller.start_new("tab")))["model"])
