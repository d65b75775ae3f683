"""The text of an answer as it streams, parted into answer, thinking and calls that are written in it (pure).

Thinking between `<think>` tags and their relatives is thinking wherever it is, also where the tag is never closed.
A tag within code is text. What could still turn out to be a tag or a call is held back until it is known.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from assistant.models.wire.call_forms import Schemas, WrittenCall
from assistant.models.wire.pieces import AnswerText, ThoughtText
from assistant.models.wire.written_calls import (
    may_become_call,
    may_become_named_call,
    read_section,
    read_whole,
    sections_of,
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
    "<mm:think>": "</mm:think>",
    "<scratchpad>": "</scratchpad>",
    "<reflection>": "</reflection>",
    "<internal_thoughts>": "</internal_thoughts>",
    "<inner_thoughts>": "</inner_thoughts>",
    "◁think▷": "◁/think▷",
    "[think]": "[/think]",
    "<|think|>": "<|/think|>",
    "<|thinking|>": "<|/thinking|>",
    "<|start_thinking|>": "<|end_thinking|>",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|channel>thought": "<channel|>",
    "<|channel|>analysis<|message|>": "<|end|>",
}
"""What opens thinking, and what closes it, in small letters."""
_CLOSINGS = tuple(closing for closing in dict.fromkeys(_THOUGHT_TAGS.values()) if closing != "<|end|>")
_DROPPED = (
    "<|channel|>final<|message|>",
    "<|channel|>commentary<|message|>",
    "<|start|>assistant",
    "<|start_response|>",
    "<|end_response|>",
    "<|begin_of_solution|>",
    "<|end_of_solution|>",
    "<|begin_of_box|>",
    "<|end_of_box|>",
    "<|end|>",
    "<|return|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<end_of_turn>",
    "<｜end▁of▁sentence｜>",
)
"""Marks of a template that a server should have taken out."""
_ANSWER_TAGS = ("<answer>", "</answer>")
_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
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
        self._sections: Mapping[str, tuple[str, ...]] = sections_of(schemas) if self._reads_calls else {}
        self._has_thought = False
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
        self._has_thought = True
        end = self._buffer.translate(_ASCII_LOWER).find(self._closing)
        if end < 0:
            kept = 0 if is_end else _overlap(self._buffer, (self._closing,))
            thought, self._buffer = _cut(self._buffer, kept)
            return [ThoughtText(thought)]
        thought, self._buffer = self._buffer[:end], self._buffer[end + len(self._closing) :]
        self._closing = ""
        return [ThoughtText(thought)]

    def _text(self, is_end: bool) -> list[Part | Retraction]:
        # Behind a thought some models put their answer between tags as well.
        answer_tags = _ANSWER_TAGS if self._has_thought else ()
        marks = (*_THOUGHT_TAGS, *_CLOSINGS, *_DROPPED, *answer_tags, *self._sections)
        found = _first(self._buffer, marks)
        if found is None:
            return self._plain(is_end, marks)
        place, mark = found
        if not is_end and _may_go_on(self._buffer[place:], mark, marks):
            text, self._buffer = self._buffer[:place], self._buffer[place:]
            return self._say(text)
        if self._is_code(place):
            text, self._buffer = self._buffer[: place + len(mark)], self._buffer[place + len(mark) :]
            return self._say(text)
        if mark in self._sections:
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
        end = _first(self._buffer[start:], self._sections[mark]) if self._sections[mark] else None
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
            text, self._buffer = self._buffer.removesuffix("</s>"), ""
            if self._reads_calls:
                text = self._take_last_calls(text)
            return self._say(text)
        kept = max(_overlap(self._buffer, (*marks, "</s>.")), self._bare_call_chars())
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
        if not self._answer and may_become_named_call(self._buffer, self._schemas):
            return len(self._buffer)
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
    """The first of the marks in a text, in letters of any size, and where it is; the longest where several are."""
    text = text.translate(_ASCII_LOWER)
    found = [(place, -len(mark), mark) for mark in marks if (place := text.find(mark)) >= 0]
    if not found:
        return None
    place, _, mark = min(found)
    return place, mark


def _may_go_on(text: str, mark: str, marks: tuple[str, ...]) -> bool:
    """True where a text that begins with the mark may still become a longer one."""
    small = text.translate(_ASCII_LOWER)
    return any(len(other) > len(small) and other.startswith(small) for other in marks if other.startswith(mark))


def _overlap(text: str, marks: tuple[str, ...]) -> int:
    """How many characters at the end of the text are the beginning of a mark."""
    text = text.translate(_ASCII_LOWER)
    longest = max(map(len, marks), default=1)
    firsts = {mark[0] for mark in marks}
    for length in range(min(len(text), longest - 1), 0, -1):
        if text[-length] in firsts and any(mark.startswith(text[-length:]) for mark in marks):
            return length
    return 0


def _cut(text: str, kept: int) -> tuple[str, str]:
    return (text[: len(text) - kept], text[len(text) - kept :]) if kept else (text, "")
