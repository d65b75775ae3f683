"""What a conversation can be asked to do, one job after the other."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.messages.blocks import Msg


@dataclass(frozen=True, slots=True)
class Ask:
    """A message of the person."""

    message: Msg


@dataclass(frozen=True, slots=True)
class Reply:
    """Reply to a message whose turn has begun."""

    message: Msg


@dataclass(frozen=True, slots=True)
class Answer:
    """The person's answer to a parked call."""

    call_id: str
    is_allowed: bool


@dataclass(frozen=True, slots=True)
class Continue:
    """Go on from where the context stands."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Drop the answer to the newest message and answer it again."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Drop a message of the person and all that followed, and ask this instead."""

    message_id: str
    message: Msg


@dataclass(frozen=True, slots=True)
class Compact:
    """Compact now, whatever the guards say."""

    hint: str


@dataclass(frozen=True, slots=True)
class Undo:
    """Take the newest compaction back."""


@dataclass(frozen=True, slots=True)
class Measure:
    """Tell how full the window is, once it is known what the tools cost."""


@dataclass(frozen=True, slots=True)
class Clear:
    """Empty the context."""


Job = Ask | Reply | Answer | Continue | Retry | Edit | Compact | Undo | Measure | Clear
