"""What the page shows beside a conversation and can change while an answer streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.messages.events import ContextCompressed, ContextMeasured
from assistant.ui.chat.list_marks import ListMark, list_marks
from assistant.ui.chat.live import LiveView

if TYPE_CHECKING:
    # It brings the agent library with it, which the page does not wait for.
    from assistant.assembly.assistant import Assistant


@dataclass(frozen=True, slots=True)
class Beside:
    """Whether a turn runs, how full the context is, what was compacted; what the list of conversations marks."""

    is_running: bool = False
    measured: ContextMeasured | None = None
    compactions: tuple[ContextCompressed, ...] = ()
    marks: tuple[ListMark, ...] = ()

    @classmethod
    def of(cls, view: LiveView, assistant: Assistant) -> Beside:
        """As it is now."""
        return cls(view.is_running, view.transcript.measured, view.transcript.compactions, list_marks(assistant))
