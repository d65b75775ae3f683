"""The home's `.env`: settings that are kept from the page, beside what a person wrote into it by hand."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from pathlib import Path

from dotenv.parser import Binding, parse_stream

from assistant.storage.atomic_io import hold_lock, read_plain_file, replace_text

OWNER_ONLY = 0o600
_PLAIN = re.compile(r"[\w./:@%+,=-]+")


def keep_variables(path: Path, changes: Mapping[str, str]) -> None:
    """Set each variable in the file, or take it out where its value is empty; every other line stays as it is.

    The file is replaced whole and only its owner may read it, also where that was otherwise before.
    """
    target = path.resolve()
    with hold_lock(target):
        text = read_plain_file(target).decode("utf-8") if target.exists() else ""
        before = "".join(_without(line, changes) for line in parse_stream(io.StringIO(text)))
        if before and not before.endswith("\n"):
            before += "\n"
        added = "".join(f"{name}={_quoted(value)}\n" for name, value in changes.items() if value)
        if target.exists():
            target.chmod(OWNER_ONLY)
        replace_text(target, before + added)


def _without(line: Binding, changes: Mapping[str, str]) -> str:
    """The line as it is written; of one that goes the blank lines before it, which the reader counts to it."""
    written = line.original.string
    return written[: len(written) - len(written.lstrip())] if line.key in changes else written


def _quoted(value: str) -> str:
    """The value as the file's reader gives it back."""
    if _PLAIN.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
