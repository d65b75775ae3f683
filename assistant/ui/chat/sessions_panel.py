"""The list of conversations, newest first, under the days they were last used, part by part; and the trash."""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from markupsafe import Markup

from assistant.config.words import say
from assistant.storage.sessions.session_head import SessionSummary
from assistant.ui.cards import action, card
from assistant.ui.chat.list_marks import ListMark, MarkState
from assistant.ui.chat.list_part import MONTH_CHARS, STEP, ListPart, on_top_and_rest, with_words
from assistant.ui.safe_text import one_line
from assistant.ui.times import day_label, list_time, month_text, parse_time

if TYPE_CHECKING:
    # It brings the agent library with it, which the page does not wait for.
    from assistant.assembly.assistant import Assistant

_MAX_SHOWN = 200
_TITLE_CHARS = 80


@dataclass(frozen=True, slots=True)
class SessionsChange:
    """What a button did: a dialog to show (None: leave it), a message to show, and the conversation to open.

    `trashed` is the conversation that went into the trash, which a moment's notice offers to take back.
    """

    dialog: str | None = None
    message: str = ""
    opened: str = ""
    message_ids: tuple[str, ...] = ()
    trashed: str = ""


@dataclass(frozen=True, slots=True)
class _Item:
    session_id: str
    title: str
    when: str
    is_selected: bool
    target: str = ""
    state: MarkState | None = None
    is_on_top: bool = False


@dataclass(frozen=True, slots=True)
class _Group:
    label: str
    items: list[_Item]


@dataclass(frozen=True, slots=True)
class _Year:
    label: str
    months: list[_Month]


@dataclass(frozen=True, slots=True)
class _Month:
    name: str
    label: str


@dataclass(frozen=True, slots=True)
class ListedSessions:
    """The list as it is; what a tab gets of it is the part that it shows.

    `selected` is the open conversation (empty: a new one); None while there is none yet.
    """

    sessions: Sequence[SessionSummary]
    selected: str | None
    now: dt.datetime
    trashed_count: int = 0
    marks: Sequence[ListMark] = ()

    def __str__(self) -> str:
        """What a new tab shows of it."""
        return self.html(ListPart())

    def html(self, part: ListPart) -> Markup:
        """One part; it also says to the page which conversation is open, so that a reload finds it again."""
        top, found = on_top_and_rest(with_words(self.sessions, part.words))
        # What went to the trash meanwhile must not leave an empty part.
        start = part.start if part.start < len(found) else 0
        drawn = found[start : start + part.count]
        return card(
            "sessions",
            groups=[*self._on_top(top), *self._open_elsewhere(part, [*top, *drawn]), *self._grouped(drawn)],
            selected=None if self.selected is None else action("at", self.selected).rpartition("--")[2],
            years=_years(self.sessions) if len(self.sessions) > STEP else [],
            words=part.words,
            newer=start,
            older=len(found) - start - len(drawn),
            trashed=self.trashed_count,
        )

    def _on_top(self, top: Sequence[SessionSummary]) -> list[_Group]:
        return [_Group(say("page", "on_top"), [self._item(one) for one in top])] if top else []

    def _open_elsewhere(self, part: ListPart, drawn: Sequence[SessionSummary]) -> list[_Group]:
        """The open conversation, where it stands in another part; a filter shows nothing but what it finds."""
        if part.words or any(session.session_id == self.selected for session in drawn):
            return []
        others = [session for session in self.sessions if session.session_id == self.selected]
        return [_Group(say("page", "open_now"), [self._item(one) for one in others])] if others else []

    def _grouped(self, drawn: Sequence[SessionSummary]) -> list[_Group]:
        groups: list[_Group] = []
        for session in drawn:
            label = day_label(session.updated_at, self.now)
            if not groups or groups[-1].label != label:
                groups.append(_Group(label, []))
            groups[-1].items.append(self._item(session))
        return groups

    def _item(self, session: SessionSummary) -> _Item:
        state = next((mark.state for mark in self.marks if mark.session_id == session.session_id), None)
        item = _item(session, self.now, session.session_id == self.selected)
        return replace(item, state=state, is_on_top=session.is_on_top)


