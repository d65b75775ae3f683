"""The deterministic stand-in for a summary: what the person stated, what was asked and done, written by code alone.

Where there is more than fits, what names, binds or is about the person stays first, and of the rest every second,
third, … line, so that no stretch of the conversation is lost as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from assistant.compaction.digest.statements import StatementKind, statement_of, statements_of
from assistant.compaction.policy import PresetName
from assistant.compaction.summary.identifiers import identifiers_of
from assistant.compaction.summary.quoted_history import fence_safe, minute_of, shorten_for_reading
from assistant.compaction.summary.sections import (
    FilledSection,
    Section,
    merge_repeated,
    running_turn_section,
    sections_for,
)
from assistant.compaction.summary.selection import choose_newest, choose_spread
from assistant.config.prompts import render
from assistant.config.words import Language
from assistant.messages.blocks import Msg, TextBlock, ToolCallBlock, ToolResultBlock, result_text, text_of
from assistant.messages.tokens import TokenCounter
from assistant.text.markdown import read_heading, read_parts
from assistant.text.passages import passages_of

_FIRST_BYTES = 600
_NEWEST_BYTES = 300
# What the person stated is kept word for word in other sections; the progress shows questions, and what led to work.
_ASKED_BYTES = 120
_ANSWERED_BYTES = 300
_ARGUMENT_BYTES = 120
_RESULT_BYTES = 120
_MOST_NAMES = 40
_NAME_JOINT = ", "
_DAY_TOKENS = 8
# Of what there is room for.
_GOAL_RATIO = 0.2
_PROGRESS_RATIO = 0.3
_NAMED_RATIO = 0.1
_STATED_RATIO = 0.3
# A line that a model chose to write, or that holds others together, outweighs one that code copied.
_CHOSEN_WEIGHT = 2
_HEADING_WEIGHT = 9
_ASKING = re.compile(r"[?？]")
_FAILED = re.compile(r"→ (?:error|denied)\b")
_DAY = re.compile(r"(\d{4}-\d\d-\d\d):")


@dataclass(frozen=True, slots=True)
class _Homes:
    """The section of a preset that holds each kind of line."""

    goal: str
    progress: str
    names: str
    stated: dict[StatementKind, str]


_HOMES: dict[PresetName, _Homes] = {
    "copaw": _Homes("goal", "progress", "context", {"rule": "constraints", "decision": "decisions", "fact": "context"}),
    "skill_compose": _Homes(
        "request", "current_state", "concepts", {"rule": "concepts", "decision": "problem_solving", "fact": "concepts"}
    ),
}


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a section, or a block of code in one; `day` is that on which it was said, empty where not known."""

    text: str
    weight: int
    section: str = ""
    day: str = ""
    key: str = ""


def digest_sections(
    older: Sequence[Msg],
    turn_prefix: Sequence[Msg],
    previous: Sequence[FilledSection],
    preset: PresetName,
    language: Language,
    max_tokens: int,
    counter: TokenCounter,
) -> tuple[FilledSection, ...]:
    """The previous sections with what the folded messages add, in the order asked for; about `max_tokens` in all."""
    asked = sections_for(preset, language)
    running = running_turn_section(language)
    bodies = merge_repeated(previous, asked)
    digest = _Digest(bodies, _HOMES[preset], language, max_tokens, counter)
    done, running_now = digest.entries_of(older), digest.entries_of(turn_prefix)
    if older:
        # The running turn of the previous summary has ended; its notes are part of the progress now.
        ended = bodies.pop(running.key, "")
        digest.set_goal(older)
        digest.note(_HOMES[preset].progress, ended, done)
    if turn_prefix:
        digest.note(running.key, "", running_now)
    digest.state(older)
    digest.name([*done, *running_now])
    order: list[Section] = [*asked, running]
    return tuple(FilledSection(s.key, s.title, bodies[s.key]) for s in order if bodies.get(s.key, "").strip())


