"""Chat requests and replies as they travel: what a player reads and what it answers."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class WireCall:
    """A tool call in a message of a request."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class WireMessage:
    """A message of a request; `call_id` names the call that a tool message answers."""

    role: str
    text: str
    calls: tuple[WireCall, ...] = ()
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request that was found valid; `tokens` is what the server says it costs."""

    path: str
    model: str
    messages: tuple[WireMessage, ...]
    tools: tuple[str, ...]
    tool_choice: str
    is_streaming: bool
    tokens: int

    @property
    def system(self) -> str:
        """The system prompt."""
        return "\n".join(message.text for message in self.messages if message.role in ("system", "developer"))

    @property
    def last_user(self) -> str:
        """The newest user message."""
        return next((message.text for message in reversed(self.messages) if message.role == "user"), "")

    def results_of(self, name: str) -> list[str]:
        """The results that stand in the request for calls of the tool `name`, oldest first."""
        named = {call.id for message in self.messages for call in message.calls if call.name == name}
        return [message.text for message in self.messages if message.call_id in named]

    def results_since_user(self) -> list[str]:
        """The tool results after the newest user message, oldest first."""
        results: list[str] = []
        for message in reversed(self.messages):
            if message.role == "user":
                break
            if message.role == "tool":
                results.append(message.text)
        return results[::-1]


@dataclass(frozen=True, slots=True)
class ReplyCall:
    """A tool call to make; the server gives it an id unless one is set."""

    name: str
    arguments: dict[str, object] | str = field(default_factory=dict[str, object])
    id: str = ""

    @property
    def arguments_json(self) -> str:
        """The arguments as they go over the wire."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """What to answer: thinking, then text, then calls.

    `gate` is waited for after the first words, so that a test decides when a stream goes on. `breaks_after_chunks`
    closes the connection in the middle. `status` other than 200 is an error with `text` as its message. `is_cut` says
    that the output limit was reached where the reply ends. `chunk_chars` and `chunk_seconds` are the size and the pace
    of its pieces, where these are not the server's.
    """

    text: str = ""
    thinking: str = ""
    calls: tuple[ReplyCall, ...] = ()
    gate: threading.Event | None = None
    breaks_after_chunks: int | None = None
    status: int = 200
    error_code: str | None = None
    is_cut: bool = False
    chunk_chars: int = 0
    chunk_seconds: float = 0.0


def count_tokens(body: dict[str, object]) -> int:
    """The server's own count of a request: UTF-8 bytes / 4 of messages and tools, and 4 a message."""
    messages = body.get("messages")
    rows = messages if isinstance(messages, list) else []
    texts = sum(_bytes(text_of(row.get("content"))) + _bytes(row.get("tool_calls")) for row in rows)
    return (texts + _bytes(body.get("tools"))) // 4 + 4 * len(rows)


def text_of(content: object) -> str:
    """The text of a content field, which is a string, a list of parts or null."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return ""


def pieces(text: str, chars: int) -> list[str]:
    """The text in pieces of `chars` characters."""
    return [text[start : start + chars] for start in range(0, len(text), chars)]


def sentences(text: str) -> list[str]:
    """Lines and sentences, English and Chinese, in order, without list marks."""
    found: list[str] = []
    for line in text.splitlines():
        stripped = re.sub(r"^\s*(?:[-*•>]|\d+[.)]|#+)\s+", "", line).strip()
        found += [part.strip() for part in re.split(r"(?<=[.!?])\s+|(?<=[。！？])", stripped) if part.strip()]
    return found


def words(text: str) -> set[str]:
    """Lower-case words of three letters or more, and pairs of Chinese characters."""
    lowered = text.lower()
    runs: Sequence[str] = re.findall(r"[\u4e00-\u9fff]+", lowered)
    pairs = {run[start : start + 2] for run in runs for start in range(max(1, len(run) - 1))}
    return set(re.findall(r"[a-z0-9][a-z0-9'_-]{2,}", lowered)) | pairs


def _bytes(value: object) -> int:
    if not value:
        return 0
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return len(text.encode("utf-8", "replace"))
