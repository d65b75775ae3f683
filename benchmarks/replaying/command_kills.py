"""SIGKILL in the middle of a command that forgets or imports: the next command leaves nothing half done."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_PHRASE = "quillfeather"
_MESSAGES = (f"The word for the gate is {_PHRASE}.", "Tea is at five.", f"Say nothing of {_PHRASE} to anybody.")
_COMMAND_SECONDS = 240.0
_LOOK_SECONDS = 0.002
_MOMENT_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class CommandKilling:
    """How many commands were killed while they worked, and one line for each fault."""

    forgets: int
    imports: int
    faults: tuple[str, ...]


def kill_commands(folder: Path, kills: int, seed: int = 1) -> CommandKilling:
    """Kill so many commands of each kind, each in a home of its own, and look at what the next command leaves."""
    chance = random.Random(seed)
    source, exported = folder / "source", folder / "conversations.jsonl"
    for message in _MESSAGES:
        _run(source, "chat", "--once", message)
    _run(source, "export", "--all", "--out", str(exported))
    faults: list[str] = []
    forgets = imports = 0
    for number in range(kills):
        home = folder / f"forget{number}"
        shutil.copytree(source, home)
        begun = _kill(home, home / "forget.json", chance, "forget", _PHRASE, "--yes")
        forgets += begun
        # Any command finishes it; one that had not begun is given again.
        _run(home, *(("sessions",) if begun else ("forget", _PHRASE, "--yes")))
        faults += [f"forget {number}: {fault}" for fault in _remains(home)]
        home = folder / f"import{number}"
        imports += _kill(home, home / "dialog", chance, "import", str(exported))
        _run(home, "import", str(exported))
        if _rows(home) != _rows(source):
            faults.append(f"import {number}: {len(_rows(home))} rows, not {len(_rows(source))}")
    return CommandKilling(forgets, imports, tuple(faults))


def _kill(home: Path, sign: Path, chance: random.Random, *arguments: str) -> bool:
    """Start a command and kill it a moment after the sign of its work is there; False where it ended before."""
    program = subprocess.Popen(_command(*arguments), env=_environment(home), stdout=subprocess.DEVNULL, cwd=_ROOT)
    end = time.monotonic() + _COMMAND_SECONDS
    while program.poll() is None and not sign.exists() and time.monotonic() < end:
        time.sleep(_LOOK_SECONDS)
    time.sleep(chance.uniform(0.0, _MOMENT_SECONDS))
    is_cut = program.poll() is None and sign.exists()
    program.kill()
    program.wait()
    return is_cut


def _run(home: Path, *arguments: str) -> None:
    subprocess.run(
        _command(*arguments),
        env=_environment(home),
        stdout=subprocess.DEVNULL,
        cwd=_ROOT,
        timeout=_COMMAND_SECONDS,
        check=True,
    )


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "assistant", *arguments]


def _environment(home: Path) -> dict[str, str]:
    chosen = {"PALIMPSEST_HOME": str(home), "PALIMPSEST_PROVIDER": "offline", "PALIMPSEST_EMBEDDER": "none"}
    return {**os.environ, **chosen}


def _remains(home: Path) -> list[str]:
    """Where the phrase is still, and whether something waits to be forgotten."""
    files = [path for path in home.rglob("*") if path.is_file() and home / "files" not in path.parents]
    found = [str(path.relative_to(home)) for path in files if _PHRASE.encode() in path.read_bytes().lower()]
    return [
        *(f"the phrase is in {name}" for name in found),
        *(["not finished"] if (home / "forget.json").exists() else []),
    ]


def _rows(home: Path) -> list[tuple[str, ...]]:
    """What tells the rows of the journal apart, in order; a doubled one is here twice."""
    lines = [
        line for path in sorted((home / "dialog").glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()
    ]
    rows = [json.loads(line) for line in lines]
    return sorted(
        (row["session_id"], row["kind"], str(row.get("message_id")), json.dumps(row.get("block"))) for row in rows
    )
