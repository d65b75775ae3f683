"""What a conversation can be asked to do, one job after the other."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.agent.allowances import Decision
from assistant.messages.blocks import Msg
from assistant.messages.events import VersionedPart


@dataclass(frozen=True, slots=True)
class Ask:
    """Reply to a message of the person, whose turn begins now where it has not begun yet."""

    message: Msg


@dataclass(frozen=True, slots=True)
class Answer:
    """The person's answer to a parked call."""

    call_id: str
    decision: Decision


@dataclass(frozen=True, slots=True)
class Continue:
    """Go on from the context as it is."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Drop the answer to the newest message and answer it again."""


@dataclass(frozen=True, slots=True)
class ShowVersion:
    """Let another version of an answer or a message stand in the conversation; `number` counts from 1."""

    part: VersionedPart
    message_id: str
    number: int


@dataclass(frozen=True, slots=True)
class Edit:
    """Drop a message of the person and all that followed, and ask this instead."""

    message_id: str
    message: Msg


@dataclass(frozen=True, slots=True)
class CarryOutRequests:
    """Do what was asked to be done to the context, and was not done by a turn."""


@dataclass(frozen=True, slots=True)
class Measure:
    """Emit how full the window is, once it is known what the tools cost."""


@dataclass(frozen=True, slots=True)
class Clear:
    """Empty the context."""


Job = Ask | Answer | Continue | Retry | ShowVersion | Edit | CarryOutRequests | Measure | Clear
