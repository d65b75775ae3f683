"""A conversation is renamed, moved to the trash, restored and deleted for good from the list."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from assistant.errors import SessionNotFoundError
from assistant.storage.sessions.sessions import SessionSummary
from assistant.ui.actions import act_in_chat
from assistant.ui.cards import action
from assistant.ui.chat.chat_controller import ChatController
from assistant.ui.chat.sent_transcripts import DrawnTranscript
from assistant.ui.chat.sessions_panel import sessions_html, trash_html
from assistant.ui.chat.tab import Tab
from tests.fakes.past import write_past
from tests.ui.open_page import OpenPage, last, open_page

NOW = dt.datetime(2026, 11, 30, 14, 5, tzinfo=dt.UTC)
QUESTION = "Delete 1 conversation for good?"


@pytest.fixture
async def page(home: Path) -> AsyncGenerator[OpenPage]:
    """The page of two conversations, the newer one about the dentist."""
    async with open_page(home) as page:
        write_past(page.assistant.store, "trip", "Lisbon trip", 3)
        write_past(page.assistant.store, "s1", "Dentist")
        yield page


@pytest.fixture
def controller(page: OpenPage) -> ChatController:
    """Its centre."""
    return page.controller


async def test_a_new_title_stands_in_the_list_and_over_the_conversation(controller: ChatController) -> None:
    shown = await last(act_in_chat(controller, "rename-session", "s1 Teeth, on Friday", Tab("s1"), "tab"))
    assert "Teeth, on Friday" in str(shown["sessions"])
    assert "Teeth, on Friday" in str(shown["top"])


async def test_an_empty_title_changes_nothing(controller: ChatController) -> None:
    assert ">Dentist<" in str(
        (await last(act_in_chat(controller, "rename-session", "s1  ", Tab("s1"), "tab")))["sessions"]
    )


async def test_what_is_open_and_goes_to_the_trash_leaves_a_new_conversation(controller: ChatController) -> None:
    shown = await last(act_in_chat(controller, "trash-session", "s1", Tab("s1"), "tab"))
    assert isinstance(shown["tab"], Tab)
    assert shown["tab"].session_id == ""
    assert ">Dentist<" not in str(shown["sessions"])
    assert "Trash (1)" in str(shown["sessions"])


async def test_another_conversation_goes_to_the_trash_without_a_change_of_place(controller: ChatController) -> None:
    shown = await last(act_in_chat(controller, "trash-session", "trip", Tab("s1"), "tab"))
    assert isinstance(shown["tab"], Tab)
    assert shown["tab"].session_id == "s1"
    assert "Lisbon trip" not in str(shown["sessions"])


async def test_a_conversation_is_restored_and_opened(controller: ChatController) -> None:
    await last(act_in_chat(controller, "trash-session", "trip", Tab("s1"), "tab"))
    opened = await last(act_in_chat(controller, "open-trash", "", Tab("s1"), "tab"))
    assert action("restore-session", "trip") in str(opened["dialog"])
    shown = await last(act_in_chat(controller, "restore-session", "trip", Tab("s1"), "tab"))
    assert isinstance(shown["tab"], Tab)
    assert (shown["tab"].session_id, shown["dialog"]) == ("trip", "")


async def test_the_trash_is_emptied_after_one_question_that_says_how_many(
    controller: ChatController, page: OpenPage, capsys: pytest.CaptureFixture[str]
) -> None:
    await last(act_in_chat(controller, "trash-session", "trip", Tab("s1"), "tab"))
    asked = await last(act_in_chat(controller, "ask-empty-trash", "", Tab("s1"), "tab"))
    assert QUESTION in str(asked["dialog"])
    assert action("empty-trash", "1") in str(asked["dialog"])
    done = await last(act_in_chat(controller, "empty-trash", "1", Tab("s1"), "tab"))
    assert "1 conversation is gone for good" in capsys.readouterr().out
    assert (done["dialog"], page.assistant.conversations.trashed()) == ("", [])


async def test_a_trash_that_grew_since_the_question_is_asked_about_again(
    controller: ChatController, page: OpenPage
) -> None:
    await last(act_in_chat(controller, "trash-session", "trip", Tab("s1"), "tab"))
    asked = await last(act_in_chat(controller, "empty-trash", "7", Tab("s1"), "tab"))
    assert QUESTION in str(asked["dialog"])
    assert [session.session_id for session in page.assistant.conversations.trashed()] == ["trip"]


async def test_a_hit_in_the_trash_offers_to_restore_and_open_its_message(controller: ChatController) -> None:
    await last(act_in_chat(controller, "trash-session", "trip", Tab("s1"), "tab"))
    found = await last(act_in_chat(controller, "open-message", "trip trip-1-question", Tab("s1"), "tab"))
    assert "Restore it to read it" in str(found["dialog"])
    assert action("restore-session", "trip trip-1-question") in str(found["dialog"])
    shown, *_ = [
        one async for one in act_in_chat(controller, "restore-session", "trip trip-1-question", Tab("s1"), "tab")
    ]
    drawn = shown["transcript"]
    assert isinstance(drawn, DrawnTranscript)
    [found] = [node for node in drawn.nodes if node.key == drawn.show]
    assert "Question 1" in str(found)


@pytest.mark.parametrize("name", ["rename-session", "trash-session", "restore-session"])
async def test_an_unknown_conversation_is_refused(controller: ChatController, name: str) -> None:
    with pytest.raises(SessionNotFoundError):
        await last(act_in_chat(controller, name, "none x", Tab("s1"), "tab"))


def test_titles_are_shown_as_text() -> None:
    hostile = [SessionSummary("a", "owner", "<b>x</b>", "2026-11-30T13:00:00+00:00", has_file=True)]
    for html in (sessions_html(hostile, "a", NOW, 1), trash_html(hostile, NOW, "<i>?")):
        assert "<b>x" not in html
        assert "<i>" not in html


def test_very_many_conversations_are_counted_and_not_drawn() -> None:
    many = [
        SessionSummary(str(number), "owner", "", "2026-11-30T13:00:00+00:00", has_file=True) for number in range(250)
    ]
    assert "50 older ones" in sessions_html(many, "", NOW)
    assert "50 older ones" in trash_html(many, NOW)
    assert "The trash is empty" in trash_html([], NOW)
