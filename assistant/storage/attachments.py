"""Files that the person attached, kept in the home: under `files/attached/`, where the file tools find them.

What a model is sent of a picture, and the page shows, is a copy in `pictures/`.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import unicodedata
import uuid
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from assistant.config.words import say
from assistant.errors import AttachmentError, WorkspaceError
from assistant.messages.attached import AttachedFile
from assistant.storage.atomic_io import read_plain_file, replace_file
from assistant.storage.workspace import Workspace
from assistant.text.encoding import encode
from assistant.text.passages import FORGOTTEN_MARK

MAX_NAME_CHARS = 100
"""Characters of a kept file's name, its ending among them; systems take 255 bytes."""
_ENDINGS = {"image/png": "png", "image/jpeg": "jpg"}
_PICTURE_NAME = re.compile(r"[0-9a-f]{32}\.(?:png|jpg)")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f<>:\"/\\|?*`$&;]+")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


class Attachments:
    """The attached files of one home."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._folder = workspace.attached_folder
        self._made: list[Path] = []

    @contextmanager
    def all_or_none(self) -> Generator[None]:
        """What is kept within is deleted again where not all of it can be kept."""
        self._made = []
        try:
            yield
        except BaseException:
            for path in self._made:
                path.unlink(missing_ok=True)
            raise

    def keep(self, name: str, source: Path) -> str:
        """Copy a file into the home under its name, or that name with a number; the path from the home.

        Raises `AttachmentError` where it is not there any more.
        """
        if not source.is_file():
            raise AttachmentError(say("attachments", "gone"))
        target = self._new_file(safe_name(name))
        shutil.copyfile(source, target)
        return target.relative_to(self._workspace.root).as_posix()

    def keep_picture(self, content: bytes, media_type: str) -> str:
        """Keep what a model is sent of a picture; the name it is found by."""
        name = f"{uuid.uuid4().hex}.{_ENDINGS[media_type]}"
        self._workspace.pictures_folder.mkdir(exist_ok=True, mode=0o700)
        path = self._workspace.pictures_folder / name
        replace_file(path, content)
        self._made.append(path)
        return name

    def picture(self, name: str) -> bytes | None:
        """The picture of this name; None where there is none, or none any more."""
        if not _PICTURE_NAME.fullmatch(name):
            return None
        try:
            return read_plain_file(self._workspace.pictures_folder / name)
        except OSError:
            return None

    def remove_picture(self, name: str) -> None:
        """Delete a picture, if it is there."""
        if _PICTURE_NAME.fullmatch(name):
            (self._workspace.pictures_folder / name).unlink(missing_ok=True)

    def remove(self, file: AttachedFile) -> None:
        """Delete what is kept of a file; one that was changed since is the person's and stays."""
        kept = self._kept(file.kept)
        if kept is not None and kept.stat().st_size != file.size_bytes and not _is_marked(kept):
            return
        for path in filter(None, (kept, self._kept(file.kept_text))):
            path.unlink(missing_ok=True)

    def _kept(self, name: str) -> Path | None:
        """The file of a path from the home; None where no attached file is there. A name may come from anywhere."""
        path = self._workspace.root / name
        if path.parent != self._folder or "\\" in name or self._folder.is_symlink():
            return None
        try:
            return path if stat.S_ISREG(path.lstat().st_mode) else None
        except (OSError, ValueError):
            return None

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
            self._made.append(path)
            return path
        raise AssertionError("names have no end")


def _is_marked(path: Path) -> bool:
    """True where something was forgotten in a text, which is no change by a person."""
    return encode(FORGOTTEN_MARK) in read_plain_file(path)


def picture_type(name: str) -> str:
    """The media type of a picture of this name."""
    return next(media_type for media_type, ending in _ENDINGS.items() if name.endswith(ending))


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
