"""How much memory a model takes, how much is free, and which window fits into it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import psutil

from assistant.config.words import say
from assistant.errors import ModelError
from assistant.models.local.gguf_file import GgufFile

# The program around the model and what it computes with: 250 to 400 MB for models of 0.1 to 1.5 billion parameters.
_BESIDE_BYTES = 400_000_000
_WANTED_WINDOWS = (32_768, 16_384, 8_192, 4_096)
_UNKNOWN_TRAINED_FOR = 8_192
_CGROUP = Path("/sys/fs/cgroup")


def free_memory_bytes() -> int:
    """What a new process can have: of the machine, and of the container where one limits it."""
    free = int(psutil.virtual_memory().available)
    with suppress(OSError, ValueError):
        limit = int((_CGROUP / "memory.max").read_text(encoding="ascii"))
        used = int((_CGROUP / "memory.current").read_text(encoding="ascii"))
        free = min(free, max(limit - used, 0))
    return free


def window_that_fits(model: GgufFile, asked_tokens: int | None, free_bytes: int) -> int:
    """The window to load the model with: the one that is asked for, else the widest it was trained for that fits.

    Raises `ModelError` where there is not enough memory for it, or the model was trained for less.
    """
    trained = model.window_tokens or _UNKNOWN_TRAINED_FOR
    if asked_tokens:
        if model.window_tokens and asked_tokens > model.window_tokens:
            raise ModelError(
                say("local_model", "window_too_wide", name=model.name, asked=asked_tokens, trained=model.window_tokens)
            )
        windows = [asked_tokens]
    else:
        windows = [min(wanted, trained) for wanted in _WANTED_WINDOWS]
    for window in windows:
        if _need_bytes(model, window) <= free_bytes:
            return window
    need, free = _need_bytes(model, windows[-1]) / 1e9, free_bytes / 1e9
    raise ModelError(say("local_model", "no_memory", name=model.name, window=windows[-1], need=need, free=free))


def _need_bytes(model: GgufFile, window_tokens: int) -> int:
    return model.size_bytes + model.token_bytes * window_tokens + _BESIDE_BYTES
