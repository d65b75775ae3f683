"""What was forgotten, as hashes: no model writes it down again, unless the person says it again."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from assistant.storage.atomic_io import hold_lock, replace_text
from assistant.text.passages import fold, key_of, passages_of


@dataclass(slots=True)
class _Known:
    """Hashes of passages and when each was forgotten; `salt` keeps the hashes of two homes apart."""

    salt: str = ""
    passages: dict[str, str] = field(default_factory=dict[str, str])


_KNOWN: TypeAdapter[_Known] = TypeAdapter(_Known)


class ForgottenLines:
    """The passages of one home that were forgotten. Safe to use from several processes."""

    def __init__(self, path: Path, said_since: Callable[[str], Iterable[str]]) -> None:
        """`said_since` tells what the person said after a time."""
        self._path = path
        self._said_since = said_since

    def add(self, keys: Iterable[str], at: str) -> None:
        """Note that these passages were forgotten; `at` is zone-aware."""
        with hold_lock(self._path):
            known = self._read()
            known.salt = known.salt or secrets.token_hex(16)
            known.passages |= {_digest(known, key): at for key in keys}
            self._write(known)

    def lift(self, text: str) -> None:
        """The person says it again: from now on it is a fact like any other."""
        if not self._path.exists():
            return
        with hold_lock(self._path):
            known = self._read()
            lifted = {_digest(known, passage.key) for passage in passages_of(text)} & known.passages.keys()
            for digest in lifted:
                del known.passages[digest]
            if lifted:
                self._write(known)

    def without_forgotten(self, lines: list[str]) -> list[str]:
        """The lines without those that hold a passage which was forgotten and which the person has not said since."""
        if not self._path.exists():
            return lines
        known = self._read()
        return [line for line in lines if not self._is_forgotten(known, line)]

    def _is_forgotten(self, known: _Known, line: str) -> bool:
        for passage in passages_of(line):
            at = known.passages.get(_digest(known, passage.key))
            if at is not None and not self._was_said_again(passage.key, at):
                return True
        return False

    def _was_said_again(self, key: str, at: str) -> bool:
        return any(key in " ".join(fold(text).split()) for text in self._said_since(at))

    def _read(self) -> _Known:
        try:
            return _KNOWN.validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            return _Known()

    def _write(self, known: _Known) -> None:
        replace_text(self._path, json.dumps({"salt": known.salt, "passages": known.passages}, indent=1))


def _digest(known: _Known, key: str) -> str:
    return hashlib.blake2b(key_of(key).encode("utf-8", "replace"), key=bytes.fromhex(known.salt)).hexdigest()[:32]
