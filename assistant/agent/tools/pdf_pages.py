"""The text of a PDF's pages, read in a process of its own: a file made to be slow or huge ends that process alone.

As a program it reads the file from standard input and writes one JSON object; it imports nothing of ours.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

MAX_SECONDS = 30.0
"""How long a file may take."""
MAX_BYTES = 1_000_000_000
"""Memory of the process that reads it, where the system can limit that."""
MAX_PAGES = 20
"""Pages of one reading."""
MAX_CHARS = 2_000_000
"""Characters of one reading; a page has some thousands."""


async def read_pages(content: bytes, pages: str | None, environment: Mapping[str, str]) -> dict[str, object]:
    """What the process says of a file: `total`, `first` and `texts`, or a `problem` by its name."""
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", str(Path(__file__)), pages or ""),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment,
    )
    try:
        async with asyncio.timeout(MAX_SECONDS):
            said, _ = await program.communicate(content)
    except TimeoutError:
        return {"problem": "pdf_too_slow"}
    finally:
        with suppress(ProcessLookupError):
            program.kill()
        await program.wait()
    try:
        return dict(json.loads(said))
    except ValueError:
        # It ran into a limit of the system, or broke.
        return {"problem": "pdf_too_large"}


def _limit() -> None:
    try:
        import resource  # noqa: PLC0415
    except ImportError:
        # Windows has the limit of time alone.
        return
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (int(MAX_SECONDS), int(MAX_SECONDS)))


def _texts(content: bytes, wanted: str) -> dict[str, object]:
    from pypdf import PdfReader  # noqa: PLC0415
    from pypdf.errors import PyPdfError  # noqa: PLC0415

    logging.disable()
    try:
        reader = PdfReader(io.BytesIO(content))
        total = len(reader.pages)
        match = re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", wanted or f"1-{max(total, 1)}")
        first = int(match[1]) if match else 0
        last = min(int(match[2] or first), total) if match else 0
        if not 1 <= first <= last:
            return {"problem": "pdf_no_such_pages", "total": total}
        if last - first >= MAX_PAGES:
            return {"problem": "pdf_too_many_pages", "total": total}
        texts: list[str] = []
        left = MAX_CHARS
        for number in range(first - 1, last):
            texts.append((reader.pages[number].extract_text() or "")[:left])
            left -= len(texts[-1])
    except MemoryError:
        return {"problem": "pdf_too_large"}
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, OSError, RecursionError):
        # A broken file breaks its reader in any of these ways.
        return {"problem": "pdf_unreadable"}
    return {"total": total, "first": first, "texts": texts}


if __name__ == "__main__":
    _limit()
    json.dump(_texts(sys.stdin.buffer.read(), sys.argv[1]), sys.stdout)