def _years(sessions: Sequence[SessionSummary]) -> list[_Year]:
    """The months that have conversations, newest first, by year."""
    years: list[_Year] = []
    for month in dict.fromkeys(session.updated_at[:MONTH_CHARS] for session in sessions):
        first = parse_time(f"{month}-01")
        if first is None:
            continue
        if not years or years[-1].label != str(first.year):
            years.append(_Year(str(first.year), []))
        years[-1].months.append(_Month(month, month_text(first.date())))
    return years


def trash_html(
    trashed: Sequence[SessionSummary], now: dt.datetime, question: str = "", wanted: Sequence[str] = ()
) -> Markup:
    """The conversations in the trash; `question` is asked before it is emptied.

    `wanted` is a conversation that was searched for, and the messages found in it: it comes first.
    """
    first = [session for session in trashed if session.session_id in wanted[:1]]
    rest = [session for session in trashed if session.session_id not in wanted[:1]]
    items = [
        *(_item(session, now, True, " ".join(wanted)) for session in first),
        *(_item(session, now, False, session.session_id) for session in rest[:_MAX_SHOWN]),
    ]
    return card(
        "trash",
        items=items,
        hidden=max(0, len(rest) - _MAX_SHOWN),
        count=len(trashed),
        question=question,
        is_asked=bool(question),
        wanted=bool(first),
    )


async def rename(assistant: Assistant, target: str) -> SessionsChange:
    """Give a conversation another title."""
    session_id, _, title = target.partition(" ")
    if title.strip():
        assistant.conversations.rename(session_id, title)
    return SessionsChange()


async def pin(assistant: Assistant, target: str) -> SessionsChange:
    """Keep a conversation above the others."""
    assistant.conversations.put_on_top(target, True)
    return SessionsChange()


async def unpin(assistant: Assistant, target: str) -> SessionsChange:
    """Keep a conversation above the others no longer."""
    assistant.conversations.put_on_top(target, False)
    return SessionsChange()


async def move_to_trash(assistant: Assistant, target: str) -> SessionsChange:
    """Move a conversation to the trash."""
    await assistant.conversations.trash(target)
    return SessionsChange(trashed=target)


def trashed_toast(assistant: Assistant, session_id: str) -> str:
    """What says for a moment that a conversation is in the trash, and takes it back."""
    titles = [session.title for session in assistant.conversations.trashed() if session.session_id == session_id]
    title = one_line(titles[0], _TITLE_CHARS) if titles else ""
    text = say("page", "now_in_trash", title=title or say("page", "a_conversation"))
    # The same conversation again is a new notice.
    return str(card("toast", text=text, session_id=session_id, nonce=f"n{secrets.token_hex(4)}"))


async def restore(assistant: Assistant, target: str) -> SessionsChange:
    """Take a conversation out of the trash and open it."""
    session_id, *message_ids = target.split(" ")
    assistant.conversations.restore(session_id)
    return SessionsChange("", opened=session_id, message_ids=tuple(message_ids))


async def open_trash(assistant: Assistant, target: str = "") -> SessionsChange:
    """Show the trash."""
    return SessionsChange(str(trash_html(assistant.conversations.trashed(), dt.datetime.now(dt.UTC))))


async def ask_empty_trash(assistant: Assistant, target: str = "") -> SessionsChange:
    """Ask before the trash is emptied."""
    trashed, now = assistant.conversations.trashed(), dt.datetime.now(dt.UTC)
    return SessionsChange(str(trash_html(trashed, now, assistant.trash.question)))


async def empty_trash(assistant: Assistant, target: str) -> SessionsChange:
    """Empty the trash as it was when the person agreed; ask again where it has another number of conversations."""
    if target != str(len(assistant.conversations.trashed())):
        return await ask_empty_trash(assistant)
    return SessionsChange("", (await assistant.trash.empty()).text)


def found_in_trash(assistant: Assistant, session_id: str, message_ids: Sequence[str]) -> str:
    """The trash with the conversation of a hit first; empty when it is not in there."""
    trashed = assistant.conversations.trashed()
    if session_id not in {session.session_id for session in trashed}:
        return ""
    return str(trash_html(trashed, dt.datetime.now(dt.UTC), wanted=[session_id, *message_ids]))


def _item(session: SessionSummary, now: dt.datetime, is_selected: bool, target: str = "") -> _Item:
    title = one_line(session.title, _TITLE_CHARS) or say("page", "new_conversation")
    return _Item(session.session_id, title, list_time(session.updated_at, now), is_selected, target)
