"""What a turn can emit: one frozen dataclass an event, distinguished by `type`. Names and payloads are public.

A page, a second tab, the terminal and `--json` all see the same stream. A past conversation is shown by the same
events, made from the journal, so that one reader shows both.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from assistant.messages.attached import AttachedFile

FinishReason = Literal["completed", "interrupted", "max_steps", "output_limit", "awaiting_approval"]
ToolState = Literal["success", "error", "denied", "interrupted"]
CompactionReason = Literal["automatic", "manual", "overflow"]
FlushState = Literal["pending", "done", "nothing", "failed", "skipped"]
AllowanceScope = Literal["conversation", "always"]
NoticeLevel = Literal["info", "warning"]
VersionedPart = Literal["answer", "message"]
Part = Literal["system", "soul", "user", "memory", "tools", "summary", "pins", "messages"]
ALLOWED_KEY = "allowed"
"""Under this name the metadata of a result say by what its call was allowed before."""
# What JSON leaves as it is and yet ends a line for some readers.
_LINE_ENDS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A user message was journalled, with files in `attached`. `text` is empty when a parked or cut turn goes on."""

    turn_id: str
    message_id: str
    text: str
    at: str
    attached: tuple[AttachedFile, ...] = ()
    type: Literal["turn_started"] = "turn_started"


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer."""

    block_id: str
    text: str
    type: Literal["text_delta"] = "text_delta"


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More of the model's thinking."""

    block_id: str
    text: str
    type: Literal["thinking_delta"] = "thinking_delta"


@dataclass(frozen=True, slots=True)
class TextRetracted:
    """The first `chars` characters of a text were the model's thinking; they are not part of the answer."""

    block_id: str
    chars: int
    type: Literal["text_retracted"] = "text_retracted"


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool call is complete and about to run or to be asked about; `input` is its JSON text."""

    call_id: str
    name: str
    input: str
    type: Literal["tool_started"] = "tool_started"


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """More output of a running tool."""

    call_id: str
    text: str
    type: Literal["tool_output"] = "tool_output"


@dataclass(frozen=True, slots=True)
class AllowedBy:
    """What the person had allowed before, so that a call was not asked about: how far it holds, and since when."""

    scope: AllowanceScope
    since: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool ended. `output` is what the model sees, `artifact_id` names its full text; `allowed`: nobody was asked."""

    call_id: str
    name: str
    state: ToolState
    output: str
    diff: str | None = None
    artifact_id: str | None = None
    allowed: AllowedBy | None = None
    type: Literal["tool_finished"] = "tool_finished"


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """The turn waits for the person: `preview` is what would run, `extent` what `scopes` beside *once* would allow."""

    call_id: str
    name: str
    input: str
    preview: str
    reason: str
    scopes: tuple[AllowanceScope, ...] = ()
    extent: str = ""
    type: Literal["approval_requested"] = "approval_requested"


