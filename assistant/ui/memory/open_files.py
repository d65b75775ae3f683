"""The memory file that each browser tab has open: as it stood on disk, and against the words in the editor."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, replace
from weakref import WeakValueDictionary

from assistant.memory.log import log_lines
from assistant.memory.notes import Note
from assistant.ui.memory.memory_list import SeenFile
from assistant.ui.recent_tabs import RecentTabs
from assistant.ui.server.loading import Loaded

# What ends a text for the page's script, too.
_SPACE = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    chr(code) for code in range(0x2000, 0x200B)
)


@dataclass(frozen=True, slots=True)
class OpenFile:
    """The file in the editor of one tab: how it stood on disk and what the editor was given. No name: none yet.

    `home` is the assistant in whose home it is. `shown_digest` is the version on disk that the person was shown.
    `listed` is the mark of the list as drawn.
    """

    name: str = ""
    home: Loaded | None = None
    base: str = ""
    base_digest: str = ""
    given: str = ""
    shown_digest: str = ""
    listed: str = ""
    state: str = ""
    has_history: bool = False
    month: str = ""
    since_ns: int = 0
    seen: tuple[SeenFile, ...] = ()


class OpenFiles:
    """Those of the tabs of one person; what one tab asks for is done one thing after the other."""

    def __init__(self) -> None:
        self._files = RecentTabs[OpenFile]()
        # A lock lives as long as somebody holds it or waits for it.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, tab_hash: str) -> asyncio.Lock:
        """Held from reading a tab's file to keeping it."""
        return self._locks.setdefault(tab_hash, asyncio.Lock())

    def of(self, tab_hash: str) -> OpenFile:
        """The file of a tab."""
        return self._files.get(tab_hash) or OpenFile()

    def keep(self, tab_hash: str, file: OpenFile) -> None:
        """Remember the file of a tab."""
        self._files.keep(tab_hash, file)

    def leave(self, tab_hash: str) -> None:
        """Forget a tab that was closed."""
        self._files.forget(tab_hash)


def opened_file(file: OpenFile, note: Note) -> OpenFile:
    """The same tab with this note in its editor."""
    return replace(
        file,
        name=note.name,
        base=note.text,
        base_digest=note.digest,
        shown_digest=note.digest,
        given=mark_of(note.text),
    )


def is_edited(file: OpenFile, words: str | None) -> bool:
    """True when the editor holds other words than it was given; it strips both ends of what it is given."""
    return bool(file.name) and words is not None and mark_of(words) != file.given


def as_file_text(words: str) -> str:
    """The editor's words as a file: one newline at the end, an empty file stays empty."""
    text = words.replace("\r\n", "\n").rstrip()
    return f"{text}\n" if text else ""


def disk_line(file: OpenFile, words: str | None, number: int) -> int | None:
    """The line of the opened file at a line of the editor; None for one not saved yet."""
    shown = (as_file_text(file.base.strip()) if words is None else words.replace("\r\n", "\n")).split("\n")
    if not 0 < number <= len(shown):
        return None
    lines = [line.rstrip("\n") for line in log_lines(file.base)]
    head = next((index for index, line in enumerate(lines) if line.strip()), 0)
    if not is_edited(file, words):
        return number + head
    wanted = shown[number - 1]
    places = [index for index, line in enumerate(lines, 1) if line == wanted]
    return min(places, key=lambda place: abs(place - head - number), default=None)


def mark_of(text: str) -> str:
    """The same that the page's script makes of the editor's words."""
    bare = text.replace("\r\n", "\n").replace("\r", "\n").strip(_SPACE)
    return hashlib.sha256(bare.encode("utf-8", "replace")).hexdigest()