class _Digest:
    """The sections of one digest while it is written into `bodies`."""

    def __init__(
        self, bodies: dict[str, str], homes: _Homes, language: Language, max_tokens: int, counter: TokenCounter
    ) -> None:
        self._bodies = bodies
        self._homes = homes
        self._language: Language = language
        self._max_tokens = max_tokens
        self._counter = counter
        self._mark = self._render(kind="mark")
        self._start_of_answer = self._start_of("answered")
        is_by_code = any(self._mark in body for body in bodies.values())
        self._earlier_weight = 0 if is_by_code else _CHOSEN_WEIGHT
        self._first_goal = bodies.get(homes.goal, "")
        self._named = self._take_named()

    def set_goal(self, older: Sequence[Msg]) -> None:
        """What was asked first, or the goal as it was, and what was asked last."""
        requests = [(one, text) for one in older if one.role == "user" and (text := text_of(one).strip())]
        if not requests:
            return
        start_of_newest = self._start_of("newest")
        earlier = [
            line for line in self._read(self._bodies.get(self._homes.goal, "")) if start_of_newest not in line.text
        ]
        kept = [line.text for line in self._thin(earlier, round(self._max_tokens * _GOAL_RATIO))]
        if not kept:
            kept = [self._asked("asked", *requests[0], _FIRST_BYTES)]
        self._first_goal = "\n".join(kept)
        if earlier or len(requests) > 1:
            kept.append(self._asked("newest", *requests[-1], _NEWEST_BYTES))
        self._bodies[self._homes.goal] = "\n".join(kept)

    def note(self, section: str, ended: str, new: Sequence[_Line]) -> None:
        """What was asked, called and answered: the newest whole, and of what went before some of every stretch."""
        earlier = [line for line in self._read(f"{self._bodies.get(section, '')}\n{ended}") if line.text != self._mark]
        said_again = {_said(line) for line in new}
        earlier = [line for line in earlier if _said(line) not in said_again]
        lines = [*earlier, *{_said(line): line for line in new}.values()]
        weights, sizes = [line.weight for line in lines], [self._size(line.text) for line in lines]
        budget = round(self._max_tokens * _PROGRESS_RATIO)
        newest = choose_newest(sizes, budget // 2)
        start = len(lines) - len(newest)
        kept = [*choose_spread(weights[:start], sizes[:start], budget - sum(sizes[start:])), *newest]
        texts = [lines[place].text for place in kept]
        # What a model wrote is before the mark.
        texts.insert(sum(place < len(earlier) for place in kept) if self._earlier_weight else 0, self._mark)
        self._bodies[section] = "\n".join(texts)

    def state(self, older: Sequence[Msg]) -> None:
        """What the person stated, word for word, in what room the other sections leave."""
        homes = self._homes.stated
        new = [
            _Line(f"- {one.text}", one.weight, homes[one.kind], one.day, one.key)
            for one in statements_of(older)
            if one.weight and one.text not in self._first_goal
        ]
        keys = {line.key for line in new}
        sections = list(dict.fromkeys(homes.values()))
        earlier = [line for section in sections for line in self._read(self._bodies.get(section, ""), section)]
        lines = [*(line for line in earlier if line.key not in keys), *new]
        others = [body for section, body in self._bodies.items() if section not in sections]
        taken = self._size("\n".join(others)) + round(self._max_tokens * _NAMED_RATIO)
        days = len({(line.section, line.day) for line in lines})
        room = max(self._max_tokens - taken, round(self._max_tokens * _STATED_RATIO)) - days * _DAY_TOKENS
        kept = self._thin(lines, room)
        for section in sections:
            self._bodies[section] = _write_by_day([line for line in kept if line.section == section])

    def name(self, entries: Sequence[_Line]) -> None:
        """The identifiers of the folded messages that stand nowhere else."""
        said = "\n".join(entry.text for entry in entries)
        body = self._bodies.get(self._homes.names, "")
        names = list(dict.fromkeys([*self._named, *identifiers_of(said)]))
        names = [name for name in names if name not in body]
        sizes = [self._size(name) + 1 for name in names]
        kept = choose_spread([0] * len(names), sizes, round(self._max_tokens * _NAMED_RATIO))[-_MOST_NAMES:]
        if kept:
            named = self._render(kind="named", text=_NAME_JOINT.join(names[place] for place in kept))
            self._bodies[self._homes.names] = f"{body}\n{named}".strip()

    def _take_named(self) -> list[str]:
        """The names that the previous digest listed, taken out of the section in which they stand."""
        start = self._render(kind="named", text="")
        lines = self._bodies.get(self._homes.names, "").split("\n")
        rest = [line for line in lines if not line.startswith(start)]
        if len(rest) < len(lines):
            self._bodies[self._homes.names] = "\n".join(rest)
        listed = [line.removeprefix(start).strip() for line in lines if line.startswith(start)]
        return [name for line in listed for name in line.split(_NAME_JOINT)]

    def entries_of(self, messages: Sequence[Msg]) -> list[_Line]:
        """Questions, requests that led to work, calls and answers, a line each, oldest first."""
        entries: list[str] = []
        for message, answer in zip_longest(messages, messages[1:]):
            assert message is not None
            has_led_to_work = answer is not None and any(isinstance(block, ToolCallBlock) for block in answer.content)
            results = {block.id: block for block in message.content if isinstance(block, ToolResultBlock)}
            for block in message.content:
                if isinstance(block, ToolCallBlock):
                    entries.append(self._call(block, results.get(block.id)))
                elif isinstance(block, TextBlock) and block.text.strip():
                    at = minute_of(block.created_at or message.created_at)
                    if message.role != "user":
                        text = _one_line(block.text, _ANSWERED_BYTES)
                        entries.append(self._render(kind="answered", at=at, text=text))
                    elif has_led_to_work or _ASKING.search(block.text):
                        entries.append(self._render(kind="asked", at=at, text=_one_line(block.text, _ASKED_BYTES)))
        return [self._line(entry) for entry in entries]

    def _call(self, call: ToolCallBlock, result: ToolResultBlock | None) -> str:
        return self._render(
            kind="called",
            at=minute_of(call.created_at),
            name=call.name,
            arguments=_one_line(call.input, _ARGUMENT_BYTES),
            state=result.state if result else "interrupted",
            text=_one_line(result_text(result), _RESULT_BYTES) if result else "",
        )

    def _asked(self, kind: str, message: Msg, text: str, max_bytes: int) -> str:
        text = _ends_of(text, max_bytes)
        once = " ".join(dict.fromkeys(text[passage.start : passage.stop].strip() for passage in passages_of(text)))
        return self._render(kind=kind, at=minute_of(message.created_at), text=_one_line(once or text, max_bytes))

    def _read(self, body: str, section: str = "") -> list[_Line]:
        """The lines of a section that was written before; a block of code is one."""
        lines: list[_Line] = []
        day = ""
        for text in map(str.rstrip, read_parts(body)):
            if stamp := _DAY.fullmatch(text):
                day = stamp[1]
            elif text:
                line = self._line(text)
                lines.append(replace(line, weight=line.weight + self._earlier_weight, section=section, day=day))
        return lines

    def _line(self, text: str) -> _Line:
        if self._start_of_answer in text:
            return _Line(text, int(bool(identifiers_of(text))))
        statement = statement_of(text, "")
        if statement is None:
            return _Line(text, 0)
        weight = _HEADING_WEIGHT if read_heading(text) else statement.weight + (_FAILED.search(text) is not None)
        return _Line(text, weight, key=statement.key)

    def _thin(self, lines: Sequence[_Line], max_tokens: int) -> list[_Line]:
        sizes = [self._size(line.text) for line in lines]
        return [lines[place] for place in choose_spread([line.weight for line in lines], sizes, max_tokens)]

    def _size(self, text: str) -> int:
        return self._counter.text(text) + 1

    def _start_of(self, kind: str) -> str:
        return self._render(kind=kind, at="", text="").partition("] ")[2]

    def _render(self, **values: str) -> str:
        return render("summary_digest", self._language, **values)


def _said(line: _Line) -> str:
    """The line without its time."""
    return line.text.partition("] ")[2] or line.text


def _write_by_day(lines: Sequence[_Line]) -> str:
    written: list[str] = []
    day = ""
    for line in lines:
        if line.day and line.day != day:
            written.append(f"{line.day}:")
            day = line.day
        written.append(line.text)
    return "\n".join(written)


def _one_line(text: str, max_bytes: int) -> str:
    short = shorten_for_reading(" ".join(_ends_of(text, max_bytes).split()), max_bytes)
    return fence_safe(short.replace("\n", " "))


def _ends_of(text: str, max_bytes: int) -> str:
    """No more of a text than what is shown needs, so that a result of megabytes costs nothing."""
    return text if len(text) <= 4 * max_bytes else f"{text[: 2 * max_bytes]} … {text[-2 * max_bytes :]}"
