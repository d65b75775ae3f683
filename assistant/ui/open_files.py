"""The memory file that each browser tab has open; what one tab asks for is done one thing after the other."""

from __future__ import annotations

import asyncio
from collections import defaultdict

from assistant.ui.memory_panel import OpenFile


class OpenFiles:
    """The tabs of one person."""

    def __init__(self) -> None:
        self._files: dict[str, OpenFile] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def lock(self, tab_hash: str) -> asyncio.Lock:
        """Held from reading a tab's file to keeping it."""
        return self._locks[tab_hash]

    def of(self, tab_hash: str) -> OpenFile:
        """The file of a tab."""
        return self._files.get(tab_hash, OpenFile())

    def keep(self, tab_hash: str, file: OpenFile) -> None:
        """Remember the file of a tab."""
        self._files[tab_hash] = file

    def leave(self, tab_hash: str) -> None:
        """Forget a tab that was closed."""
        self._files.pop(tab_hash, None)
        self._locks.pop(tab_hash, None)
