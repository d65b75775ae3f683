"""Standard streams that take every text: what they cannot write becomes an escape."""

from __future__ import annotations

import codecs
import io
import sys
from typing import cast

_ESCAPES = "palimpsest.escapes"


def open_streams() -> None:
    """Let the standard streams write any character; where their encoding lacks one, as JSON escapes it."""
    codecs.register_error(_ESCAPES, _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ESCAPES)
    stdin: object = sys.stdin
    if isinstance(stdin, io.TextIOWrapper):
        cast(io.TextIOWrapper, stdin).reconfigure(errors="replace")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """The characters as `\\uXXXX`, two of them for one beyond the basic plane: in a JSON text this is the same text."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    pairs = (units[place : place + 2] for place in range(0, len(units), 2))
    return "".join(f"\\u{pair.hex()}" for pair in pairs), error.end
