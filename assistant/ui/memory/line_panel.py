"""The card of one line: who wrote it, when, in which conversation, and what it replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from assistant.config.words import say
from assistant.memory.log import MemoryChange
from assistant.memory.provenance import LineOrigin
from assistant.storage.sessions.session_head import SessionSummary
from assistant.ui.cards import card
from assistant.ui.memory.writers import writer_label
from assistant.ui.safe_text import one_line
from assistant.ui.times import full_time

_MAX_REPLACED = 8


@dataclass(frozen=True, slots=True)
class _Written:
    writer: str
    when: str
    title: str
    target: str


def origin_html(name: str, number: int, text: str, origin: LineOrigin, sessions: Sequence[SessionSummary]) -> Markup:
    """Where a line comes from; the conversation is a link where it is still there."""
    return card(
        "line_origin",
        name=name,
        number=number,
        text=text.strip(),
        written=_written(origin.change, origin.writer, sessions),
        first=_written(origin.first, origin.first.writer, sessions) if origin.first else None,
        replaced=origin.replaced[:_MAX_REPLACED],
        hidden=max(0, len(origin.replaced) - _MAX_REPLACED),
        change_id=origin.change.change_id,
    )


def _written(change: MemoryChange, writer: str, sessions: Sequence[SessionSummary]) -> _Written:
    session = next((known for known in sessions if known.session_id == change.session_id), None)
    title, target = "", ""
    if session is not None:
        title = one_line(session.title, 80) or say("page", "new_conversation")
        places = [change.session_id, change.change_id, change.compaction_id, change.turn_id]
        target = " ".join(place for place in places if place)
    elif change.session_id:
        title = say("page", "conversation_gone")
    return _Written(writer_label(writer), full_time(change.at), title, target)
