"""A message is written anew: what would leave is told first, and nothing is sent that was not told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from assistant.conversation.conversation import Conversation
from assistant.messages.blocks import text_of
from assistant.ui.actions import act_in_chat
from assistant.ui.chat.edit_box import Draft, note_html
from assistant.ui.chat.tab import Tab
from assistant.ui.components import PageUpdate
from tests.fakes.home import SUMMARY, say, text
from tests.ui.open_page import OpenPage, echo, held, last, open_page
from tests.ui.turns import after_turn


@pytest.fixture
async def page(home: Path) -> AsyncGenerator[OpenPage]:
    """A page whose model says what was said."""
    async with open_page(home) as page:
        yield page


@pytest.fixture
async def conversation(page: OpenPage) -> Conversation:
    """A conversation of two turns."""
    return await page.talk("one", "two")


@pytest.fixture
def tab(conversation: Conversation) -> Tab:
    """The tab that shows it."""
    return Tab(conversation.session_id)


@pytest.fixture
def draft(conversation: Conversation) -> Draft:
    """Its first message in the box."""
    return Draft(conversation.session_id, conversation.questions()[0].message_id, 3)


def asked(conversation: Conversation) -> int:
    """How many messages of the person the model would still see."""
    return len(conversation.questions())


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


async def test_the_pencil_opens_the_box_with_the_message_and_what_would_leave(
    page: OpenPage, tab: Tab, draft: Draft
) -> None:
    update = await last(act_in_chat(page.controller, "edit", draft.message_id, tab, "tab"))
    assert (update["draft"], update["edit_text"]) == (draft, "one")
    assert "3 messages after it" in str(update["edit_note"])


async def test_what_is_sent_again_stands_in_place_of_the_message_and_all_behind(
    page: OpenPage, tab: Tab, draft: Draft
) -> None:
    update = await after_turn(page.controller, page.controller.send_again(" one, but better ", draft, tab, "tab"))
    assert (update["draft"], update["edit_text"]) == (Draft(), "")
    shown = str(update["transcript"])
    assert "You said: <strong>one, but better</strong>" in shown
    assert "You said: <strong>two</strong>" not in shown
    said = [text_of(message) for message in page.requests[-1].messages if message.role == "user"]
    assert said == ["one, but better"]


async def test_what_was_not_told_does_not_leave(
    page: OpenPage, conversation: Conversation, tab: Tab, draft: Draft
) -> None:
    await after_turn(page.controller, page.controller.send("three", tab, "other tab"), "other tab")
    with pytest.warns(UserWarning, match="went on meanwhile"):
        update = await last(page.controller.send_again("one, but better", draft, tab, "tab"))
    assert (update["draft"], update["edit_text"]) == (Draft(draft.session_id, draft.message_id, 5), "one, but better")
    assert asked(conversation) == 3


async def test_nothing_empty_is_sent_again(page: OpenPage, conversation: Conversation, tab: Tab, draft: Draft) -> None:
    with pytest.warns(UserWarning, match="Write something first"):
        update = await last(page.controller.send_again(" \n", draft, tab, "tab"))
    assert (update, asked(conversation)) == (PageUpdate(), 2)


@pytest.mark.parametrize("action", ["edit", "retry", "continue"])
async def test_while_a_turn_runs_nothing_is_edited_or_tried_again(home: Path, action: str) -> None:
    gate = asyncio.Event()
    async with open_page(home, echo, echo, held(gate)) as page:
        conversation = await page.talk("one", "two")
        tab, first = Tab(conversation.session_id), conversation.questions()[0].message_id
        conversation.ask("slow please")
        with pytest.warns(UserWarning, match="A turn is running"):
            assert await last(act_in_chat(page.controller, action, first, tab, "tab")) == PageUpdate()
        with pytest.warns(UserWarning, match="A turn is running"):
            draft = Draft(tab.session_id, first, 3)
            assert await last(page.controller.send_again("one, but better", draft, tab, "tab")) == PageUpdate()
        gate.set()
        await conversation.wait()
        assert asked(conversation) == 3
        assert len(page.requests) == 3


async def test_a_folded_message_is_not_edited(home: Path) -> None:
    async with open_page(home, echo, echo, [text(SUMMARY)]) as page:
        conversation = await page.talk("The cellar key hangs behind the door. " * 300, "two")
        tab, first = Tab(conversation.session_id), conversation.questions()[0].message_id
        await say(page.assistant, conversation, "/compact")
        assert asked(conversation) == 1
        for act in (
            act_in_chat(page.controller, "edit", first, tab, "tab"),
            page.controller.send_again("one, but better", Draft(tab.session_id, first, 3), tab, "tab"),
        ):
            with pytest.warns(UserWarning, match="not in the context any more"):
                assert await last(act) == PageUpdate()


async def test_no_message_of_another_conversation_is_edited(page: OpenPage, draft: Draft) -> None:
    other = Tab((await page.talk("Other")).session_id)
    with pytest.warns(UserWarning, match="Nothing was done"):
        await last(act_in_chat(page.controller, "edit", draft.message_id, other, "tab"))
    with pytest.warns(UserWarning, match="Nothing was done"):
        update = await last(page.controller.send_again("one, but better", draft, other, "tab"))
    assert update["draft"] == Draft()


async def test_another_conversation_closes_the_box(page: OpenPage, tab: Tab) -> None:
    other = await page.talk("Other")
    updates = [update async for update in act_in_chat(page.controller, "open-session", other.session_id, tab, "tab")]
    assert updates[0]["draft"] == Draft()
    assert [update async for update in page.controller.start_new("tab")][0]["draft"] == Draft()
