"""Lines for memory that nobody said in so many words: they wait in the home until the person keeps or drops each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from assistant.memory.review import Review
from assistant.storage.atomic_io import hold_lock, replace_text
from assistant.text.known_secrets import NO_KNOWN_SECRETS, KnownSecrets

MAX_WAITING = 200
"""The oldest lines go where more would wait."""


@dataclass(frozen=True, slots=True)
class WaitingLine:
    """A line, where it would be written, and what it comes from; `source` is empty where only the model has it."""

    line_id: str
    path: str
    heading: str
    text: str
    source: str
    writer: str
    session_id: str
    at: str
    replaces: str | None = None


_LINES: TypeAdapter[tuple[WaitingLine, ...]] = TypeAdapter(tuple[WaitingLine, ...])


class WaitingLines:
    """The waiting lines of one home, oldest first. Safe to use from several processes."""

    def __init__(self, path: Path, known: KnownSecrets = NO_KNOWN_SECRETS) -> None:
        """The values of `known` never come into the file."""
        self._known = known
        self._path = path
        self.review = Review(path.with_name("memory_review.json"))
        """What was decided about lines that waited."""

    def all(self) -> tuple[WaitingLine, ...]:
        """Every line that waits; none where the file cannot be read."""
        try:
            return _LINES.validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            return ()

    def add(self, line: WaitingLine) -> bool:
        """Let a line wait, masked of secrets; False where the same line waits already, or was declined before."""
        masked = replace(line, text=self._known.mask_all(line.text).text)
        if self.review.has_declined(masked.path, masked.text):
            return False
        with hold_lock(self._path):
            known = self.all()
            if any((other.path, other.text) == (masked.path, masked.text) for other in known):
                return False
            self._write([*known, masked][-MAX_WAITING:])
        return True

    def take(self, line_id: str) -> WaitingLine | None:
        """The line of this id, which waits no longer; None where it is gone already."""
        with hold_lock(self._path):
            known = self.all()
            found = next((line for line in known if line.line_id == line_id), None)
            if found is not None:
                self._write([line for line in known if line is not found])
        return found

    def _write(self, lines: Sequence[WaitingLine]) -> None:
        text = json.dumps([asdict(line) for line in lines], ensure_ascii=False, indent=1)
        replace_text(self._path, f"{text}\n")