@dataclass(frozen=True, slots=True)
class RecalledLine:
    """One remembered passage: the file, its first line (from 1), the text and how relevant it is, in [0, 1].

    Of a past conversation also which one it is, and the message. `last_line` is included, `day` is `YYYY-MM-DD`; 0 and
    empty where they are not known.
    """

    path: str
    line: int
    text: str
    relevance: float
    session_id: str = ""
    message_id: str = ""
    last_line: int = 0
    day: str = ""

    @property
    def place(self) -> str:
        """File and lines, as they are cited."""
        until = f"-{self.last_line}" if self.last_line > self.line else ""
        return f"{self.path}:{self.line}{until}"

    @property
    def mark(self) -> str:
        """Names the passage: the same text of the same file has the same mark."""
        return hashlib.blake2b(f"{self.path}\n{self.text}".encode("utf-8", "replace"), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was handed to the model from memory before the turn, and its tokens (0: not known); the last one holds."""

    lines: tuple[RecalledLine, ...]
    tokens: int = 0
    type: Literal["recalled"] = "recalled"


@dataclass(frozen=True, slots=True)
class RecallRefused:
    """The person found a recalled passage not helpful: it is kept out of recall in this conversation."""

    mark: str
    type: Literal["recall_refused"] = "recall_refused"


@dataclass(frozen=True, slots=True)
class ContextPart:
    """One part of what fills the model's window."""

    name: Part
    tokens: int


@dataclass(frozen=True, slots=True)
class ContextMeasured:
    """How full the window is before a model call; `shortened_results` counts tool results cut at this check."""

    used_tokens: int
    threshold_tokens: int
    context_limit: int
    parts: tuple[ContextPart, ...]
    shortened_results: int = 0
    type: Literal["context_measured"] = "context_measured"


@dataclass(frozen=True, slots=True)
class ContextCompressed:
    """Older messages left the context for a summary; all of them are in the journal under `compaction_id`."""

    compaction_id: str
    reason: CompactionReason
    previous_tokens: int
    after_tokens: int
    context_limit: int
    threshold_tokens: int
    folded_messages: int
    kept_turns: int
    summary: str
    summary_tokens: int
    fallback: bool
    flush: FlushState
    carried_over: tuple[str, ...] = ()
    at: str = ""
    is_undone: bool = False
    type: Literal["context_compressed"] = "context_compressed"


@dataclass(frozen=True, slots=True)
class CompactionUndone:
    """The newest compaction was taken back; its messages are in the context again."""

    compaction_id: str
    restored_messages: int
    type: Literal["compaction_undone"] = "compaction_undone"


@dataclass(frozen=True, slots=True)
class FlushFinished:
    """A flush ended: what it wrote is in memory, or could not be written; `state` is that of a compaction's card."""

    compaction_id: str
    state: FlushState
    type: Literal["flush_finished"] = "flush_finished"


@dataclass(frozen=True, slots=True)
class MemoryChanged:
    """A memory file was written: `diff` is a unified diff, `change_id` names the entry in memory_log.jsonl."""

    path: str
    writer: str
    diff: str
    change_id: str
    type: Literal["memory_changed"] = "memory_changed"


@dataclass(frozen=True, slots=True)
class Notice:
    """A degradation, truncation or refusal in plain words, shown once."""

    text: str
    level: NoticeLevel = "warning"
    type: Literal["notice"] = "notice"


@dataclass(frozen=True, slots=True)
class Spent:
    """What the requests of a turn took by the provider's count, those for summaries and memory not among them.

    `cached_tokens` are those of `input_tokens` that were read from a cache; `usd` is None where no price is known.
    """

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None

    def __add__(self, other: Spent) -> Spent:
        """The tokens of both; and their price, where that of both is known."""
        return Spent(
            self.input_tokens + other.input_tokens,
            self.cached_tokens + other.cached_tokens,
            self.output_tokens + other.output_tokens,
            None if self.usd is None or other.usd is None else self.usd + other.usd,
        )


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The turn ended or waits; `input_tokens` is the provider's count of the last request, `spent` the whole turn's."""

    turn_id: str
    reason: FinishReason
    input_tokens: int = 0
    output_tokens: int = 0
    at: str = ""
    spent: Spent = Spent()
    type: Literal["turn_finished"] = "turn_finished"


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """The turn ended with an error; what was streamed is kept."""

    turn_id: str
    error: str
    at: str = ""
    type: Literal["turn_failed"] = "turn_failed"


@dataclass(frozen=True, slots=True)
class VersionsKnown:
    """An answer to the message `message_id`, or that message itself, has `count` versions; number `shown` stands."""

    part: VersionedPart
    message_id: str
    shown: int
    count: int
    type: Literal["versions_known"] = "versions_known"


@dataclass(frozen=True, slots=True)
class VersionShown:
    """The person chose another version: what stands from there on is read anew; `text` is what it says."""

    part: VersionedPart
    message_id: str
    shown: int
    count: int
    text: str
    type: Literal["version_shown"] = "version_shown"


Event = (
    TurnStarted
    | TextDelta
    | ThinkingDelta
    | TextRetracted
    | ToolStarted
    | ToolOutput
    | ToolFinished
    | ApprovalRequested
    | Recalled
    | RecallRefused
    | ContextMeasured
    | ContextCompressed
    | CompactionUndone
    | FlushFinished
    | MemoryChanged
    | Notice
    | TurnFinished
    | TurnFailed
    | VersionsKnown
    | VersionShown
)

_ALLOWED_BY: TypeAdapter[AllowedBy | None] = TypeAdapter(AllowedBy | None)
_EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="type")])


def allowed_by(metadata: Mapping[str, object]) -> AllowedBy | None:
    """By what the call of this result was allowed before; None where it was not, or the person was asked."""
    try:
        return _ALLOWED_BY.validate_python(metadata.get(ALLOWED_KEY))
    except ValidationError:
        return None


def with_texts_changed(event: Event, change: Callable[[str], str]) -> Event:
    """The event as it is after `change` of all its texts, which gets and gives them inside of a line of JSON."""
    line = event_line(event)
    changed = change(line)
    return event if changed == line else _EVENT.validate_json(changed)


def event_line(event: Event) -> str:
    """The event as one line of JSON, `type` first. Lone surrogates, which no encoding can hold, become U+FFFD."""
    fields = asdict(event)
    line = json.dumps({"type": fields.pop("type"), **fields}, ensure_ascii=False)
    return _SURROGATE.sub("\ufffd", line).translate(_LINE_ENDS)
