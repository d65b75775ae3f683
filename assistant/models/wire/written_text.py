"""The text of an answer as it streams, parted into answer, thinking and calls that are written in it (pure).

Thinking between `<think>` tags and their relatives is thinking wherever it is, also where the tag is never closed.
A tag within code is text. What could still turn out to be a tag or a call is held back until it is known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from assistant.models.wire.pieces import AnswerText, ThoughtText
from assistant.models.wire.written_calls import (
    SECTIONS,
    Schemas,
    WrittenCall,
    may_become_call,
    read_section,
    read_whole,
    split_last,
)

Opening = Literal["answer", "thought", "unknown"]
"""How an answer of this model begins: with the answer; in thinking whose opening tag the server kept; or not known."""

_THOUGHT_TAGS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<thoughts>": "</thoughts>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",
    "◁think▷": "◁/think▷",
    "[THINK]": "[/THINK]",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|channel|>analysis<|message|>": "<|end|>",
}
_CLOSINGS = tuple(dict.fromkeys(_THOUGHT_TAGS.values()))
_DROPPED = ("<|channel|>final<|message|>", "<|start|>assistant", "<|START_RESPONSE|>", "<|END_RESPONSE|>")
_CALL_OPENINGS = tuple(SECTIONS)
_THINKERS = re.compile(
    r"(?:^|[^a-z])r1(?:[^a-z0-9]|$)|qwq|think|reason|magistral|deepseek-r|glm-z|exaone-deep|marco-o1|skywork-o1",
    re.IGNORECASE,
)
"""Names of models whose template opens the thinking itself, so that their answers come without the opening tag."""

Part = AnswerText | ThoughtText


@dataclass(frozen=True, slots=True)
class Retraction:
    """All text of the answer so far was thinking: its closing tag came without an opening one."""


def opening_of(model_name: str) -> Opening:
    """How the answers of a model begin, as far as its name says."""
    return "unknown" if _THINKERS.search(model_name) else "answer"


class WrittenText:
    """Feed it the text of an answer, take what is known of it; `close` gives the rest and the calls that were found.

    `opening` says how the model's answers begin. With "thought" the text is thinking until a closing tag, with
    "unknown" it is held until one comes or the answer ends, so that no thought is shown as an answer; where none comes,
    all of it was the answer. With "answer" a closing tag that was never opened is a `Retraction`.
    """

    def __init__(self, schemas: Schemas, opening: Opening = "answer", *, reads_calls: bool = True) -> None:
        self._schemas = schemas
        self._opening = opening
        self._reads_calls = reads_calls and bool(schemas)
        self._is_undecided = opening != "answer"
        self._held: list[str] = []
        self._closing = ""
        self._buffer = ""
        self._answer = ""
        self.calls: list[WrittenCall] = []
        self.begins_in_thought = False
        """True once a closing tag came that nothing had opened."""

    def feed(self, text: str) -> list[Part | Retraction]:
        """What these characters settle."""
        self._buffer += text
        return self._settle(is_end=False)

    def close(self) -> list[Part | Retraction]:
        """What is left at the end of the answer."""
        return self._settle(is_end=True)

    def _settle(self, *, is_end: bool) -> list[Part | Retraction]:
        parts: list[Part | Retraction] = []
        while self._buffer:
            before = len(self._buffer)
            parts += self._thought(is_end) if self._closing else self._text(is_end)
            if len(self._buffer) == before:
                break
        if is_end:
            parts += self._decide_for_answer()
        return [part for part in parts if isinstance(part, Retraction) or part.text]

    def _thought(self, is_end: bool) -> list[Part | Retraction]:
        end = self._buffer.find(self._closing)
        if end < 0:
            kept = 0 if is_end else _overlap(self._buffer, (self._closing,))
            thought, self._buffer = _cut(self._buffer, kept)
            return [ThoughtText(thought)]
        thought, self._buffer = self._buffer[:end], self._buffer[end + len(self._closing) :]
        self._closing = ""
        return [ThoughtText(thought)]

    def _text(self, is_end: bool) -> list[Part | Retraction]:
        marks = (*_THOUGHT_TAGS, *_CLOSINGS, *_DROPPED, *(_CALL_OPENINGS if self._reads_calls else ()))
        found = _first(self._buffer, marks)
        if found is None:
            return self._plain(is_end, marks)
        place, mark = found
        if self._is_code(place):
            text, self._buffer = self._buffer[: place + len(mark)], self._buffer[place + len(mark) :]
            return self._say(text)
        if mark in SECTIONS and self._reads_calls:
            return self._section(place, mark, is_end)
        text, self._buffer = self._buffer[:place], self._buffer[place + len(mark) :]
        if mark in _THOUGHT_TAGS:
            said = [*self._say(text), *self._decide_for_answer()]
            self._closing = _THOUGHT_TAGS[mark]
            return said
        return self._unopened(text) if mark in _CLOSINGS else self._say(text)

    def _decide_for_answer(self) -> list[Part | Retraction]:
        """What was held back is the answer."""
        if not self._is_undecided:
            return []
        self._is_undecided = False
        held = "".join(self._held)
        self._held.clear()
        self._answer = held if held.strip() else ""
        return [AnswerText(self._answer)]

    def _unopened(self, text: str) -> list[Part | Retraction]:
        """A closing tag that nothing opened: all before it was thinking."""
        if self._is_undecided:
            thought = text if self._opening == "thought" else "".join([*self._held, text])
            self._is_undecided = False
            self._held.clear()
            self._answer = ""
            self.begins_in_thought = True
            return [ThoughtText(thought)]
        if self.begins_in_thought or not (self._answer + text).strip():
            # A tag left over behind thinking that came under its own name.
            return self._say(text)
        self.begins_in_thought = True
        self._answer = ""
        return [Retraction(), ThoughtText(text)]

    def _section(self, place: int, mark: str, is_end: bool) -> list[Part | Retraction]:
        start = place + len(mark)
        end = _first(self._buffer[start:], SECTIONS[mark]) if SECTIONS[mark] else None
        if end is None and not is_end:
            text, self._buffer = self._buffer[:place], self._buffer[place:]
            return self._say(text)
        stop = start + end[0] + len(end[1]) if end else len(self._buffer)
        section = self._buffer[place:stop]
        calls = read_section(section, self._schemas)
        text = self._buffer[:place] if calls else self._buffer[:stop]
        self._buffer = self._buffer[stop:]
        self.calls += calls
        return self._say(text.rstrip() if calls else text)

    def _plain(self, is_end: bool, marks: tuple[str, ...]) -> list[Part | Retraction]:
        if is_end:
            text, self._buffer = self._buffer, ""
            if self._reads_calls:
                text = self._take_last_calls(text)
            return self._say(text)
        kept = max(_overlap(self._buffer, marks), self._bare_call_chars())
        text, self._buffer = _cut(self._buffer, kept)
        return self._say(text)

    def _take_last_calls(self, text: str) -> str:
        if self._is_undecided and self._opening == "unknown":
            text = "".join([*self._held, text])
            self._held.clear()
        if not self._answer.strip():
            calls = read_whole(text, self._schemas)
            if calls:
                self.calls += calls
                return ""
        before, calls = split_last(text, self._schemas)
        self.calls += calls
        return before.rstrip() if calls else text

    def _bare_call_chars(self) -> int:
        """How many characters at the end could be a call without marks; it begins with a line."""
        if not self._reads_calls:
            return 0
        starts = [match.end() for match in re.finditer("\n", self._buffer)]
        if not self._answer or self._answer.endswith("\n"):
            starts.insert(0, 0)
        return next((len(self._buffer) - start for start in starts if may_become_call(self._buffer[start:])), 0)

    def _say(self, text: str) -> list[Part | Retraction]:
        # An answer does not begin with the blank lines behind a thought.
        text = text if self._answer or self._is_undecided else text.lstrip()
        if not text:
            return []
        if self._is_undecided:
            self._held.append(text)
            return [ThoughtText(text)] if self._opening == "thought" else []
        self._answer += text
        return [AnswerText(text)]

    def _is_code(self, place: int) -> bool:
        """True where the text up to here is within a fence or inline code."""
        text = self._answer + self._buffer[:place]
        if len(re.findall(r"^[ \t]*(?:```|~~~)", text, re.MULTILINE)) % 2:
            return True
        line = text[text.rfind("\n") + 1 :]
        return line.count("`") % 2 == 1


def _first(text: str, marks: tuple[str, ...]) -> tuple[int, str] | None:
    found = [(place, -len(mark), mark) for mark in marks if (place := text.find(mark)) >= 0]
    if not found:
        return None
    place, _, mark = min(found)
    return place, mark


def _overlap(text: str, marks: tuple[str, ...]) -> int:
    """How many characters at the end of the text are the beginning of a mark."""
    longest = max(map(len, marks), default=1)
    for length in range(min(len(text), longest - 1), 0, -1):
        if any(mark.startswith(text[-length:]) for mark in marks):
            return length
    return 0


def _cut(text: str, kept: int) -> tuple[str, str]:
    return (text[: len(text) - kept], text[len(text) - kept :]) if kept else (text, "")
