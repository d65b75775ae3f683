"""Which part of a long conversation is drawn, and where a search or a button leads in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assistant.ui.chat.entries import CompactionEntry, Entry, MemoryEntry, Transcript, UserEntry

MAX_WINDOW = 1_000
"""Entries that are drawn at most."""
_OVERLAP = 20
"""Entries that stay drawn when the window moves, so that the line one reads stays where it is."""


@dataclass(frozen=True, slots=True)
class Window:
    """Which entries are drawn: `size` of them up to `end` (not included), or up to the newest where it is None."""

    size: int = 200
    end: int | None = None

    def bounds(self, count: int) -> tuple[int, int]:
        """The first entry of `count` that is drawn, and the first one behind the drawn ones."""
        stop = count if self.end is None else min(self.end, count)
        return max(0, stop - self.size), stop


@dataclass(frozen=True, slots=True)
class Place:
    """An entry to show, and the window it is drawn in."""

    window: Window
    entry: int


def earlier_window(transcript: Transcript, window: Window) -> Window:
    """The window with more of what came before; once it is as large as it may be, it moves."""
    if window.size < MAX_WINDOW:
        return replace(window, size=window.size + Window().size)
    start, _ = window.bounds(len(transcript.entries))
    return Window(end=start + _OVERLAP)


def place_of_folded(transcript: Transcript, window: Window, compaction_id: str) -> Place | None:
    """Where the messages begin that a compaction folded; None where there is no such compaction."""
    entries = transcript.entries
    index = next((at for at, entry in enumerate(entries) if compaction_id in _names_of(entry)), None)
    if index is None:
        return None
    earlier = [at for at, entry in enumerate(entries[:index]) if _is_standing(entry)]
    begin = earlier[-1] + 1 if earlier else 0
    return Place(_window_with(window, begin, index + 1, len(entries)), begin)


def place_of_message(entries: Sequence[Entry], message_ids: Sequence[str]) -> Place | None:
    """Where the first of these is, in a window that ends with its answer; None where none of them is drawn.

    Beside a message its id may be that of a compaction or of a change to memory.
    """
    places = {name: index for index, entry in enumerate(entries) for name in _names_of(entry)}
    start = next((places[message_id] for message_id in message_ids if message_id in places), None)
    if start is None:
        return None
    questions = (index for index, entry in enumerate(entries) if isinstance(entry, UserEntry))
    end = next((index for index in questions if index > start), len(entries))
    return Place(_window_with(Window(), start, end, len(entries)), start)


def _window_with(window: Window, start: int, end: int, count: int) -> Window:
    first, stop = window.bounds(count)
    if first <= start and end <= stop:
        return window
    # A question that did not fit beside its own long answer could not be shown.
    size = min(max(Window().size, end - start), MAX_WINDOW)
    end = min(end, start + size)
    return Window(size) if end >= count else Window(size, end)


def _is_standing(entry: Entry) -> bool:
    return isinstance(entry, CompactionEntry) and not entry.event.is_undone


def _names_of(entry: Entry) -> list[str]:
    match entry:
        case UserEntry(message_id=message_id):
            return [message_id]
        case CompactionEntry(event=event):
            return [event.compaction_id]
        case MemoryEntry(changes=changes):
            return [change.change_id for change in changes]
        case _:
            return []
