"""Random answers in random forms, split at any byte: each reads as the plain one does."""

from __future__ import annotations

import json
import random

import pytest

from tests.models.wire.readings import Reading, chunk, read

CASES = 2000
WORDS = ("Hello", " there", ".", "\n\n", "时间", " 🍵", " a < b", " **bold**", " {x}", " `code`", "\n- one", " Ünïcode")
ARGUMENTS = ({"path": "USER.md"}, {"path": "notes/a b.md", "lines": 3}, {"path": 'say "hi" {now}\n', "deep": True})
THOUGHT_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_text")


class Form:
    """One server's manner, drawn at random: how it writes text, thinking, calls, events and the end."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.thought_field = chance.choice(THOUGHT_FIELDS)
        self.as_parts = chance.random() < 0.3
        self.has_index = chance.random() < 0.7
        self.ids = chance.choice(("whole", "none", "each", "empty"))
        self.arguments = chance.choice(("pieces", "whole", "object", "twice", "after an empty object"))
        self.repeats_name = chance.random() < 0.3
        self.newline = chance.choice(("\n", "\r\n", "\r"))
        self.blank = chance.choice((" ", ""))
        self.lines = chance.choice(("events", "events", "values"))
        self.ending = chance.choice(("reason and mark", "reason", "mark"))

    def text(self, text: str) -> dict[str, object]:
        """A chunk of the answer."""
        return chunk({"content": [{"type": "text", "text": text}] if self.as_parts else text})

    def thought(self, text: str) -> dict[str, object]:
        """A chunk of thinking."""
        return chunk({self.thought_field: text})

    def call(self, place: int, arguments: dict[str, object]) -> list[dict[str, object]]:
        """The chunks of one call."""
        written = json.dumps(arguments, ensure_ascii=self.chance.random() < 0.5)
        values: list[object] = []
        match self.arguments:
            case "pieces":
                values += cut(written, self.chance)
            case "whole":
                values.append(written)
            case "object":
                values.append(arguments)
            case "twice":
                values.append(json.dumps(written))
            case _:
                values += ["{}", written]
        rows: list[dict[str, object]] = []
        for number, value in enumerate(values):
            function: dict[str, object] = {"arguments": value}
            if number == 0 or self.repeats_name:
                function["name"] = "memory_get"
            part: dict[str, object] = {"function": function}
            if self.has_index:
                part["index"] = place
            if self.ids == "each" or (self.ids == "whole" and number == 0):
                part["id"] = f"call_{place}"
            elif self.ids == "empty":
                part["id"] = ""
            rows.append(chunk({"tool_calls": [part]}))
        return rows

    def content(self, rows: list[dict[str, object]], reason: str) -> bytes:
        """The bytes of the response."""
        if self.ending != "mark":
            rows = [*rows, chunk({}, reason)]
        texts = [json.dumps(row, ensure_ascii=self.chance.random() < 0.5) for row in rows]
        if self.lines == "values" and self.ending != "mark":
            return self.newline.join(texts).encode()
        marks = [] if self.ending == "reason" else ["[DONE]"]
        return "".join(f"data:{self.blank}{text}{self.newline * 2}" for text in [*texts, *marks]).encode()


def cut(text: str, chance: random.Random) -> list[str]:
    """The text in pieces of any length."""
    pieces: list[str] = []
    while text:
        size = chance.randint(1, 9)
        pieces.append(text[:size])
        text = text[size:]
    return pieces


def random_answer(number: int) -> tuple[bytes, Reading]:
    """The bytes of answer `number`, and what they say."""
    chance = random.Random(number)
    form = Form(chance)
    thought = "".join(chance.choices(WORDS, k=chance.randint(0, 6)))
    text = "Well" + "".join(chance.choices(WORDS, k=chance.randint(0, 12))) if chance.random() < 0.8 else ""
    calls = chance.sample(ARGUMENTS, k=chance.randint(0, len(ARGUMENTS)))
    rows = [form.thought(piece) for piece in cut(thought, chance)] + [form.text(piece) for piece in cut(text, chance)]
    for place, arguments in enumerate(calls):
        rows += form.call(place, arguments)
    reading = Reading(text, thought, tuple(("memory_get", arguments) for arguments in calls))
    return form.content(rows, "tool_calls" if calls else "stop"), reading


@pytest.mark.parametrize("block", range(10))
def test_an_answer_in_any_form_reads_as_the_plain_one(block: int) -> None:
    size = CASES // 10
    for number in range(block * size, (block + 1) * size):
        content, reading = random_answer(number)
        step = random.Random(-number).choice((0, 1, 2, 3, 17, 101))
        assert read(content, step=step) == reading, (number, content.decode())
