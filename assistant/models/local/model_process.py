"""Starts and ends the process that holds the model."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import secrets
import subprocess
import sys
from contextlib import suppress

from assistant.config.words import say
from assistant.errors import ModelError, SettingsError
from assistant.models.local import worker
from assistant.models.local.gguf_file import GgufFile

# 20 GB from a slow disk.
_LOAD_SECONDS = 300.0
_END_SECONDS = 5.0


def require_llama() -> None:
    """Raise `SettingsError` where the library that runs such models is not installed."""
    if not has_llama():
        raise SettingsError("PALIMPSEST_PROVIDER", say("local_model", "no_library"))


def has_llama() -> bool:
    """True where the library that runs such models is installed."""
    return importlib.util.find_spec("xllamacpp") is not None


class ModelProcess:
    """One model in one process; started again at the same address where it has died."""

    def __init__(self, model: GgufFile, window_tokens: int) -> None:
        self.key = secrets.token_urlsafe(24)
        self._model = model
        self._window_tokens = window_tokens
        self._port = 0
        self._process: subprocess.Popen[str] | None = None
        self._starting = asyncio.Lock()

    @property
    def base_url(self) -> str:
        """Where it listens, with `/v1`; known once it has run."""
        return f"http://127.0.0.1:{self._port}/v1"

    async def run(self) -> None:
        """See to it that the model is loaded. Raises `ModelError` where it cannot be."""
        async with self._starting:
            if self._process is None or self._process.poll() is not None:
                await self.stop()
                self._process = _begin()
                await self._load(self._process)

    async def stop(self) -> None:
        """End the process, whatever it does; may be called twice."""
        process, self._process = self._process, None
        if process is not None:
            await asyncio.to_thread(_end, process)

    async def _load(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None and process.stdout is not None
        order = {
            "path": str(self._model.path),
            "window_tokens": self._window_tokens,
            "threads": _threads(),
            "key": self.key,
            "port": self._port,
        }
        try:
            with suppress(BrokenPipeError):
                process.stdin.write(f"{json.dumps(order)}\n")
                process.stdin.flush()
            async with asyncio.timeout(_LOAD_SECONDS):
                said = (await asyncio.to_thread(process.stdout.readline)).strip()
        except BaseException as error:
            await self.stop()
            if isinstance(error, TimeoutError):
                raise ModelError(say("local_model", "too_slow", name=self._model.name)) from None
            raise
        if not said.isdecimal():
            await self.stop()
            # Nothing is said by a process that the system has ended.
            key = "broken" if said else "ended"
            raise ModelError(say("local_model", key, path=self._model.path, name=self._model.name))
        self._port = int(said)


def _begin() -> subprocess.Popen[str]:
    assert worker.__file__ is not None
    return subprocess.Popen(
        [sys.executable, "-P", worker.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_END_SECONDS)
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            if pipe is not None:
                pipe.close()


def _threads() -> int:
    """One processor stays free: with all of them taken, threads wait for each other most of the time."""
    count = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return max(1, count - 1)
