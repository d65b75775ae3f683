"""Tidying: what could go from memory files that are nearly full, and a file without what a person accepted."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assistant.compaction.summary.summary import Ask
from assistant.config.prompts import render
from assistant.config.words import Language, say
from assistant.errors import ModelError
from assistant.memory.needless_lines import BY_THE_MODEL, TidyProposal, comparable_lines, needless_lines, propose_line
from assistant.memory.notes import Note
from assistant.storage.workspace import FILE_MAX_CHARS

FULL_SHARE = 0.8
"""Above this share of its cap a file is worth tidying."""

TIDY_WRITER = "tidy"
"""`writer` of a change that a person accepted line by line."""
_PAIR = re.compile(r"^\s*(\d{1,6})\s*<\s*(\d{1,6})\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Tidying:
    """What could go from the files that are nearly full, and one notice; empty when none is."""

    proposals: tuple[TidyProposal, ...]
    notice: str

    def told(self, sentence: str) -> Tidying:
        """The same with one more sentence in the notice."""
        return Tidying(self.proposals, f"{self.notice} {sentence}".strip())


def nearly_full(notes: Sequence[Note], cap_chars: int = FILE_MAX_CHARS) -> list[Note]:
    """The files above 80 % of their cap."""
    return [note for note in notes if len(note.text) > FULL_SHARE * cap_chars]


def propose_tidying(notes: Sequence[Note], cap_chars: int = FILE_MAX_CHARS) -> Tidying:
    """Lines of the nearly full files that say the same as another, nearly the same, or something older."""
    full = nearly_full(notes, cap_chars)
    proposals = tuple(proposal for note in full for proposal in needless_lines(note))
    return Tidying(proposals, _notice(full, proposals, cap_chars))


@dataclass(frozen=True, slots=True)
class TidyModel:
    """A model that may be asked about a file of at most so many tokens."""

    ask: Ask
    max_tokens: int
    count_tokens: Callable[[str], int]


async def propose_with_model(notes: Sequence[Note], model: TidyModel | None, language: Language) -> Tidying:
    """What code finds in the nearly full files, and what the model does; the notice says whether it was asked."""
    tidying = await asyncio.to_thread(propose_tidying, notes)
    for note in nearly_full(notes):
        if model is None:
            return tidying.told(say("memory", "tidy_no_model"))
        if model.count_tokens(note.text) > model.max_tokens:
            tidying = tidying.told(say("memory", "tidy_too_long", name=note.name))
            continue
        try:
            more = await ask_for_proposals(note, model.ask, language)
        except ModelError as error:
            return tidying.told(say("memory", "tidy_not_asked", error=error))
        tidying = merge_proposals(tidying, more).told(
            say("memory", "tidy_asked", name=note.name, lines=count_lines(len(more)))
        )
    return tidying


async def ask_for_proposals(note: Note, ask: Ask, language: Language) -> tuple[TidyProposal, ...]:
    """Lines that a model finds needless; whatever else it answers is left out. Raises what `ask` raises."""
    lines = {line.number: line for line in comparable_lines(note.text)}
    system = render("tidy_system", language)
    answer = await ask(system, render("tidy_user", language, name=note.name, lines=note.text.split("\n")))
    proposals: dict[int, TidyProposal] = {}
    for gone, stays in _PAIR.findall(answer):
        line, other = lines.get(int(gone)), lines.get(int(stays))
        if line is None or other is None or line is other or other.number in proposals:
            continue
        if line.number not in {proposal.stays_line for proposal in proposals.values()}:
            proposals.setdefault(line.number, propose_line(note, line, other, BY_THE_MODEL))
    return tuple(proposals[number] for number in sorted(proposals))


def merge_proposals(tidying: Tidying, more: Sequence[TidyProposal]) -> Tidying:
    """Those found by code, then the model's about lines that are neither to go nor the reason for another to go."""
    known = {
        (proposal.name, number) for proposal in tidying.proposals for number in (proposal.line, proposal.stays_line)
    }
    gone = {(proposal.name, proposal.line) for proposal in tidying.proposals}
    new = [
        proposal
        for proposal in more
        if (proposal.name, proposal.line) not in known and (proposal.name, proposal.stays_line) not in gone
    ]
    return Tidying((*tidying.proposals, *new), tidying.notice)


@dataclass(frozen=True, slots=True)
class Tidied:
    """A text without what was accepted, and how many lines went; `left` had changed meanwhile, or their reason had."""

    text: str
    removed: int
    left: int


def without_accepted(text: str, accepted: Sequence[TidyProposal]) -> Tidied:
    """The text without the lines of these proposals.

    A line that is elsewhere now is found if it is there once. One whose reason is gone stays.
    """
    lines = text.split("\n")
    chosen: dict[int, TidyProposal] = {}
    for proposal in accepted:
        index = _index_of(lines, proposal)
        if index is not None:
            chosen[index] = proposal
    kept = {line for index, line in enumerate(lines) if index not in chosen}
    gone = {index for index, proposal in chosen.items() if proposal.stays in kept}
    rest = "\n".join(line for index, line in enumerate(lines) if index not in gone)
    return Tidied(rest, len(gone), len(accepted) - len(gone))


def _index_of(lines: Sequence[str], proposal: TidyProposal) -> int | None:
    index = proposal.line - 1
    if 0 <= index < len(lines) and lines[index] == proposal.text:
        return index
    places = [index for index, line in enumerate(lines) if line == proposal.text]
    return places[0] if len(places) == 1 else None


def count_lines(count: int) -> str:
    """The number of lines in words."""
    key = "no_line_of_them" if count == 0 else "one_line" if count == 1 else "lines"
    return say("memory", key, count=count)


def _notice(full: Sequence[Note], proposals: Sequence[TidyProposal], cap_chars: int) -> str:
    if not full:
        return ""
    how_full = ", ".join(f"{note.name} ({len(note.text) / cap_chars:.0%})" for note in full)
    what = (
        say("memory", "tidy_could_go", lines=count_lines(len(proposals)))
        if proposals
        else say("memory", "tidy_nothing")
    )
    return say("memory", "tidy_nearly_full", how_full=how_full, what=what)
