"""What one event of an answer can say, whatever form it came in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

EndReason = Literal["stop", "length", "tool_calls", "content_filter"]


@dataclass(frozen=True, slots=True)
class AnswerText:
    """More of the answer; `is_whole` where it may be all of it once more, behind its pieces."""

    text: str
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class ThoughtText:
    """More of the model's thinking; `field` is the name it came under, empty where it was written in tags.

    `is_whole` where it may be all of it once more, behind its pieces.
    """

    text: str
    field: str = ""
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A part of a tool call; `arguments` is a piece of JSON text or a JSON value, `extras` what goes back with it.

    `is_whole` where it may be a call once more, behind its parts.
    """

    index: int | None = None
    call_id: str = ""
    name: str = ""
    arguments: object = None
    extras: dict[str, object] = field(default_factory=dict[str, object])
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class AnswerEnd:
    """The provider says that the answer is over, and why."""

    reason: EndReason


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """What the provider counted so far."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ServerFailure:
    """An error in the provider's own words; `status` is an HTTP status where it names one, else 0."""

    message: str
    status: int = 0
    code: str = ""


@dataclass(frozen=True, slots=True)
class MessageExtras:
    """What the provider attached to the answer and wants back with it, by field name."""

    fields: dict[str, object]


@dataclass(frozen=True, slots=True)
class UnreadPart:
    """A part of the answer that cannot be shown; `kind` is the provider's word for it."""

    kind: str


Piece = AnswerText | ThoughtText | CallDelta | AnswerEnd | TokenUsage | ServerFailure | MessageExtras | UnreadPart


@dataclass(frozen=True, slots=True)
class WholeCall:
    """A tool call that is complete: `arguments` is JSON text; where the stream broke off, as far as it came."""

    call_id: str
    name: str
    arguments: str
    extras: dict[str, object] = field(default_factory=dict[str, object])
