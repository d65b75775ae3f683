"""The process that holds the model: llama.cpp on loopback, behind a key. It imports nothing of ours.

Its first line of input is JSON: path, window_tokens, threads, key, port. It answers with one line: the port it listens
on, or `failed`. It ends when its input does, so that it never outlives the program that started it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Protocol, cast


class _Threads(Protocol):
    n_threads: int


class _File(Protocol):
    path: str


class _Parameters(Protocol):
    model: _File
    hostnames: list[str]
    api_keys: list[str]
    cpuparams: _Threads
    cpuparams_batch: _Threads
    port: int
    n_ctx: int
    n_parallel: int
    n_batch: int
    cache_ram_mib: int
    use_jinja: bool
    ui: bool
    offline: bool
    fit_params: bool


class _Server(Protocol):
    listening_address: str


class _Library(Protocol):
    def CommonParams(self) -> _Parameters: ...  # noqa: N802

    def Server(self, parameters: _Parameters) -> _Server: ...  # noqa: N802


# A request that is given up is noticed behind at most two batches: smaller ones free the model sooner, and read slower.
_BATCH_TOKENS = 128


def main() -> None:
    """Load the model, say where it listens, and wait for the end of the input."""
    order: dict[str, str | int] = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    import xllamacpp  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    library = cast(_Library, xllamacpp)
    parameters = library.CommonParams()
    parameters.model.path = str(order["path"])
    parameters.hostnames, parameters.port = ["127.0.0.1"], int(order["port"])
    parameters.api_keys = [str(order["key"])]
    parameters.n_ctx, parameters.n_parallel, parameters.n_batch = int(order["window_tokens"]), 1, _BATCH_TOKENS
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = int(order["threads"])
    parameters.cache_ram_mib = 0
    # The window is as it was asked for, and no page and no download is offered.
    parameters.fit_params, parameters.use_jinja, parameters.ui, parameters.offline = False, True, False, True
    try:
        server = library.Server(parameters)
    except RuntimeError:
        print("failed", flush=True)
        return
    print(server.listening_address.rpartition(":")[2], flush=True)
    threading.Event().wait()


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
