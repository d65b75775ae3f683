"""What each tab was drawn as a whole last, so that a drawing that never came, or was drawn over, is sent again.

Gradio's events of one tab come by two ways and overtake each other, and a connection that breaks takes some with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from assistant.ui.chat.tab import Tab
from assistant.ui.recent_tabs import RecentTabs

_SAID = re.compile(r"([0-9]{1,20})\.([0-9]{1,20})")


@dataclass(frozen=True, slots=True)
class Drawing:
    """The number under which a tab was sent all that it shows, and what that is."""

    number: int
    tab: Tab


@dataclass(frozen=True, slots=True)
class Showing:
    """What a tab says that it shows: the number of its drawing, and the version of its conversation."""

    drawing: int
    version: int


class Drawings:
    """Numbers the drawings of each tab, and hears from the tab which one it shows."""

    def __init__(self) -> None:
        self._newest = RecentTabs[Drawing]()
        self._late = RecentTabs[tuple[Showing, Showing]]()
        self._lost = RecentTabs[Tab]()

    def draw(self, tab_hash: str, tab: Tab) -> int:
        """The number of one more drawing."""
        newest = self._newest.get(tab_hash)
        number = 1 if newest is None else newest.number + 1
        self._newest.keep(tab_hash, Drawing(number, tab))
        self._lost.forget(tab_hash)
        return number

    def is_lost(self, tab_hash: str, shown: Showing | None, sent_version: int) -> bool:
        """Whether a tab says for the second time that it shows something else than it was sent since before the first.

        What is on its way for the first time may still come.
        """
        newest = self._newest.get(tab_hash)
        if newest is None or shown is None:
            return False
        sent = Showing(newest.number, sent_version)
        if shown.drawing == sent.drawing and shown.version >= sent.version:
            self._late.forget(tab_hash)
            return False
        is_second = self._late.get(tab_hash) == (shown, sent)
        self._late.keep(tab_hash, (shown, sent))
        if is_second:
            self._lost.keep(tab_hash, newest.tab)
        return is_second

    def take_lost(self, tab_hash: str) -> Tab | None:
        """What a tab was to show and does not, once; None where nothing is lost."""
        lost = self._lost.get(tab_hash)
        self._lost.forget(tab_hash)
        return lost

    def leave(self, tab_hash: str) -> None:
        """Forget a tab that was closed."""
        self._newest.forget(tab_hash)
        self._late.forget(tab_hash)
        self._lost.forget(tab_hash)


def showing_of(said: str) -> Showing | None:
    """What a tab says, `DRAWING.VERSION`; None where it says something else."""
    found = _SAID.fullmatch(said)
    return Showing(int(found[1]), int(found[2])) if found else None
