"""Processes that a command left behind: told by a variable that they inherit, whatever session they went into."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path

MARK_NAME = "AGENT_CALL"
_PROCESSES = Path("/proc")
_MAX_ROUNDS = 50
_QUIET_ROUNDS = 2
_PAUSE_SECONDS = 0.01


async def end_marked(mark: str, first_number: int) -> None:
    """End every process with this mark in its environment; where the system does not show environments, none.

    `first_number` is that of the command itself: what it started has a higher one.
    """
    wanted = f"{MARK_NAME}={mark}".encode()
    quiet = 0
    # One that forks meanwhile is found in the next round, and so is one whose environment is only being made.
    for _ in range(_MAX_ROUNDS):
        quiet = 0 if await asyncio.to_thread(_end_found, wanted, first_number) else quiet + 1
        if quiet == _QUIET_ROUNDS:
            return
        await asyncio.sleep(_PAUSE_SECONDS)


def _end_found(wanted: bytes, first_number: int) -> bool:
    """True where one was ended, or may be one and cannot be told yet."""
    is_left = False
    for number in _numbers():
        environment = _read(number, "environ")
        if wanted in environment.split(b"\0"):
            is_left = True
            with suppress(ProcessLookupError, PermissionError):
                os.kill(number, signal.SIGKILL)
        elif not environment and number > first_number:
            # A thread of the kernel and a process that has ended have no memory; one between two programs has.
            is_left = is_left or _read(number, "statm")[:2] not in (b"", b"0 ")
    return is_left


def _numbers() -> list[int]:
    try:
        return [int(name) for name in os.listdir(_PROCESSES) if name.isdecimal()]  # noqa: PTH208
    except OSError:
        return []


def _read(number: int, name: str) -> bytes:
    """What the system tells of a process; nothing of one of somebody else, or of one that is gone."""
    try:
        return (_PROCESSES / str(number) / name).read_bytes()
    except OSError:
        return b""
