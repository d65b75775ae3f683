"""Files that tabs have given and no message has taken yet: each is there until it is sent, removed or left."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Sequence
from pathlib import Path

from assistant.agent.attachments.file_reading import GivenFile
from assistant.config.words import say
from assistant.errors import AttachmentError
from assistant.ui.recent_tabs import RecentTabs

MAX_FILES_OF_MESSAGE = 10
"""Files that one message may take."""
MAX_STAGED_FILES = 40
"""Files of one person, in all tabs together, that wait to be sent."""


class StagedFiles:
    """The files of one person that wait to be sent: of each tab, by the names that it has for them."""

    def __init__(self) -> None:
        self._tabs = RecentTabs[dict[str, GivenFile]]()

    def refuse_more(self, tab_hash: str) -> None:
        """Raise `AttachmentError` where a tab or its person has as many files as may wait."""
        if len(self._of(tab_hash)) >= MAX_FILES_OF_MESSAGE:
            raise AttachmentError(say("attachments", "too_many", count=MAX_FILES_OF_MESSAGE))
        if sum(map(len, self._tabs.values())) >= MAX_STAGED_FILES:
            raise AttachmentError(say("attachments", "too_many_staged", count=MAX_STAGED_FILES))

    def add(self, tab_hash: str, file: GivenFile) -> str:
        """Keep a file of a tab, whose temporary folder is its own; the name by which the tab sends or removes it.

        Raises what `refuse_more` raises: others may have come while this one was read.
        """
        self.refuse_more(tab_hash)
        file_id = uuid.uuid4().hex
        self._tabs.keep(tab_hash, self._of(tab_hash) | {file_id: file})
        return file_id

    def chosen(self, tab_hash: str, file_ids: Sequence[str]) -> list[GivenFile]:
        """These files of a tab, in this order. Raises `AttachmentError` where one is not there any more."""
        files = self._of(tab_hash)
        missing = [file_id for file_id in file_ids if file_id not in files]
        if missing or len(file_ids) > MAX_FILES_OF_MESSAGE:
            raise AttachmentError(say("attachments", "gone"))
        return [files[file_id] for file_id in dict.fromkeys(file_ids)]

    def remove(self, tab_hash: str, file_ids: Sequence[str]) -> None:
        """Forget these files of a tab, those that are there."""
        files = self._of(tab_hash)
        for file_id in file_ids:
            if (file := files.pop(file_id, None)) is not None:
                remove_temporary(file.path)

    def leave(self, tab_hash: str) -> None:
        """Forget the files of a tab that was closed."""
        self.remove(tab_hash, list(self._of(tab_hash)))
        self._tabs.forget(tab_hash)

    def _of(self, tab_hash: str) -> dict[str, GivenFile]:
        return self._tabs.get(tab_hash) or {}


def remove_temporary(path: Path) -> None:
    """Take a file that came in off the disk, with the folder that was made for it."""
    shutil.rmtree(path.parent, ignore_errors=True)
