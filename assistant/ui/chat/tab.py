"""What one browser tab shows of the conversations."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.ui.chat.compactions_list import PAGE_SIZE
from assistant.ui.chat.transcript_window import Window


@dataclass(frozen=True, slots=True)
class Tab:
    """The conversation (empty: a new one) and the drawn part of it.

    `compactions` says how many of them are listed at most; `profile` answers in the new one (None: the default).
    """

    session_id: str = ""
    window: Window = Window()
    compactions: int = PAGE_SIZE
    profile: str | None = None
