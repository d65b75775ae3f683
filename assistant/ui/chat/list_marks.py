"""What the list of conversations says of those that do something now: a turn runs, or a call waits for the person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    # It brings the agent library with it, which the page does not wait for.
    from assistant.assembly.assistant import Assistant

MarkState = Literal["running", "waiting"]


@dataclass(frozen=True, slots=True)
class ListMark:
    """A conversation, and what it does."""

    session_id: str
    state: MarkState


def list_marks(assistant: Assistant) -> tuple[ListMark, ...]:
    """The marks of the conversations that are open in this process; one that is at rest has none."""
    marks: list[ListMark] = []
    for conversation in assistant.conversations.all_open():
        if conversation.is_running:
            marks.append(ListMark(conversation.session_id, "running"))
        elif conversation.is_waiting:
            marks.append(ListMark(conversation.session_id, "waiting"))
    return tuple(sorted(marks, key=lambda mark: mark.session_id))
