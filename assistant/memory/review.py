"""What the person decided about lines that were proposed, and up to which day the notes were read for proposals."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from assistant.storage.atomic_io import hold_lock, replace_text
from assistant.text.passages import key_of


@dataclass(frozen=True, slots=True)
class _Review:
    until: str = ""
    declined: tuple[str, ...] = ()


_REVIEW: TypeAdapter[_Review] = TypeAdapter(_Review)


class Review:
    """The decisions of one home, kept as hashes: what was declined may hold what is to be forgotten."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def until(self) -> str:
        """The day up to which notes were read; empty before the first time."""
        return self._read().until

    def read_until(self, day: str) -> None:
        """The notes up to this day were read."""
        with hold_lock(self._path):
            self._write(_Review(day, self._read().declined))

    def decline(self, path: str, text: str) -> None:
        """This line is not to be proposed for the file again."""
        with hold_lock(self._path):
            review = self._read()
            self._write(_Review(review.until, tuple(dict.fromkeys([*review.declined, _mark(path, text)]))))

    def has_declined(self, path: str, text: str) -> bool:
        """True for a line that was declined for the file, whatever its marks and spaces."""
        return _mark(path, text) in self._read().declined

    def _read(self) -> _Review:
        try:
            return _REVIEW.validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            return _Review()

    def _write(self, review: _Review) -> None:
        content = {"until": review.until, "declined": review.declined}
        replace_text(self._path, f"{json.dumps(content, ensure_ascii=False, indent=1)}\n")


def _mark(path: str, text: str) -> str:
    return hashlib.sha256(f"{path}\n{key_of(text)}".encode("utf-8", "replace")).hexdigest()[:24]
