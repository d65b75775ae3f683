"""What a GGUF file says of itself in its first bytes: kind of model, window, and what a token costs in memory."""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assistant.config.plain_reasons import plain_reason
from assistant.config.words import say
from assistant.errors import ModelError

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
# What is told here stands in front of the vocabulary, which begins within the first kilobytes.
_HEAD_BYTES = 1_000_000
_MOST_FACTS = 10_000
_STRING, _ARRAY = 8, 9
_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.IGNORECASE)
# Keys and values are kept in 16 bits each.
_BYTES_A_NUMBER = 2
# Models that answer nobody: of pictures, and those that turn text into vectors.
_NOT_FOR_CHAT = ("clip", "bert", "embed", "t5encoder")

_Fact = int | float | str | bool | list[int]


@dataclass(frozen=True, slots=True)
class GgufFile:
    """A model in a file."""

    path: Path
    """The first of its parts."""
    size_bytes: int
    """Of all its parts."""
    architecture: str
    window_tokens: int
    """What it was trained for; 0 where the file does not say."""
    token_bytes: int
    """What each token of the window takes in memory; 0 where the file does not say."""

    @property
    def name(self) -> str:
        """What a person calls it."""
        part = _PART.fullmatch(self.path.name)
        return part["stem"] if part else self.path.stem

    @property
    def is_for_chat(self) -> bool:
        """False for a model of pictures or of vectors."""
        return not any(word in self.architecture for word in _NOT_FOR_CHAT)


def is_first_part(path: Path) -> bool:
    """True for a file that is whole, and for the first of a model in several."""
    part = _PART.fullmatch(path.name)
    return part is None or int(part["number"]) == 1


def read_gguf(path: Path) -> GgufFile:
    """What the file says of itself. Raises `ModelError` where it is no model, or not all of one."""
    paths = _parts_of(path)
    try:
        size_bytes = sum(part.stat().st_size for part in paths)
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        raise ModelError(say("local_model", "unreadable", path=path, reason=plain_reason(error))) from None
    if not head.startswith(_MAGIC):
        raise ModelError(say("local_model", "no_gguf", path=path))
    try:
        facts = _read_facts(io.BytesIO(head))
    except (struct.error, UnicodeDecodeError, KeyError, OverflowError):
        raise ModelError(say("local_model", "broken", path=path)) from None
    architecture = str(facts.get("general.architecture", ""))
    window = facts.get(f"{architecture}.context_length", 0)
    return GgufFile(
        path, size_bytes, architecture, window if isinstance(window, int) else 0, _token_bytes(facts, architecture)
    )


def _parts_of(path: Path) -> list[Path]:
    """The file, or all parts of a model in several; `path` must be their first."""
    part = _PART.fullmatch(path.name)
    if part is None:
        return [path]
    names = [
        path.with_name(f"{part['stem']}-{number:05}-of-{part['count']}{path.suffix}")
        for number in range(1, int(part["count"]) + 1)
    ]
    if int(part["number"]) != 1:
        raise ModelError(say("local_model", "not_the_first", path=path, count=len(names), first=names[0].name))
    if missing := [name.name for name in names if not name.exists()]:
        raise ModelError(
            say("local_model", "parts_missing", path=path, count=len(names), missing=len(missing), name=missing[0])
        )
    return names


def _read_facts(file: io.BytesIO) -> Mapping[str, _Fact]:
    """The facts in front of the vocabulary."""
    file.seek(len(_MAGIC))
    version, _, count = _unpack(file, "IQQ")
    if version not in _VERSIONS or not isinstance(count, int) or count > _MOST_FACTS:
        raise KeyError(version)
    facts: dict[str, _Fact] = {}
    for _ in range(count):
        name = _read_string(file)
        if name.startswith("tokenizer."):
            break
        (kind,) = _unpack(file, "I")
        facts[name] = _read_fact(file, int(kind))
    return facts


def _read_fact(file: io.BytesIO, kind: int) -> _Fact:
    if kind == _STRING:
        return _read_string(file)
    if kind == _ARRAY:
        inner, count = (int(number) for number in _unpack(file, "IQ"))
        if inner == _STRING:
            for _ in range(count):
                _read_string(file)
            return []
        return [int(number) for number in _unpack(file, f"{min(count, _HEAD_BYTES)}{_FORMATS[inner]}")]
    return _unpack(file, _FORMATS[kind])[0]


def _read_string(file: io.BytesIO) -> str:
    (length,) = _unpack(file, "Q")
    content = file.read(int(length))
    if len(content) < length:
        raise struct.error
    return content.decode("utf-8")


def _unpack(file: io.BytesIO, form: str) -> tuple[int | float | bool, ...]:
    form = f"<{form}"
    return struct.unpack(form, file.read(struct.calcsize(form)))


def _token_bytes(facts: Mapping[str, _Fact], architecture: str) -> int:
    """Layers, times heads that keep keys and values, times the length of a key and of a value."""

    def number(name: str, otherwise: int = 0) -> int:
        value = facts.get(f"{architecture}.{name}", otherwise)
        if isinstance(value, list):
            return max(value, default=0)
        return int(value) if isinstance(value, int | float) else otherwise

    heads = number("attention.head_count")
    length = number("embedding_length") // heads if heads else 0
    key, value = number("attention.key_length", length), number("attention.value_length", length)
    return number("block_count") * number("attention.head_count_kv", heads) * (key + value) * _BYTES_A_NUMBER
