"""Files that tabs have given and no message has taken yet: each is there until it is sent, removed or left."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assistant.agent.attachments.file_reading import GivenFile
from assistant.config.words import say
from assistant.errors import AttachmentError
from assistant.ui.recent_tabs import RecentTabs

MAX_FILES_OF_MESSAGE = 10
"""Files that one message may take."""
MAX_STAGED_FILES = 40
"""Files of one person, in all tabs together, that wait to be sent."""


@dataclass(slots=True)
class _Tab:
    """The files of one tab by their names here, and the folder they are in; both go together."""

    files: dict[str, GivenFile] = field(default_factory=dict[str, GivenFile])


class StagedFiles:
    """The files of one person that wait to be sent."""

    def __init__(self) -> None:
        self._tabs = RecentTabs[_Tab]()

    def refuse_more(self, tab_hash: str) -> None:
        """Raise `AttachmentError` where a tab or its person has as many files as may wait."""
        tab = self._tabs.get(tab_hash)
        if tab is not None and len(tab.files) >= MAX_FILES_OF_MESSAGE:
            raise AttachmentError(say("attachments", "too_many", count=MAX_FILES_OF_MESSAGE))
        if sum(len(one.files) for one in self._tabs.values()) >= MAX_STAGED_FILES:
            raise AttachmentError(say("attachments", "too_many_staged", count=MAX_STAGED_FILES))

    def add(self, tab_hash: str, file: GivenFile) -> str:
        """Keep a file of a tab, whose temporary folder is its own; the name by which the tab sends or removes it.

        Raises what `refuse_more` raises: others may have come while this one was read.
        """
        self.refuse_more(tab_hash)
        tab = self._tabs.get(tab_hash) or _Tab()
        self._tabs.keep(tab_hash, tab)
        file_id = uuid.uuid4().hex
        tab.files[file_id] = file
        return file_id

    def chosen(self, tab_hash: str, file_ids: Sequence[str]) -> list[GivenFile]:
        """These files of a tab, in this order. Raises `AttachmentError` where one is not there any more."""
        tab = self._tabs.get(tab_hash) or _Tab()
        missing = [file_id for file_id in file_ids if file_id not in tab.files]
        if missing or len(file_ids) > MAX_FILES_OF_MESSAGE:
            raise AttachmentError(say("attachments", "gone"))
        return [tab.files[file_id] for file_id in dict.fromkeys(file_ids)]

    def remove(self, tab_hash: str, file_ids: Sequence[str]) -> None:
        """Forget these files of a tab, those that are there."""
        tab = self._tabs.get(tab_hash) or _Tab()
        for file_id in file_ids:
            if (file := tab.files.pop(file_id, None)) is not None:
                remove_temporary(file.path)

    def leave(self, tab_hash: str) -> None:
        """Forget the files of a tab that was closed."""
        if (tab := self._tabs.get(tab_hash)) is not None:
            self.remove(tab_hash, list(tab.files))
        self._tabs.forget(tab_hash)


def remove_temporary(path: Path) -> None:
    """Take a file that came in off the disk, with the folder that was made for it."""
    shutil.rmtree(path.parent, ignore_errors=True)
