"""A whole answer as the reader gives it, for tests that compare it with one literal."""

from __future__ import annotations

import json
from dataclasses import dataclass

from assistant.models.wire.answer_reader import AnswerReader, AnswerSummary, ReadingHabits
from assistant.models.wire.call_forms import Schemas
from assistant.models.wire.pieces import AnswerText, ServerFailure, ThoughtText, WholeCall
from assistant.models.wire.written_text import Opening, Retraction

TOOLS: Schemas = {
    "memory_get": {
        "required": ["path"],
        "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}, "deep": {"type": "boolean"}},
    },
    "memory_search": {"required": ["query"], "properties": {"query": {"type": "string"}}},
    "today": {"properties": {}},
}


@dataclass(frozen=True, slots=True)
class Reading:
    """What a person sees and what runs; `calls` are pairs of a name and arguments."""

    text: str = ""
    thought: str = ""
    calls: tuple[tuple[str, object], ...] = ()
    failure: str = ""
    has_ended: bool = True


def read(
    content: bytes, *, opening: Opening = "answer", step: int = 0, reads_calls: bool = True, tools: Schemas = TOOLS
) -> Reading:
    """The answer in these bytes, handed over `step` at a time (0: at once)."""
    reading, _ = read_with_summary(content, opening=opening, step=step, reads_calls=reads_calls, tools=tools)
    return reading


def read_with_summary(
    content: bytes, *, opening: Opening = "answer", step: int = 0, reads_calls: bool = True, tools: Schemas = TOOLS
) -> tuple[Reading, AnswerSummary]:
    """The same with what the reader knows at the end."""
    reader = AnswerReader(tools, ReadingHabits(opening, reads_calls=reads_calls))
    step = step or len(content) or 1
    pieces = [piece for start in range(0, len(content), step) for piece in reader.feed(content[start : start + step])]
    pieces += reader.close()
    text, thought, failure = "", "", ""
    for piece in pieces:
        match piece:
            case AnswerText():
                text += piece.text
            case ThoughtText():
                thought += piece.text
            case Retraction():
                text, thought = "", thought + text
            case ServerFailure():
                failure += piece.message
    summary = reader.summary
    calls = tuple((call.name, arguments_of(call)) for call in summary.calls)
    return Reading(text, thought, calls, failure, summary.has_ended), summary


def arguments_of(call: WholeCall) -> object:
    """The arguments as a value; the text where it is no JSON."""
    try:
        return json.loads(call.arguments)
    except ValueError:
        return call.arguments


def sse(*events: object, done: bool = True) -> bytes:
    """The events as a server sends them."""
    rows = [event if isinstance(event, str) else json.dumps(event, ensure_ascii=False) for event in events]
    return "".join(f"data: {row}\n\n" for row in [*rows, *(["[DONE]"] if done else [])]).encode()


def chunk(delta: dict[str, object] | None = None, reason: str | None = None, **more: object) -> dict[str, object]:
    """One of OpenAI's chunks."""
    choice: dict[str, object] = {"index": 0, "delta": delta or {}, "finish_reason": reason}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **more}


def said(*texts: str) -> list[dict[str, object]]:
    """Chunks with these texts, and the end."""
    return [*(chunk({"content": text}) for text in texts), chunk({}, "stop")]
