"""What code writes into the day's note of a stretch of conversation, where no model did."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assistant.compaction.digest.statements import Statement, statements_of
from assistant.compaction.shorten.text_cut import byte_length
from assistant.compaction.summary.sections import SectionList, read_sections, sections_for
from assistant.compaction.summary.selection import choose_spread
from assistant.config.words import LANGUAGES
from assistant.memory.standing import StandingLines
from assistant.messages.blocks import Msg
from assistant.text.markdown import read_heading, without_bullet
from assistant.text.passages import key_of

MAX_SAID_BYTES = 12_000
"""What one compaction may add of the person's own words."""
_CANDIDATE_WEIGHT = 2
_PRESETS: tuple[SectionList, ...] = ("copaw", "skill_compose")
_NOTED_SECTIONS = ("progress", "decisions", "current_state", "problem_solving")
_DAY = re.compile(r"\d{4}-\d\d-\d\d:")


@dataclass(frozen=True, slots=True)
class SaidOn:
    """What the person said on a day; the day is empty where it is not known."""

    day: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CodeNote:
    """Lines for the note: what the person said, day by day, and what is new in the summary."""

    said: tuple[SaidOn, ...]
    summary: tuple[str, ...]


def candidates_in(messages: Sequence[Msg]) -> list[Statement]:
    """What the person said about themselves, decided or wished for, or that names something: worth a line, by shape."""
    return [one for one in statements_of(messages) if one.weight >= _CANDIDATE_WEIGHT]


def note_of_unfiled(messages: Sequence[Msg], filed: Sequence[str]) -> CodeNote:
    """Those candidates that no line of `filed` holds, for where a model filed nothing."""
    standing = StandingLines(filed)
    return CodeNote(_said_by_day([one for one in candidates_in(messages) if not standing.keep(one.text)]), ())


def note_by_code(folded: Sequence[Msg], summary: str, previous_summary: str, filed: Sequence[str] = ()) -> CodeNote:
    """The person's statements in the folded messages, and the new lines of the summary's progress and decisions.

    What a line of `filed` holds is left out.
    """
    standing = StandingLines(filed)
    stated = [one for one in statements_of(folded) if one.weight > 0 and not standing.keep(one.text)]
    sizes = [byte_length(one.text) for one in stated]
    kept = [stated[place] for place in choose_spread([one.weight for one in stated], sizes, MAX_SAID_BYTES)]
    known = {_said(line) for line in previous_summary.splitlines()} | {one.key for one in kept}
    new = [line for line in _noted_lines(summary) if _said(line) not in known]
    return CodeNote(_said_by_day(kept), tuple(new))


def _said_by_day(stated: Sequence[Statement]) -> tuple[SaidOn, ...]:
    days = dict.fromkeys(one.day for one in stated)
    return tuple(SaidOn(day, tuple(one.text for one in stated if one.day == day)) for day in days)


def _noted_lines(summary: str) -> list[str]:
    asked = [section for preset in _PRESETS for language in LANGUAGES for section in sections_for(preset, language)]
    kept = [section for section in read_sections(summary, asked) if section.key in _NOTED_SECTIONS]
    lines = [line.strip() for section in kept for line in section.body.splitlines()]
    return [line for line in lines if line and not read_heading(line) and not _DAY.fullmatch(line)]


def _said(line: str) -> str:
    return key_of(without_bullet(line))
