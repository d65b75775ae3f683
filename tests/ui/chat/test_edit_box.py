"""A message is written anew: what would leave is told first, and nothing is sent that was not told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assistant.ui.actions import act_in_chat
from assistant.ui.chat.chat_controller import ChatController
from assistant.ui.chat.edit_box import Draft, note_html
from assistant.ui.chat.live import LiveViews
from assistant.ui.chat.tab import Tab
from assistant.ui.components import PageUpdate
from assistant.ui.server.loading import Loaded, Loading
from tests.fakes.conversation import FakeAssistant, FakeConversation, fake_assistant

TAB = Tab("s1")
FIRST = "s1-turn-1-question"
DRAFT = Draft("s1", FIRST, 3)


@pytest.fixture
def assistant(home: Path) -> FakeAssistant:
    """An assistant whose turns take no time."""
    return fake_assistant(home, pace_seconds=0.0)


@pytest.fixture
async def controller(assistant: FakeAssistant) -> AsyncIterator[ChatController]:
    """The centre of the page, with a conversation of two turns."""
    loading, views = Loading(), LiveViews()
    loading.finish(Loaded(assistant, len))  # type: ignore[arg-type]
    controller = ChatController(loading, views)
    assistant.conversations.add("s1", "Dentist")
    for text in ("one", "two"):
        await last(controller.send(text, TAB, "tab"))
    yield controller
    await views.close()


@pytest.fixture
def conversation(assistant: FakeAssistant, controller: ChatController) -> FakeConversation:
    """That conversation."""
    return assistant.conversations.known["s1"]


async def last(updates: AsyncIterator[PageUpdate]) -> PageUpdate:
    """What the page shows in the end."""
    return [update async for update in updates][-1]


@pytest.mark.parametrize(
    ("later", "words"),
    [
        (0, "the model no longer sees the old one"),
        (1, "<b>1 message after it</b> leaves the context with that: the model no longer sees it"),
        (1_200, "<b>1,200 messages after it</b> leave the context with that: the model no longer sees them"),
    ],
)
def test_the_box_says_what_leaves_and_what_stays(later: int, words: str) -> None:
    note = note_html(Draft("s1", "m1", later))
    assert words in note
    assert "Every word stays in the journal, and search still finds it." in note


async def test_the_pencil_opens_the_box_with_the_message_and_what_would_leave(controller: ChatController) -> None:
    update = await last(act_in_chat(controller, "edit", FIRST, TAB, "tab"))
    assert (update["draft"], update["edit_text"]) == (DRAFT, "one")
    assert "3 messages after it" in str(update["edit_note"])


async def test_what_is_sent_again_stands_in_place_of_the_message_and_all_behind(
    controller: ChatController, conversation: FakeConversation
) -> None:
    updates = [update async for update in controller.send_again(" one, but better ", DRAFT, TAB, "tab")]
    assert (updates[0]["draft"], updates[0]["edit_text"]) == (Draft(), "")
    shown = str(updates[-1]["transcript"])
    assert "You said: <strong>one, but better</strong>" in shown
    assert "You said: <strong>two</strong>" not in shown
    assert conversation.dropped == {FIRST, "s1-turn-2-question"}


async def test_what_was_not_told_does_not_leave(controller: ChatController, conversation: FakeConversation) -> None:
    await last(controller.send("three", TAB, "other tab"))
    with pytest.warns(UserWarning, match="went on meanwhile"):
        update = await last(controller.send_again("one, but better", DRAFT, TAB, "tab"))
    assert (update["draft"], update["edit_text"]) == (Draft("s1", FIRST, 5), "one, but better")
    assert conversation.dropped == set()


async def test_nothing_empty_is_sent_again(controller: ChatController, conversation: FakeConversation) -> None:
    with pytest.warns(UserWarning, match="Write something first"):
        update = await last(controller.send_again(" \n", DRAFT, TAB, "tab"))
    assert (update, conversation.dropped) == (PageUpdate(), set())


@pytest.mark.parametrize("action", ["edit", "retry", "continue"])
async def test_while_a_turn_runs_nothing_is_edited_or_tried_again(
    controller: ChatController, conversation: FakeConversation, action: str
) -> None:
    conversation.ask("slow please")
    with pytest.warns(UserWarning, match="A turn is running"):
        assert await last(act_in_chat(controller, action, FIRST, TAB, "tab")) == PageUpdate()
    with pytest.warns(UserWarning, match="A turn is running"):
        assert await last(controller.send_again("one, but better", DRAFT, TAB, "tab")) == PageUpdate()
    await conversation.stop()
    assert (conversation.dropped, conversation.retried, conversation.continued) == (set(), 0, 0)


async def test_a_folded_message_is_not_edited(controller: ChatController, conversation: FakeConversation) -> None:
    conversation.dropped.add(FIRST)
    for act in (
        act_in_chat(controller, "edit", FIRST, TAB, "tab"),
        controller.send_again("one, but better", DRAFT, TAB, "tab"),
    ):
        with pytest.warns(UserWarning, match="not in the context any more"):
            assert await last(act) == PageUpdate()


async def test_no_message_of_another_conversation_is_edited(
    controller: ChatController, assistant: FakeAssistant
) -> None:
    assistant.conversations.add("s2", "Other")
    with pytest.warns(UserWarning, match="Nothing was done"):
        await last(act_in_chat(controller, "edit", FIRST, Tab("s2"), "tab"))
    with pytest.warns(UserWarning, match="Nothing was done"):
        update = await last(controller.send_again("one, but better", DRAFT, Tab("s2"), "tab"))
    assert update["draft"] == Draft()


async def test_another_conversation_closes_the_box(controller: ChatController, assistant: FakeAssistant) -> None:
    assistant.conversations.add("s2", "Other")
    updates = [update async for update in act_in_chat(controller, "open-session", "s2", TAB, "tab")]
    assert updates[0]["draft"] == Draft()
    assert [update async for update in controller.start_new("tab")][0]["draft"] == Draft()
