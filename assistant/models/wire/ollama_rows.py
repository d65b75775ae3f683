"""The rows of Ollama's own chat as its library expects them (pure).

https://docs.ollama.com/api/chat. Thinking and calls that a model writes into its text, because its template does not
know them, are taken out of it as they are with every other local server.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from assistant.messages.blocks import parse_object
from assistant.models.wire.answer_facts import AnswerFacts
from assistant.models.wire.answer_reader import AnswerReader, ReadingHabits, RegularPiece
from assistant.models.wire.native_events import NativeEvents
from assistant.models.wire.pieces import AnswerText, ServerFailure, ThoughtText
from assistant.models.wire.written_calls import schemas_of
from assistant.models.wire.written_text import opening_of
from assistant.text.json_values import JsonObject, is_list


class OllamaRows(NativeEvents):
    """Reads the rows of one answer; the calls come at its end."""

    def __init__(self, facts: AnswerFacts, request: JsonObject) -> None:
        super().__init__(facts)
        tools = request.get("tools")
        habits = ReadingHabits(opening_of(str(request.get("model"))))
        self._reader = AnswerReader(schemas_of(tools if is_list(tools) else []), habits)
        self._text_chars = 0

    def feed(self, value: JsonObject) -> list[JsonObject]:
        """The rows for one of the server's."""
        return self._rows(self._reader.feed(json.dumps(value).encode() + b"\n"))

    def close(self) -> list[JsonObject]:
        """The rest of the text, the calls, and the end."""
        rows = self._rows(self._reader.close())
        summary, facts = self._reader.summary, self.facts
        facts.has_ended, facts.usage, facts.unread = summary.has_ended, summary.usage, summary.unread
        facts.output_tokens = summary.usage.output_tokens if summary.usage else 0
        facts.is_cut = summary.reason == "length"
        facts.is_filtered = summary.reason == "content_filter"
        calls = [
            {"function": {"name": call.name, "arguments": parse_object(call.arguments) or {}}} for call in summary.calls
        ]
        return [*rows, *([_row(tool_calls=calls)] if calls else []), {**_row(), "done": True}]

    def encode(self, value: JsonObject) -> bytes:
        """A row of its own."""
        return json.dumps(value).encode() + b"\n"

    def _rows(self, pieces: Sequence[RegularPiece]) -> list[JsonObject]:
        rows: list[JsonObject] = []
        for piece in pieces:
            self.has_begun = True
            match piece:
                case AnswerText(text=text):
                    self._text_chars += len(text)
                    rows.append(_row(content=text))
                case ThoughtText(text=text):
                    rows.append(_row(thinking=text))
                case ServerFailure(message=message):
                    rows.append({"error": message})
                case _:
                    self.facts.thought_chars = self._text_chars
        return rows


def _row(**message: object) -> JsonObject:
    return {"message": {"role": "assistant", "content": "", **message}, "done": False}
