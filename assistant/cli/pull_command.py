"""`python -m assistant pull`: download a model to the server of Ollama, with its progress on one line."""

from __future__ import annotations

import sys

from assistant.cli.terminal import printable
from assistant.config.settings import Settings
from assistant.config.words import say
from assistant.models.ollama_pull import PullProgress, pull_model


async def pull(settings: Settings, name: str) -> int:
    """Download a model and say how far it is; in a pipe a line for each step."""
    shown, is_terminal = "", sys.stdout.isatty()
    async for progress in pull_model(settings, name):
        line = _line(progress, with_bytes=is_terminal)
        if line != shown:
            print(f"\r{line:<{len(shown)}}" if is_terminal else line, end="" if is_terminal else "\n", flush=True)
            shown = line
    print("\n" * is_terminal + say("cli", "pulled", name=printable(name)))
    return 0


def _line(progress: PullProgress, *, with_bytes: bool) -> str:
    step = printable(progress.step)
    if not (with_bytes and progress.total_bytes):
        return step
    share, done, total = (
        progress.done_bytes / progress.total_bytes,
        progress.done_bytes / 1e9,
        progress.total_bytes / 1e9,
    )
    return say("cli", "pull_progress", step=step, share=share, done=done, total=total)
