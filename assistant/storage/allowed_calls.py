"""What the person allowed for longer than one call: each allowance, and the file of the home with those that stay."""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from assistant.config.words import say
from assistant.storage.atomic_io import hold_lock, replace_text
from assistant.text.passages import FORGOTTEN_MARK

MAX_KEPT = 500
"""The oldest allowances go where more would be kept; what they allowed asks again."""

SEARCHING_TOOLS = ("Glob", "Grep")
"""They go down from the folder they are given."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Extent:
    """What exactly is allowed: one command to the letter, or one file tool in one folder.

    `folder` is absolute, with every link followed: where the command starts, or where the tool's file or search is.
    """

    tool: str
    folder: str
    command: str = ""

    @property
    def text(self) -> str:
        """The extent in words for the person; of a command without its text, which stands beside it."""
        if self.tool == "Bash":
            return say("storage", "extent_command", folder=self.folder)
        key = "extent_search" if self.tool in SEARCHING_TOOLS else "extent_folder"
        return say("storage", key, tool=self.tool, folder=self.folder)


@dataclass(frozen=True, slots=True)
class Allowance:
    """An extent that is not asked about, and since when (ISO time, zone-aware)."""

    allowance_id: str
    extent: Extent
    at: str

    @property
    def is_whole(self) -> bool:
        """False where a part of it was forgotten: it then allows nothing."""
        return FORGOTTEN_MARK not in f"{self.extent.folder}{self.extent.command}"


def new_allowance(extent: Extent, at: str) -> Allowance:
    """An allowance with an id of its own."""
    return Allowance(uuid.uuid4().hex[:8], extent, at)


def covering(extent: Extent, allowances: Sequence[Allowance]) -> Allowance | None:
    """The oldest allowance of this very extent; one that is alike, or around it, is none."""
    return next((one for one in allowances if one.is_whole and one.extent == extent), None)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    allowed: tuple[Allowance, ...] = ()


class AllowedCalls:
    """The allowances of one home that stay until they are revoked. Safe to use from several processes and threads.

    The file is read at each question, so that a change by another process counts at once.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._guard = threading.Lock()
        self._is_damage_told = False

    def all(self) -> tuple[Allowance, ...]:
        """Every allowance, oldest first; none where the file cannot be read."""
        read = self._read()
        return read.allowed if read else ()

    def add(self, extent: Extent, at: str) -> Allowance:
        """Allow this from now on; what was allowed already stays as it is.

        A file that cannot be read is put aside. Raises `OSError` or `WorkspaceError` where nothing can be written.
        """
        with self._guard, hold_lock(self._path):
            read = self._read()
            if read is None:
                self._path.replace(self._path.with_name(f"{self._path.name}.damaged"))
            known = read.allowed if read else ()
            if found := covering(extent, known):
                return found
            added = new_allowance(extent, at)
            self._write((*known, added)[-MAX_KEPT:])
        return added

    def revoke(self, allowance_id: str) -> bool:
        """Ask about it again from now on; False where nothing of this id is allowed."""
        with self._guard, hold_lock(self._path):
            known = self.all()
            left = tuple(one for one in known if one.allowance_id != allowance_id)
            if len(left) != len(known):
                self._write(left)
        return len(left) != len(known)

    @property
    def damaged_name(self) -> str:
        """The name of the file where it cannot be read; empty otherwise."""
        return "" if self._read() else self._path.name

    def take_damage(self) -> str | None:
        """The name of the file where it cannot be read and that was not told yet; None otherwise."""
        name = self.damaged_name
        was_told, self._is_damage_told = self._is_damage_told, bool(name)
        return None if was_told else name or None

    def _read(self) -> _File | None:
        try:
            return _File.model_validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return _File()
        except (OSError, ValidationError) as error:
            log.warning("%s cannot be read: %s", self._path.name, type(error).__name__)
            return None

    def _write(self, allowed: tuple[Allowance, ...]) -> None:
        replace_text(self._path, f"{_File(allowed=allowed).model_dump_json(indent=1)}\n")
