"""SIGKILL in the middle of an answer and of the flush of an idle conversation: nothing is lost or written twice."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from assistant.assembly.home import open_store
from assistant.messages.blocks import TextBlock
from assistant.storage.journal.rows import BlockRow, FlushRow, LeftRow, Row
from benchmarks.replaying.talker import Order, settings_for
from tests.fakes.players import RuleBasedPlayer
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import ChatRequest, Reply

_ROOT = Path(__file__).parents[2]
_PROCESS_SECONDS = 240.0
KEPT_SECONDS = 2.0
"""What a person has seen for so long is not lost by a kill."""
_STREAM_SECONDS = (2.5, 5.0)
_FLUSH_SECONDS = (0.1, 1.2)
_STATEMENTS = tuple(
    f"I keep the {thing} in the {place}."
    for thing, place in (
        ("ladder", "barn"),
        ("lantern", "cellar"),
        ("anvil", "forge"),
        ("kettle", "pantry"),
        ("sextant", "attic"),
        ("saddle", "stable"),
    )
)
_LONG = " ".join(f"Crate {number} was counted and written down." for number in range(1, 401))
_GONE_ON = "And the rest was counted too."


@dataclass(frozen=True, slots=True)
class MomentKilling:
    """How many kills fell into streamed text and into a flush, and one line for each fault."""

    streams: int
    flushes: int
    lost_chars: int
    """Of what a person had seen for two seconds."""
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Kill:
    """Whether it fell into the middle, what was lost of what had been seen, and what was wrong afterwards."""

    is_cut: bool
    lost_chars: int
    faults: tuple[str, ...]


def kill_at_moments(folder: Path, kills: int, seed: int = 1) -> MomentKilling:
    """So many kills of each kind, each in a home of its own."""
    chance = random.Random(seed)
    streams = [_kill_stream(folder / f"stream{number}", chance) for number in range(kills)]
    flushes = [_kill_idle_flush(folder / f"idle{number}", chance) for number in range(kills)]
    return MomentKilling(
        sum(kill.is_cut for kill in streams),
        sum(kill.is_cut for kill in flushes),
        sum(kill.lost_chars for kill in streams),
        tuple(fault for kill in [*streams, *flushes] for fault in kill.faults),
    )


def _kill_stream(folder: Path, chance: random.Random) -> _Kill:
    """Kill a program that streams a long answer, and go on with the turn."""
    home, seen = folder / "home", folder / "seen.jsonl"
    folder.mkdir(parents=True)
    with StrictProvider(_long_answer, window_tokens=64_000, chunk_chars=40, chunk_seconds=0.03) as provider:
        order = Order(str(home), provider.base_url, "stream", ["Count all the crates, please."], str(seen))
        is_cut, killed_at = _kill(order, chance.uniform(*_STREAM_SECONDS))
        _run(Order(str(home), provider.base_url, "go on", []))
        faults = [refusal.message for refusal in provider.malformed]
    pieces = [json.loads(line) for line in seen.read_text(encoding="utf-8").splitlines()]
    seen_chars = sum(len(piece["text"]) for piece in pieces if piece["at"] <= killed_at - KEPT_SECONDS)
    told = "".join(_answers(_rows(home)))
    kept = told.removesuffix(_GONE_ON)
    if not _LONG.startswith(kept) or (is_cut and kept and kept == told):
        faults.append(f"{folder.name}: the answer is not told as it was given, but ends in {told[-80:]!r}")
    return _Kill(is_cut, max(0, seen_chars - len(kept)), tuple(faults))


def _long_answer(request: ChatRequest) -> Reply:
    has_begun = any(message.role == "assistant" and message.text for message in request.messages)
    return Reply(text=_GONE_ON if has_begun else _LONG)


def _kill_idle_flush(folder: Path, chance: random.Random) -> _Kill:
    """Kill a program that writes an idle conversation to memory, and start it twice after that."""
    home = folder / "home"
    folder.mkdir(parents=True)
    with StrictProvider(RuleBasedPlayer(), window_tokens=64_000, chunk_chars=6, chunk_seconds=0.02) as provider:
        order = Order(str(home), provider.base_url, "idle", list(_STATEMENTS))
        is_killed, _ = _kill(order, chance.uniform(*_FLUSH_SECONDS))
        begun, ended = _flush_ids(_rows(home))
        for _ in range(2):
            _run(Order(str(home), provider.base_url, "leave", []))
        faults = [refusal.message for refusal in provider.malformed]
    store = open_store(settings_for(home, ""))
    ends = Counter(row.compaction_id for row in _rows(home) if isinstance(row, FlushRow))
    faults += [f"{folder.name}: a flush ended {count} times" for count in ends.values() if count > 1]
    written = "\n".join(path.read_text("utf-8") for path in store.workspace.memory_files() if path.is_file())
    counts = {statement: written.count(statement) for statement in _STATEMENTS}
    faults += [f"{folder.name}: {count} times in memory: {one}" for one, count in counts.items() if count != 1]
    return _Kill(is_killed and begun > ended, 0, tuple(faults))


def _kill(order: Order, seconds: float) -> tuple[bool, float]:
    """Kill the program so long after its work began; True where it still ran, and when (seconds since 1970)."""
    program = subprocess.Popen(
        _command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_ROOT, encoding="utf-8", text=True
    )
    assert program.stdin is not None and program.stdout is not None
    program.stdin.write(json.dumps(asdict(order)))
    program.stdin.close()
    program.stdout.readline()
    time.sleep(seconds)
    is_running, killed_at = program.poll() is None, time.time()
    program.kill()
    program.wait()
    program.stdout.close()
    return is_running, killed_at


def _run(order: Order) -> None:
    subprocess.run(
        _command(),
        input=json.dumps(asdict(order)),
        stdout=subprocess.DEVNULL,
        cwd=_ROOT,
        encoding="utf-8",
        timeout=_PROCESS_SECONDS,
        check=True,
    )


def _command() -> list[str]:
    return [sys.executable, "-m", "benchmarks.replaying.talker"]


def _rows(home: Path) -> list[Row]:
    store = open_store(settings_for(home, ""))
    return [row for summary in store.sessions.list() for row in store.journal.rows(summary.session_id)]


def _answers(rows: Sequence[Row]) -> list[str]:
    blocks = [row.block for row in rows if isinstance(row, BlockRow) and row.role == "assistant"]
    return [block.text for block in blocks if isinstance(block, TextBlock)]


def _flush_ids(rows: Sequence[Row]) -> tuple[set[str], set[str]]:
    """The flushes of a conversation that was left which began, and those that ended."""
    ended = {row.compaction_id for row in rows if isinstance(row, FlushRow)}
    return {row.flush_id for row in rows if isinstance(row, LeftRow)}, ended
