"""Files that the person attached, kept in the home: under `files/attached/`, where the file tools find them."""

from __future__ import annotations

import os
import re
import shutil
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from assistant.config.words import say
from assistant.errors import WorkspaceError
from assistant.storage.workspace import Workspace

MAX_NAME_CHARS = 100
"""Characters of a kept file's name, its ending among them; systems take 255 bytes."""
_UNSAFE = re.compile(r"[\x00-\x1f\x7f<>:\"/\\|?*`$&;]+")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


class Attachments:
    """The attached files of one home."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._folder = workspace.files_folder / "attached"

    def keep(self, name: str, source: Path) -> str:
        """Copy a file into the home under its name, or that name with a number; the path from the home."""
        target = self._new_file(safe_name(name))
        try:
            shutil.copyfile(source, target)
        except OSError:
            target.unlink(missing_ok=True)
            raise
        return target.relative_to(self._workspace.root).as_posix()

    def keep_text(self, name: str, text: str) -> str:
        """Write a text into the home under a name, or that name with a number; the path from the home."""
        target = self._new_file(safe_name(name))
        target.write_text(text, encoding="utf-8")
        return target.relative_to(self._workspace.root).as_posix()

    def _new_file(self, name: str) -> Path:
        """An empty file that was not there before."""
        self._folder.mkdir(parents=True, exist_ok=True)
        if self._folder.is_symlink():
            raise WorkspaceError(say("storage", "link_not_followed", name="files/attached"))
        for candidate in _names(name):
            path = self._folder / candidate
            try:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            except FileExistsError:
                continue
            return path
        raise AssertionError("names have no end")


def safe_name(name: str) -> str:
    """The last part of a path as a name that every system takes: no separator, no control character, not hidden."""
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    # What turns the direction of writing, and what cannot be seen, lets one name look like another.
    visible = "".join(character for character in last if unicodedata.category(character) not in ("Cf", "Cc", "Cs"))
    kept = _UNSAFE.sub("_", visible).strip(" .")
    stem, dot, ending = kept.rpartition(".")
    if dot and stem and len(ending) <= 10:
        kept = f"{stem[: MAX_NAME_CHARS - len(ending) - 1].rstrip()}.{ending}"
    kept = kept[:MAX_NAME_CHARS] or "file"
    while len(kept.encode()) > 2 * MAX_NAME_CHARS:
        kept = kept[1:]
    return f"_{kept}" if _RESERVED.fullmatch(kept) else kept


def _names(name: str) -> Iterator[str]:
    path = Path(name)
    yield name
    number = 2
    while True:
        yield f"{path.stem}-{number}{path.suffix}"
        number += 1
