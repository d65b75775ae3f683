"""The program: reads a file from standard input with one of the readers and writes what it says as a JSON object.

It imports nothing of ours but the readers, which stand beside it and import nothing of ours at all.
"""

from __future__ import annotations

import importlib
import json
import logging
import sys
from contextlib import suppress

MAX_SECONDS = 30
"""Of the processor."""
MAX_BYTES = 1_000_000_000
"""Memory, where the system can limit that."""
_MODULES = {
    "pdf": "pdf_texts",
    "word": "office_texts",
    "sheet": "office_texts",
    "slides": "office_texts",
    "picture": "picture_copy",
}


def _limit() -> None:
    try:
        import resource  # noqa: PLC0415
    except ImportError:
        # Windows has the limit of time alone, which the parent sets.
        return
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))


def main(reader: str, argument: str) -> None:
    """Read the file, within the limits."""
    _limit()
    logging.disable()
    module = importlib.import_module(_MODULES[reader])
    try:
        said = module.read(sys.stdin.buffer.read(), reader, argument)
    except MemoryError:
        said = {"problem": "too_large"}
    json.dump(said, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
