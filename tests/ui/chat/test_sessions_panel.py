"""A conversation is renamed, moved to the trash, restored and deleted for good from the list."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import AsyncGenerator
from functools import partial
from pathlib import Path

import pytest

from assistant.errors import SessionNotFoundError
from assistant.storage.sessions.early_list import listed_by_files
from assistant.storage.sessions.session_head import SessionSummary
from assistant.ui.actions import act_in_chat
from assistant.ui.cards import action
from assistant.ui.chat.chat_controller import ChatController
from assistant.ui.chat.list_marks import ListMark
from assistant.ui.chat.list_part import STEP, ListPart, from_month, named, newer, older, with_words
from assistant.ui.chat.live import LiveViews
from assistant.ui.chat.sent_transcripts import DrawnTranscript
from assistant.ui.chat.sessions_panel import ListedSessions, trash_html
from assistant.ui.chat.tab import Tab
from assistant.ui.server.loading import Loaded, Loading
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


@pytest.mark.parametrize("name", ["rename-session", "pin-session", "unpin-session", "trash-session", "restore-session"])
async def test_an_unknown_conversation_is_refused(controller: ChatController, name: str) -> None:
    with pytest.raises(SessionNotFoundError):
        await last(act_in_chat(controller, name, "none x", Tab("s1"), "tab"))


def test_titles_are_shown_as_text() -> None:
    hostile = [SessionSummary("a", "owner", "<b>x</b>", "2026-11-30T13:00:00+00:00", has_file=True)]
    for html in (str(ListedSessions(hostile, "a", NOW, 1)), trash_html(hostile, NOW, "<i>?")):
        assert "<b>x" not in html
        assert "<i>" not in html


def test_very_many_in_the_trash_are_counted_and_not_drawn() -> None:
    many = [
        SessionSummary(str(number), "owner", "", "2026-11-30T13:00:00+00:00", has_file=True) for number in range(250)
    ]
    assert "50 older ones" in trash_html(many, NOW)
    assert "The trash is empty" in trash_html([], NOW)


def of_many_months(count: int = 450) -> list[SessionSummary]:
    """Conversations c0, c1, … newest first, one every five days."""
    moments = [NOW - dt.timedelta(days=5 * number) for number in range(count)]
    return [
        SessionSummary(f"c{number}", "owner", f"Talk {number}", moment.isoformat(), has_file=True)
        for number, moment in enumerate(moments)
    ]


def drawn(html: str) -> list[str]:
    """The titles of the drawn conversations, in order."""
    return re.findall(r'p-session-title">([^<]*)<', html)


def headings(html: str) -> list[str]:
    """What the conversations stand under."""
    return re.findall(r'p-heading">([^<]*)<', html)


def talks(start: int, stop: int) -> list[str]:
    return [f"Talk {number}" for number in range(start, stop)]


def test_a_list_that_is_short_has_no_filter_no_months_and_nothing_more() -> None:
    html = str(ListedSessions(of_many_months(STEP), "c0", NOW))
    assert drawn(html) == talks(0, STEP)
    assert not any(mark in html for mark in ("p-long", "p-month", "p-list-more"))


def test_a_long_list_is_drawn_part_by_part_and_never_longer_than_two_hundred() -> None:
    listed, part = ListedSessions(of_many_months(), "c0", NOW), ListPart()
    parts = [part := older(part) for _ in range(8)]
    assert drawn(str(listed)) == talks(0, 50)
    assert "Older (400)" in str(listed)
    assert [drawn(listed.html(one))[-200:] for one in parts[:3]] == [talks(0, 100), talks(0, 150), talks(0, 200)]
    assert drawn(listed.html(parts[3])) == ["Talk 0", *talks(50, 250)]
    assert "Newer (50)" in listed.html(parts[3])
    assert drawn(listed.html(parts[7])) == ["Talk 0", *talks(250, 450)]
    assert "Older (" not in listed.html(parts[7])
    assert drawn(listed.html(newer(parts[3]))) == talks(0, 200)


def test_a_jump_to_a_month_begins_there_and_an_unknown_one_at_the_newest() -> None:
    sessions = of_many_months()
    listed = ListedSessions(sessions, "c0", NOW)
    html = listed.html(from_month("2024-02", sessions))
    assert headings(html)[:3] == ["Open now", "February 2024", "January 2024"]
    assert drawn(html)[1] == next(one.title for one in sessions if one.updated_at.startswith("2024-02"))
    assert from_month("1999-01", sessions) == from_month("<b>", sessions) == ListPart()
    assert 'value="2024-02"' in str(listed)
    assert 'value="1999-01"' not in str(listed)


def test_the_filter_finds_in_all_titles_by_every_word_in_any_case() -> None:
    sessions = of_many_months()
    listed = ListedSessions(sessions, "c0", NOW)
    assert drawn(listed.html(named("  44  tALK "))) == ["Talk 44", "Talk 144", "Talk 244", "Talk 344", *talks(440, 450)]
    assert "No title has these words" in listed.html(named("nowhere"))
    assert drawn(listed.html(named("   "))) == talks(0, 50)
    assert "<b>" not in listed.html(named("<b>x"))


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Cafe\u0301 in Lisboa", "café"),
        ("Café in Lisboa", "cafe\u0301"),
        ("ＡＢＣ 计划", "abc"),
        ("ab (c.*) [x]", "(c.*) [x"),
        ("Straße", "STRASSE"),
        ("给 👩‍🚀 的信", "👩‍🚀"),
    ],
)
def test_the_filter_takes_words_as_people_and_systems_write_them(title: str, words: str) -> None:
    found, other = [SessionSummary(one, "owner", one, "2026-01-01", has_file=True) for one in (title, "Talk")]
    assert with_words([found, other], words) == [found]


def test_what_is_on_top_stands_above_the_days_in_every_part() -> None:
    sessions = [one._replace(is_on_top=one.session_id in ("c60", "c100")) for one in of_many_months(120)]
    listed = ListedSessions(sessions, "c0", NOW)
    assert headings(str(listed))[:2] == ["Pinned", "Today"]
    assert drawn(str(listed)) == ["Talk 60", "Talk 100", *talks(0, 50)]
    assert "Older (68)" in str(listed)
    later = listed.html(from_month("2025-05", sessions))
    assert headings(later)[:3] == ["Pinned", "Open now", "May 2025"]
    assert drawn(listed.html(named("60"))) == ["Talk 60"]


async def test_a_conversation_goes_on_top_and_back_from_its_menu(controller: ChatController) -> None:
    shown = await last(act_in_chat(controller, "pin-session", "trip", Tab("s1"), "tab"))
    assert drawn(str(shown["sessions"])) == ["Lisbon trip", "Dentist"]
    assert headings(str(shown["sessions"])) == ["Pinned", "Today"]
    shown = await last(act_in_chat(controller, "unpin-session", "trip", Tab("s1"), "tab"))
    assert headings(str(shown["sessions"])) == ["Today"]


def test_a_part_that_the_list_does_not_reach_any_more_begins_at_the_newest() -> None:
    assert drawn(ListedSessions(of_many_months(60), "", NOW).html(ListPart(start=400))) == talks(0, 50)


def test_times_that_cannot_be_read_stand_last_and_in_no_month() -> None:
    broken = SessionSummary("x", "owner", "Broken", "not a time", has_file=True)
    html = str(ListedSessions([*of_many_months(49), broken], "", NOW).html(ListPart(count=100)))
    assert (headings(html)[-1], drawn(html)[-1]) == ("Earlier", "Broken")
    assert "not a t" not in str(ListedSessions([*of_many_months(60), broken], "", NOW))


async def test_a_tab_keeps_its_part_of_the_list_through_what_changes_it(
    controller: ChatController, page: OpenPage
) -> None:
    for number in range(60):
        write_past(page.assistant.store, f"more{number}", f"Planned {number}")

    async def shown(name: str, target: str, tab_hash: str = "tab") -> list[str]:
        update = await last(act_in_chat(controller, name, target, Tab("s1"), tab_hash))
        return drawn(str(controller.sent(update, tab_hash)["sessions"]))

    assert len(await shown("list-older", "")) == 62
    assert len(await shown("rename-session", "trip Lisbon again")) == 62
    assert "Lisbon again" in await shown("list-named", "lisbon AGAIN")
    assert await shown("trash-session", "more3") == ["Lisbon again"]
    assert len(await shown("rename-session", "trip Lisbon", "another tab")) == 51
    assert len(await shown("list-named", "")) == 51
    controller.leave("tab")
    assert len(await shown("list-newest", "")) == 51


async def test_the_list_is_there_before_the_assistant_is_and_leaves_the_address_alone(page: OpenPage) -> None:
    loading, views = Loading(), LiveViews()
    loading.foresee(partial(listed_by_files, page.assistant.workspace.root))
    controller = ChatController(loading, views)
    updates = controller.load("trip", "tab")
    await anext(updates)
    early = str(controller.sent(await anext(updates), "tab")["sessions"])
    loading.finish(Loaded(page.assistant, len))
    later = str(controller.sent(await anext(updates), "tab")["sessions"])
    assert drawn(early) == drawn(later) == ["Dentist", "Lisbon trip"]
    assert ("p-address" in early, "p-address" in later) == (False, True)
    await views.close()


async def test_a_home_with_nothing_to_list_waits_for_its_assistant(page: OpenPage, tmp_path: Path) -> None:
    loading, views = Loading(), LiveViews()
    loading.foresee(partial(listed_by_files, tmp_path / "nowhere"))
    updates = ChatController(loading, views).load("", "tab")
    assert "sessions" not in await anext(updates)
    loading.finish(Loaded(page.assistant, len))
    assert drawn(str((await anext(updates))["sessions"])) == ["Dentist", "Lisbon trip"]
    await views.close()


def test_a_conversation_that_runs_or_waits_is_marked_in_words_and_no_other() -> None:
    marks = (ListMark("c1", "running"), ListMark("c2", "waiting"))
    html = str(ListedSessions(of_many_months(4), "c0", NOW, 0, marks))
    assert re.findall('role="img" aria-label="([^"]*)"', html) == [
        "An answer is being written",
        "Waits for your approval",
    ]
