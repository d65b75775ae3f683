"""The bytes of one answer → the pieces of a regular one: text, thinking, whole calls, one end, one count (pure)."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from assistant.config.words import say
from assistant.models.wire.call_forms import Schemas
from assistant.models.wire.event_lines import END_MARK, EventLines
from assistant.models.wire.payloads import other_index, read_payload
from assistant.models.wire.pieces import (
    AnswerEnd,
    AnswerText,
    CallDelta,
    EndReason,
    MessageExtras,
    Piece,
    ServerFailure,
    ThoughtText,
    TokenUsage,
    UnreadPart,
    WholeCall,
)
from assistant.models.wire.wire_calls import CallAssembly
from assistant.models.wire.written_text import Opening, Retraction, WrittenText

_LONGEST_LITERAL = 100_000
_QUOTE_CHARS = 300
RegularPiece = AnswerText | ThoughtText | Retraction | ServerFailure


@dataclass(frozen=True, slots=True)
class AnswerSummary:
    """What is known once the answer is over.

    `has_ended` is False where the stream broke off before the server said that the answer ends. `thought_field` is the
    name under which thinking came, empty for tags. `unread` names what could not be shown, by the server's words.
    `begins_in_thought` is True where a closing tag came that nothing opened.
    """

    calls: tuple[WholeCall, ...]
    reason: EndReason
    has_ended: bool
    usage: TokenUsage | None
    extras: dict[str, object]
    thought_field: str
    unread: tuple[str, ...]
    begins_in_thought: bool


@dataclass(frozen=True, slots=True)
class ReadingHabits:
    """How the answers of one model are read.

    How they begin, whether calls are looked for in their text, and after how many tokens an answer is endless.
    """

    opening: Opening = "answer"
    reads_calls: bool = True
    max_reply_tokens: int = 131_072


class AnswerReader:
    """Feed it the bytes of a response as they come; `close` ends it, `summary` says what the whole came to."""

    def __init__(self, schemas: Schemas, habits: ReadingHabits) -> None:
        self._lines = EventLines()
        self._written = WrittenText(schemas, habits.opening, reads_calls=habits.reads_calls)
        self._assembly = CallAssembly(schemas)
        self._usage: TokenUsage | None = None
        self._extras: dict[str, object] = {}
        self._thought_field = ""
        self._unread: list[str] = []
        self._reason: EndReason | None = None
        self._is_marked_done = False
        self._others: list[Piece] = []
        self._said: dict[type[Piece], str] = {AnswerText: "", ThoughtText: ""}
        self._odd_words = ""
        self._has_said = False
        self._odd_events = 0
        self.call_chars = 0
        """Characters of tool calls that have come so far; they are held back until the answer ends."""

    def feed(self, content: bytes) -> list[RegularPiece]:
        """What these bytes say."""
        return self._read(self._lines.feed(content))

    def close(self) -> list[RegularPiece]:
        """What the end of the response settles."""
        pieces = self._read(self._lines.close())
        if not (self._has_said or pieces) and self._assembly.is_empty:
            # A server that counts its answers from 1.
            pieces += [regular for piece in self._others for regular in self._take(piece)]
        pieces += self._written.close()
        self._has_said = self._has_said or bool(pieces)
        if not self._has_said and self._odd_events and not self._written.calls and self._assembly.is_empty:
            pieces.append(ServerFailure(self._odd_words or say("models", "unreadable")))
        return pieces

    @property
    def summary(self) -> AnswerSummary:
        """What the answer came to; whole only after `close`."""
        written = [
            WholeCall("", call.name, json.dumps(call.arguments, ensure_ascii=False)) for call in self._written.calls
        ]
        native = self._assembly.whole()
        # A server that reads the calls and hands on their text too says each of them twice.
        calls = native or written
        has_ended = self._reason is not None or self._is_marked_done
        reason = self._reason or "stop"
        if calls and reason in ("stop", "tool_calls"):
            reason = "tool_calls"
        elif not calls and reason == "tool_calls":
            reason = "stop"
        return AnswerSummary(
            calls=tuple(calls),
            reason=reason,
            has_ended=has_ended,
            usage=self._usage,
            extras=dict(self._extras),
            thought_field=self._thought_field,
            unread=tuple(dict.fromkeys(self._unread)),
            begins_in_thought=self._written.begins_in_thought,
        )

    def _read(self, events: Sequence[str]) -> list[RegularPiece]:
        pieces: list[RegularPiece] = []
        for event in events:
            if event == END_MARK:
                self._is_marked_done = True
                continue
            value = _decoded(event)
            if value is None:
                self._odd_events += 1
                self._odd_words = self._odd_words or _words_of(event)
                continue
            if index := other_index(value):
                self._others += read_payload(value, index)
                continue
            for piece in read_payload(value):
                pieces += self._take(piece)
        self._has_said = self._has_said or bool(pieces)
        return pieces

    def _take(self, piece: Piece) -> list[RegularPiece]:
        match piece:
            case AnswerText():
                return list(self._written.feed(self._unsaid(piece)))
            case ThoughtText(field=field):
                self._thought_field = field
                text = self._unsaid(piece)
                return [ThoughtText(text, field)] if text else []
            case ServerFailure():
                return [piece]
            case CallDelta():
                self._assembly.add(piece)
                self.call_chars += len(piece.arguments) if isinstance(piece.arguments, str) else 0
            case TokenUsage():
                self._usage = piece
            case AnswerEnd(reason=reason):
                self._reason = reason if self._reason in (None, "stop") else self._reason
            case MessageExtras(fields=fields):
                self._attach(fields)
            case UnreadPart(kind=kind):
                self._unread.append(kind)
        return []

    def _unsaid(self, piece: AnswerText | ThoughtText) -> str:
        """The text without what was said before, where all of it is said once more."""
        before = self._said[type(piece)]
        text = piece.text.removeprefix(before) if piece.is_whole else piece.text
        self._said[type(piece)] = before + text
        return text

    def _attach(self, fields: dict[str, object]) -> None:
        """Put later lists behind earlier ones and later text behind earlier text; the rest is replaced."""
        for name, value in fields.items():
            before = self._extras.get(name)
            if isinstance(before, list) and isinstance(value, list):
                self._extras[name] = [*before, *value]
            elif isinstance(before, str) and isinstance(value, str) and value != before:
                self._extras[name] = before + value
            else:
                self._extras[name] = value


def _decoded(event: str) -> object:
    """The value of an event, also where it is written as Python writes it; None where it is none."""
    try:
        return json.loads(event)
    except (ValueError, RecursionError):
        pass
    if event.startswith(("{'", "[{'")) and len(event) < _LONGEST_LITERAL:
        try:
            return ast.literal_eval(event)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            pass
    return None


def _words_of(event: str) -> str:
    """What a server says in plain words in place of an answer; empty where it is something broken."""
    words = " ".join(event.split())
    return words[:_QUOTE_CHARS] if re.match(r"[\w\"'*(]", words) and " " in words else ""
