"""Processes of their own for what a test kills or lets run into a limit."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.process import BaseProcess

# Forked from a process without threads, which has imported all this once; elsewhere a child is a new interpreter.
_METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
_CONTEXT = multiprocessing.get_context(_METHOD)
_CONTEXT.set_forkserver_preload(
    ["pytest", "hypothesis", "assistant.assembly.home", "tests.index.homes", "tests.index.fakes"]
)


def started(target: Callable[..., object], *arguments: object) -> BaseProcess:
    """The child that runs a function of a test module; whoever starts it joins it."""
    process = _CONTEXT.Process(target=target, args=arguments)  # type: ignore[attr-defined]
    process.start()
    return process
