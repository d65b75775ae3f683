"""SIGKILL at random moments: a fork server and its children in another process, the strict provider here."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.replaying.dialogue import Dialogue
from benchmarks.replaying.fork_server import Order, Tally
from tests.fakes.players import RuleBasedPlayer
from tests.fakes.provider import StrictProvider

WINDOW_TOKENS = 16_000
_ROOT = Path(__file__).parents[2]
# Slow enough that many a kill falls into a stream.
_CHUNK_SECONDS = 0.004


@dataclass(frozen=True, slots=True)
class Killing:
    """What the kills showed; one line for each fault."""

    kills: int
    cut_turns: int
    compactions: int
    questions: int
    malformed: int
    faults: tuple[str, ...]
    seconds: float


def kill_again_and_again(
    folder: Path,
    dialogue: Dialogue,
    kills: int,
    *,
    compact_threshold: int | None = None,
    most_events: int = 120,
    seed: int = 1,
) -> Killing:
    """Feed the dialogue to children that are killed, `kills` times, each followed by one that goes on.

    Each is killed behind a random one of its first `most_events` events.
    """
    started = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    with StrictProvider(
        RuleBasedPlayer(), window_tokens=WINDOW_TOKENS, chunk_seconds=_CHUNK_SECONDS, chunk_chars=48
    ) as provider:
        order = Order(
            home=str(folder / "home"),
            base_url=provider.base_url,
            window_tokens=WINDOW_TOKENS,
            compact_threshold=compact_threshold,
            messages=list(dialogue.messages),
            kills=kills,
            most_events=most_events,
            seed=seed,
        )
        finished = subprocess.run(
            [sys.executable, "-m", "benchmarks.replaying.fork_server"],
            input=json.dumps(asdict(order)),
            cwd=_ROOT,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            check=False,
        )
        refused = [refusal.message for refusal in provider.malformed]
    tally = Tally(**json.loads(finished.stdout)) if finished.returncode == 0 else Tally(faults=["the fork server died"])
    return Killing(
        kills=tally.kills,
        cut_turns=tally.cut_turns,
        compactions=tally.compactions,
        questions=tally.questions,
        malformed=len(refused),
        faults=(*tally.faults, *refused),
        seconds=time.monotonic() - started,
    )
