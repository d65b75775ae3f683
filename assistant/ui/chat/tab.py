"""What one browser tab shows of the conversations."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.ui.chat.compactions_list import PAGE_SIZE
from assistant.ui.chat.transcript_window import Window


@dataclass(frozen=True, slots=True)
class Tab:
    """The conversation (empty: a new one), the drawn part and the version of it.

    `compactions` says how many of them are listed at most.
    """

    session_id: str = ""
    window: Window = Window()
    shown: int = -1
    compactions: int = PAGE_SIZE
