"""The class of each line, P0 to P10: what goes first when a session is shrunk, and what never goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from assistant.openclaw.compression_options import KeepTail, Options
from assistant.openclaw.survey import SessionLine, Survey, Unit

LineClass = Literal["P0", "P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10"]
CLASSES: tuple[LineClass, ...] = ("P0", "P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10")
# A call line that also explains this much is an explanation first.
WORDY_CHARS = 400
# `--keep-tail auto` leaves at least half of the target to the summary and what else is kept.
_AUTO_TAIL_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Classified:
    """The classes of all lines; the tail starts at line index `tail_start`. `unit_of` is an index into the units."""

    classes: tuple[LineClass, ...]
    tail_start: int
    unit_of: dict[int, int]


def classify(survey: Survey, options: Options) -> Classified:
    """The class of every line: header before summary before tail before system before the rest."""
    lines = survey.lines
    unit_of = {line: at for at, unit in enumerate(survey.units) for line in unit.lines}
    tail_start = find_tail(survey, options.keep_tail, options.target_tokens)
    on_path = frozenset(survey.walk.path)
    classes: list[LineClass] = []
    asked = False
    for at, line in enumerate(lines):
        fixed = _fixed_class(survey, at, line, tail_start, at in on_path)
        unit = survey.units[unit_of[at]] if at in unit_of else None
        classes.append(fixed or _class_by_content(lines, line, unit, asked, options))
        if line.kind == "assistant":
            # The question may be what was cut away.
            asked = line.asks or line.is_condensed
        elif line.kind == "user":
            asked = False
    return Classified(tuple(classes), tail_start, unit_of)


def find_tail(survey: Survey, keep: KeepTail, target_tokens: int) -> int:
    """The index of the first line of the tail.

    At least `keep` physical lines, summary and marker not counted, then back to where the turn starts; a turn that
    would more than double the tail is entered at one of its steps instead. `auto` is the last complete turn, or as
    many of its newest steps as fit into half the target. A call is never parted from its results.
    """
    if keep == "auto":
        return _auto_tail(survey, target_tokens)
    counted = _counted_lines(survey.lines)
    if not counted:
        return 0
    step = max(0, len(counted) - max(keep, 1))
    turn = next((at for at in range(step, -1, -1) if _starts_turn(survey.lines, counted[at])), None)
    if turn is not None and step - turn <= max(keep, 1):
        step = turn
    return _whole_units_from(survey, counted[step])


def is_large(line: SessionLine, options: Options) -> bool:
    """True for a line of which the ladder can cut an output or arguments."""
    return line.cuttable_chars > options.truncate_threshold_chars


def _fixed_class(survey: Survey, at: int, line: SessionLine, tail_start: int, on_path: bool) -> LineClass | None:
    if line.kind in ("blank", "unparsable"):
        return "P0"
    if at == survey.header:
        return "P10"
    if line.kind in ("summary", "spoken_summary") and on_path:
        return "P9"
    if at >= tail_start:
        return "P7"
    if line.kind not in ("user", "assistant", "result", "bash"):
        return "P8"
    return None


def _class_by_content(
    lines: Sequence[SessionLine], line: SessionLine, unit: Unit | None, asked: bool, options: Options
) -> LineClass:
    if line.kind == "user":
        if not line.has_own_words and not line.results:
            return "P8"
        return "P5" if line.is_pleasantry and not asked and not line.results else "P6"
    if is_large(line, options) or line.thinking_chars > options.truncate_threshold_chars:
        return "P1"
    if unit is None:
        return "P5" if line.is_pleasantry or not line.text_chars else "P4"
    if line.kind == "assistant" and (line.text_chars > WORDY_CHARS or line.is_condensed):
        return "P4"
    return _unit_class(lines, unit)


def _unit_class(lines: Sequence[SessionLine], unit: Unit) -> LineClass:
    calls = [call for at in unit.lines for call in lines[at].calls]
    results = {result.call_id: result for at in unit.lines for result in lines[at].results}
    if calls and all(
        call.shape == "listing"
        or (call.shape == "search" and (result := results.get(call.id)) is not None and result.is_empty)
        for call in calls
    ):
        return "P2"
    if unit.open_calls or any(result.has_failed for result in results.values()):
        return "P4"
    return "P3"


def _starts_turn(lines: Sequence[SessionLine], at: int) -> bool:
    return lines[at].kind == "user" and lines[at].has_own_words and not lines[at].is_pleasantry


def _whole_units_from(survey: Survey, start: int) -> int:
    """`start`, moved back until no unit lies on both sides of it."""
    for unit in sorted(survey.units, key=lambda unit: unit.lines[0], reverse=True):
        if unit.lines[0] < start <= unit.lines[-1]:
            start = unit.lines[0]
    return start


def _counted_lines(lines: Sequence[SessionLine]) -> tuple[int, ...]:
    """The lines that a tail is counted in; summary and marker come and go with each run and do not count."""
    return tuple(at for at, line in enumerate(lines) if line.kind not in ("summary", "spoken_summary", "marker"))


def _auto_tail(survey: Survey, target_tokens: int) -> int:
    """Found on the path alone: an abandoned branch is no part of the conversation's end."""
    lines, path = survey.lines, survey.walk.path
    if not path:
        return len(lines) - 1
    start = _last_complete_turn(lines, path)
    left = target_tokens * _AUTO_TAIL_SHARE
    best = path[-1]
    for step in range(len(path) - 1, start - 1, -1):
        at = path[step]
        left -= lines[at].tokens
        if left < 0:
            break
        if lines[at].kind in ("user", "assistant"):
            best = at
    return _whole_units_from(survey, best if left < 0 else path[start])


def _last_complete_turn(lines: Sequence[SessionLine], path: Sequence[int]) -> int:
    """Where in the path the newest turn starts that ends with an answer; else the newest turn, else the first line."""
    newest: int | None = None
    has_answer = False
    for step in range(len(path) - 1, -1, -1):
        line = lines[path[step]]
        if line.kind == "assistant" and line.text_chars and not line.calls:
            has_answer = True
        if _starts_turn(lines, path[step]):
            newest = step if newest is None else newest
            if has_answer:
                return step
    return newest if newest is not None else 0
