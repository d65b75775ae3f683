"""Reads a file in a process of its own: one made to be slow or huge ends that process alone."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

MAX_SECONDS = 30.0
"""How long a file may take; the program itself has the same limit, and one of memory."""

_BROKE = 1

Reader = Literal["pdf", "word", "sheet", "slides", "picture"]


async def read_apart(
    reader: Reader, content: bytes, environment: Mapping[str, str], argument: str = ""
) -> dict[str, object]:
    """What the reader says of a file, or `{"problem": …}`: `too_slow`, `too_large`, or what the reader itself found."""
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", str(Path(__file__).parent), reader, argument),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment,
    )
    try:
        async with asyncio.timeout(MAX_SECONDS):
            said, _ = await program.communicate(content)
    except TimeoutError:
        return {"problem": "too_slow"}
    finally:
        with suppress(ProcessLookupError):
            program.kill()
        await program.wait()
    try:
        return dict(json.loads(said))
    except ValueError:
        # A file that broke its reader ends it with an error; a limit of the system ends it without a word.
        return {"problem": "unreadable" if program.returncode == _BROKE else "too_large"}
