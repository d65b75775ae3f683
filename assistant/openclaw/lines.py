"""What is kept of one line of a session once its JSON has been let go."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.openclaw.entries import EntryKind
from assistant.openclaw.tools import CallShape


@dataclass(frozen=True, slots=True)
class CallNote:
    """What is kept of a tool call."""

    id: str | None
    name: str
    shape: CallShape
    argument_chars: int


@dataclass(frozen=True, slots=True)
class ResultNote:
    """What is kept of a tool result."""

    call_id: str | None
    chars: int
    has_failed: bool
    is_empty: bool


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a session. `tokens` weighs the whole line, `content_tokens` what of it reaches a model.

    `cuttable_chars` is the longest output or argument: what the ladder can cut.
    """

    raw: bytes
    kind: EntryKind
    chars: int
    tokens: float
    id: str | None = None
    parent_id: str | None = None
    has_parent_key: bool = False
    first_kept: str | int | None = None
    content_chars: int = 0
    content_tokens: float = 0.0
    text_chars: int = 0
    is_condensed: bool = False
    thinking_chars: int = 0
    cuttable_chars: int = 0
    opening: str = ""
    is_pleasantry: bool = False
    asks: bool = False
    has_own_words: bool = False
    has_aborted: bool = False
    calls: tuple[CallNote, ...] = ()
    results: tuple[ResultNote, ...] = ()
    fingerprint: int = 0
    label_target: str | None = None
    summary: str = ""
