"""A session file: what is in one conversation's context now, on disk."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from assistant.messages.blocks import BlockKey, Msg, is_said
from assistant.storage.atomic_io import read_plain_file
from assistant.storage.sessions.session_head import SESSION_VERSION
from assistant.text.encoding import encode
from assistant.text.json_parsing import parse_json
from assistant.text.json_values import is_object
from assistant.text.known_secrets import NO_KNOWN_SECRETS, KnownSecrets

TITLE_CHARS = 60
_TITLE_SOURCE_CHARS = 2_000
"""A title is made of the start of a text; what is behind it is not looked at."""

_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,79}")


@dataclass(slots=True)
class Session:
    """One conversation's context: messages, the summary of what was folded, and the record that summary comes from.

    `agent_state` is the rest of the agent's state as JSON; it is empty when the file was lost.
    """

    user_id: str
    session_id: str
    title: str = ""
    messages: list[Msg] = field(default_factory=list[Msg])
    summary: str = ""
    compaction_id: str | None = None
    agent_state: dict[str, object] = field(default_factory=dict[str, object])
    pins: tuple[BlockKey, ...] = ()
    updated_at: str = ""
    is_on_top: bool = False
    profile: str = ""
    """The profile that answers; empty: what the settings say."""
    damaged_path: Path | None = field(default=None, compare=False)
    """The file that could not be read, where the conversation was made again from the journal."""


class _SessionFile(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    version: int
    user_id: str
    session_id: str
    title: str = ""
    updated_at: str = ""
    is_on_top: bool = False
    content: list[tuple[Msg, list[str]]]
    summary: str = Field("", alias="_compressed_summary")
    compaction_id: str | None = None
    pins: tuple[BlockKey, ...] = ()
    agent_state: dict[str, object] = Field(default_factory=dict)
    profile: str = ""


_HEAD = ("version", "user_id", "session_id", "title", "updated_at", "is_on_top")

_KEYS: TypeAdapter[tuple[BlockKey, ...]] = TypeAdapter(tuple[BlockKey, ...])


def session_bytes(session: Session) -> bytes:
    """The session as its file holds it."""
    values: dict[str, object] = {
        "version": SESSION_VERSION,
        "user_id": session.user_id,
        "session_id": session.session_id,
        "title": session.title,
        "updated_at": session.updated_at,
        "is_on_top": session.is_on_top,
        "content": [[message.model_dump(mode="json", fallback=str), []] for message in session.messages],
        "_compressed_summary": session.summary,
        "compaction_id": session.compaction_id,
        "pins": _KEYS.dump_python(session.pins, mode="json"),
        "agent_state": session.agent_state,
        **({"profile": session.profile} if session.profile else {}),
    }
    return encode(json.dumps(values, ensure_ascii=False, separators=(",", ":"), default=str))


def read_session(path: Path) -> Session | None:
    """The session of a file of a known version; None when the file is damaged or not there."""
    try:
        return session_of_bytes(read_plain_file(path))
    except OSError:
        return None


def session_of_bytes(content: bytes) -> Session | None:
    """The session that `session_bytes` wrote; None when the content is damaged."""
    try:
        stored = _SessionFile.model_validate_json(content)
    except ValidationError:
        return None
    return Session(
        user_id=stored.user_id,
        session_id=stored.session_id,
        title=stored.title,
        messages=[message for message, _ in stored.content],
        summary=stored.summary,
        compaction_id=stored.compaction_id,
        agent_state=stored.agent_state,
        pins=stored.pins,
        updated_at=stored.updated_at,
        is_on_top=stored.is_on_top,
        profile=stored.profile,
    )


def with_head(content: bytes, changed: Mapping[str, object]) -> bytes:
    """The content of a session file with these values of its head and nothing else changed."""
    values = parse_json(content)
    assert is_object(values)
    # A value that an older program did not write has to stand before the messages as well.
    messages = values.pop("content")
    head = {name: values.pop(name) for name in list(values) if name in _HEAD}
    ordered = {**head, **changed, "content": messages, **values}
    return encode(json.dumps(ordered, ensure_ascii=False, separators=(",", ":")))


def file_names(user_id: str, session_id: str) -> tuple[str, str]:
    """What the file of a session may be called, best first; no id can leave the folder."""
    safe = f"{_safe(user_id)}_{_safe(session_id)}"
    return f"{safe}.json", f"{safe}-{_digest(f'{user_id}/{session_id}')}.json"


def lock_name(session_id: str) -> str:
    """What the lock file of an open session is called."""
    return f".{_safe(session_id)}.lock"


def title_from(text: str, known: KnownSecrets = NO_KNOWN_SECRETS) -> str:
    """The text on one line, 60 characters at most, without a secret."""
    line = " ".join(known.mask_all(text[:_TITLE_SOURCE_CHARS]).text.split())
    return line if len(line) <= TITLE_CHARS else line[: TITLE_CHARS - 1].rstrip() + "…"


def title_of_messages(messages: list[Msg], known: KnownSecrets = NO_KNOWN_SECRETS) -> str:
    """The title that the first thing the person said makes; empty before that."""
    texts = (
        block.text
        for message in messages
        if message.role == "user"
        for block in message.content
        if is_said(block) and block.text.strip()
    )
    return title_from(next(texts, ""), known)


def _safe(name: str) -> str:
    if _SAFE_NAME.fullmatch(name):
        return name
    kept = re.sub(r"[^A-Za-z0-9-]+", "-", name).strip("-")[:40]
    return f"{kept or 'x'}-{_digest(name)}"


def _digest(text: str) -> str:
    return hashlib.sha256(encode(text)).hexdigest()[:10]
