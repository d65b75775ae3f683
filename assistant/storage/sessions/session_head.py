"""The head of a session file: what a list shows of a conversation. Brings no messages with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from assistant.text.instant import instant
from assistant.text.json_parsing import parse_json
from assistant.text.json_values import is_object

SESSION_VERSION = 1
# What the list shows comes before the messages, so that a list reads the first bytes of each file alone.
_HEAD_END = b',"content":'
_HEAD_BYTES = 4096


@dataclass(frozen=True, slots=True)
class SessionHead:
    """What a list shows of a session file; `version` is not checked."""

    version: object
    user_id: str
    session_id: str
    title: str
    updated_at: str
    is_on_top: bool = False

    @property
    def is_newer(self) -> bool:
        """True when a newer program wrote the file."""
        return not isinstance(self.version, int) or self.version > SESSION_VERSION


class SessionSummary(NamedTuple):
    """One line of the list; `has_file` is False when only the journal knows the conversation.

    `is_on_top` where the person keeps it above the others.
    """

    session_id: str
    user_id: str
    title: str
    updated_at: str
    has_file: bool
    is_on_top: bool = False


def read_head(path: Path) -> SessionHead | None:
    """The head of a session file; None when no session id can be read in it."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            start = file.read(_HEAD_BYTES)
            head, found, _ = start.partition(_HEAD_END)
            values = parse_json(head + b"}" if found else start + file.read())
    except (OSError, ValueError):
        return None
    if not is_object(values) or not isinstance(values.get("session_id"), str) or "version" not in values:
        return None
    texts = {name: values.get(name) for name in ("user_id", "session_id", "title", "updated_at")}
    return SessionHead(
        version=values["version"],
        **{name: text if isinstance(text, str) else "" for name, text in texts.items()},
        is_on_top=values.get("is_on_top") is True,
    )


def newest_first(heads: Iterable[SessionHead]) -> dict[str, SessionSummary]:
    """The lines of the list that heads make, by conversation, newest first; of a file and its copy the newer counts."""
    lines: dict[str, SessionSummary] = {}
    for head in sorted(heads, key=lambda head: instant(head.updated_at), reverse=True):
        if head.session_id not in lines:
            lines[head.session_id] = SessionSummary(
                head.session_id, head.user_id, head.title, head.updated_at, has_file=True, is_on_top=head.is_on_top
            )
    return lines
