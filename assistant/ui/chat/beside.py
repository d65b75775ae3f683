"""What the page shows beside a conversation and can change while an answer streams."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.messages.events import ContextCompressed, ContextMeasured
from assistant.ui.chat.live import LiveView


@dataclass(frozen=True, slots=True)
class Beside:
    """Whether a turn runs, how full the context is, what was compacted."""

    is_running: bool = False
    measured: ContextMeasured | None = None
    compactions: tuple[ContextCompressed, ...] = ()

    @classmethod
    def of(cls, view: LiveView) -> Beside:
        """As it is now."""
        return cls(view.is_running, view.transcript.measured, view.transcript.compactions)
