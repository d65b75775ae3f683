"""A conversation as Markdown that reads well anywhere, and such Markdown read back (pure).

What the person and the assistant said is in it, each under a heading. A comment before each heading says whose words
follow, so that they can be told from any heading or comment within them.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from assistant.config.words import say
from assistant.errors import SessionError
from assistant.messages.attached_blocks import attached_files
from assistant.messages.blocks import TextBlock, is_said
from assistant.storage.journal.rows import BlockRow, Row
from assistant.storage.sessions.session_file import Session

MARKDOWN_VERSION = 1
_MARK = re.compile(r"^<!-- palimpsest:(conversation|user|assistant) (\{.*\}) -->$", re.MULTILINE)
_ESCAPED = re.compile(r"^\\*<!-- palimpsest:", re.MULTILINE)
_UNESCAPED = re.compile(r"^\\(\\*<!-- palimpsest:)", re.MULTILINE)


class _Conversation(BaseModel):
    version: int
    session_id: str
    user_id: str
    title: str


class _Said(BaseModel):
    at: str
    message_id: str


@dataclass(frozen=True, slots=True)
class _Part:
    """What one of the two said in one go."""

    kind: str
    said: _Said
    text: str


def markdown_of(session: Session, rows: Sequence[Row], mask: Callable[[str], str]) -> str:
    """The conversation as its rows tell it, oldest first, each text after `mask`."""
    head = _Conversation(
        version=MARKDOWN_VERSION, session_id=session.session_id, user_id=session.user_id, title=mask(session.title)
    )
    parts = [_mark("conversation", head), f"# {mask(session.title)}", say("storage", "markdown_lead")]
    newest = ""
    for row in rows:
        if not isinstance(row, BlockRow) or row.role == "system" or not isinstance(row.block, TextBlock):
            continue
        if row.message_id != newest:
            newest = row.message_id
            heading = say("storage", f"markdown_{row.role}", at=row.at[:16].replace("T", " "))
            parts += [_mark(row.role, _Said(at=row.at, message_id=row.message_id)), f"## {heading}"]
        if is_said(row.block):
            parts.append(_ESCAPED.sub(lambda found: f"\\{found[0]}", mask(row.block.text)))
        for file in attached_files([row.block]):
            parts.append(say("storage", "markdown_attached", name=mask(file.name)))
    return "\n\n".join(parts) + "\n"


def read_markdown(text: str) -> tuple[Session, list[Row]]:
    """The conversation of such a text and its rows. Raises `SessionError` for any other text."""
    pieces = _MARK.split(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    if len(pieces) < 4 or pieces[0].strip() or pieces[1] != "conversation":
        raise SessionError(say("storage", "no_export_file"))
    try:
        head = _Conversation.model_validate_json(pieces[2])
        parts = [_part(*pieces[at : at + 3]) for at in range(4, len(pieces), 3)]
    except ValidationError:
        raise SessionError(say("storage", "markdown_damaged")) from None
    if head.version > MARKDOWN_VERSION:
        raise SessionError(say("storage", "newer_export", version=head.version))
    if not parts:
        raise SessionError(say("storage", "markdown_damaged"))
    session = Session(head.user_id, head.session_id or uuid.uuid4().hex, head.title, updated_at=parts[-1].said.at)
    return session, [_row(session, part, number) for number, part in enumerate(parts)]


def _part(kind: str, values: str, text: str) -> _Part:
    # The heading is for readers; what follows it was said.
    body = text.strip("\n").partition("\n")[2].strip("\n")
    return _Part(kind, _Said.model_validate_json(values), _UNESCAPED.sub(r"\1", body))


def _row(session: Session, part: _Part, number: int) -> BlockRow:
    return BlockRow(
        session_id=session.session_id,
        user_id=session.user_id,
        message_id=part.said.message_id,
        role="user" if part.kind == "user" else "assistant",
        name="user" if part.kind == "user" else "palimpsest",
        block=TextBlock(id=f"said-{number}", text=part.text),
        at=part.said.at,
        created_at=part.said.at,
    )


def _mark(kind: str, values: BaseModel) -> str:
    # What is put in must not end the comment.
    written = json.dumps(values.model_dump()).replace(">", "\\u003e")
    return f"<!-- palimpsest:{kind} {written} -->"
