"""The replay: a long dialogue and a task at a window of 16,000 tokens, compacted again and again, and killed.

Nothing may be malformed, lost or told twice, whatever happens.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from benchmarks.figures import Figure, report
from benchmarks.replaying.command_kills import CommandKilling, kill_commands
from benchmarks.replaying.dialogue import Dialogue, MissingDataError, longest_locomo
from benchmarks.replaying.kills import Killing, kill_again_and_again
from benchmarks.replaying.moment_kills import MomentKilling, kill_at_moments
from benchmarks.replaying.path import Walk, run_walk
from benchmarks.replaying.talker import settings_for
from tests.fakes.players import RuleBasedPlayer
from tests.fakes.provider import StrictProvider

WINDOW_TOKENS = 16_000
KILLS = 50
COMMAND_KILLS = 5
"""Of a forget and of an import."""
MOMENT_KILLS = 5
"""In a long answer and in the flush of an idle conversation."""
KILLED_THRESHOLD_TOKENS = 7_000
"""Between kills there is little time, so compaction starts early: many a kill is to fall into one or its flush."""


def main() -> int:
    """Walk the path, kill, report; the faults found go to standard error."""
    try:
        dialogue = longest_locomo()
    except MissingDataError as error:
        print(error, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        figures, faults = replay(Path(folder), dialogue)
        killing = kill_again_and_again(
            Path(folder) / "killed", dialogue, KILLS, compact_threshold=KILLED_THRESHOLD_TOKENS
        )
        commands = kill_commands(Path(folder) / "commands", COMMAND_KILLS)
        moments = kill_at_moments(Path(folder) / "moments", MOMENT_KILLS)
    for fault in [*faults, *killing.faults, *commands.faults, *moments.faults]:
        print(fault, file=sys.stderr)
    return report([*figures, *killing_figures(killing), *command_figures(commands), *moment_figures(moments)])


def replay(folder: Path, dialogue: Dialogue, compact_threshold: int | None = None) -> tuple[list[Figure], list[str]]:
    """The path against the strict provider: its figures, and a line for each fault."""
    started = time.monotonic()
    with StrictProvider(RuleBasedPlayer(), window_tokens=WINDOW_TOKENS, chunk_chars=200) as provider:
        settings = settings_for(folder / "home", provider.base_url, WINDOW_TOKENS, compact_threshold)
        seen = run_walk(settings, dialogue)
    figures = [
        Figure("messages sent", len(seen.sent)),
        Figure("model calls", len(provider.log)),
        Figure("malformed requests", len(provider.malformed), at_most=0),
        Figure("requests over the window", provider.overflows, at_most=0),
        *walk_figures(seen),
        Figure("time", time.monotonic() - started, "s"),
    ]
    return figures, [*seen.faults, *(refusal.message for refusal in provider.malformed)]


def command_figures(killing: CommandKilling) -> list[Figure]:
    """What the kills in the middle of a command showed, each with its goal."""
    return [
        Figure("forgets killed half-way", killing.forgets, at_least=1),
        Figure("imports killed half-way", killing.imports),
        Figure("left half done by them", len(killing.faults), at_most=0),
    ]


def moment_figures(killing: MomentKilling) -> list[Figure]:
    """What the kills in the middle of an answer and of an idle flush showed, each with its goal."""
    return [
        Figure("answers killed while they were streamed", killing.streams, at_least=1),
        Figure("idle flushes killed half-way", killing.flushes, at_least=1),
        Figure("lost of what was seen for 2 s", killing.lost_chars, "characters", at_most=0),
        Figure("lost or doubled by them", len(killing.faults), at_most=0),
    ]


def walk_figures(seen: Walk) -> list[Figure]:
    """What the path showed, each with its goal."""
    assert seen.account is not None
    return [
        Figure("compactions", seen.compactions, at_least=3),
        Figure("digests in place of a summary", seen.fallbacks, at_most=0),
        Figure("blocks in the journal", seen.account.blocks),
        Figure("first message back after Undo, word for word", seen.restored_word_for_word, at_least=1),
        Figure("steps of the task", seen.task_steps, at_least=30),
        Figure("edit of a memory file obeyed", seen.is_edit_obeyed, at_least=1),
        Figure("fact of message 5 in a memory file", bool(seen.fact_file), at_least=1),
        Figure("Undo at the end refused with the figure", bool(seen.refusal), at_least=1),
        Figure("faults on the way", len(seen.faults), at_most=0),
    ]


def killing_figures(killing: Killing) -> list[Figure]:
    """What the kills showed."""
    return [
        Figure("kills", killing.kills, at_least=KILLS),
        Figure("turns cut by a kill", killing.cut_turns, at_least=1),
        Figure("compactions between kills", killing.compactions, at_least=5),
        Figure("malformed requests between kills", killing.malformed, at_most=0),
        Figure("faults after kills", len(killing.faults), at_most=0),
        Figure("time of the kills", killing.seconds, "s"),
    ]


if __name__ == "__main__":
    sys.exit(main())
