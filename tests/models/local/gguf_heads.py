"""GGUF files with a head and nothing behind it, as small as they can be."""

from __future__ import annotations

import struct
from pathlib import Path

LLAMA: dict[str, str | int | list[int]] = {
    "general.architecture": "llama",
    "llama.context_length": 8_192,
    "llama.embedding_length": 576,
    "llama.block_count": 30,
    "llama.attention.head_count": 9,
    "llama.attention.head_count_kv": 3,
}


def write_gguf(path: Path, facts: dict[str, str | int | list[int]] = LLAMA, version: int = 3) -> Path:
    """A file with these facts in front of a vocabulary, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    entries = [_text(name) + _value(value) for name, value in facts.items()]
    vocabulary = _text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 1) + _text("a")
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", version, 0, len(entries) + 1) + b"".join(entries) + vocabulary)
    return path


def _text(text: str) -> bytes:
    content = text.encode()
    return struct.pack("<Q", len(content)) + content


def _value(value: str | int | list[int]) -> bytes:
    match value:
        case str():
            return struct.pack("<I", 8) + _text(value)
        case int():
            return struct.pack("<II", 4, value)
        case _:
            return struct.pack(f"<IIQ{len(value)}I", 9, 4, len(value), *value)
