"""The list of conversations, newest first, under the days they were last used."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from assistant.ui.cards import action, card
from assistant.ui.safe_text import one_line
from assistant.ui.times import day_label, list_time

if TYPE_CHECKING:
    # It brings the agent library with it, which the page does not wait for.
    from assistant.sessions import SessionSummary

_MAX_SHOWN = 200


@dataclass(frozen=True, slots=True)
class _Item:
    session_id: str
    title: str
    when: str
    is_selected: bool


@dataclass(frozen=True, slots=True)
class _Group:
    label: str
    items: list[_Item]


def sessions_html(sessions: Sequence[SessionSummary], selected: str, now: dt.datetime) -> Markup:
    """The list; it also tells the page which conversation is open, so that a reload finds it again."""
    groups: list[_Group] = []
    for session in sessions[:_MAX_SHOWN]:
        label = day_label(session.updated_at, now)
        if not groups or groups[-1].label != label:
            groups.append(_Group(label, []))
        groups[-1].items.append(
            _Item(
                session.session_id,
                one_line(session.title, 80) or "New conversation",
                list_time(session.updated_at, now),
                session.session_id == selected,
            )
        )
    return card("sessions", groups=groups, selected=action("at", selected).rpartition("--")[2])
