"""Conversations as one portable file, masked of secrets, and such a file read back into a home."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from assistant.config.words import say
from assistant.errors import SessionError, WorkspaceError
from assistant.storage.artifacts import Artifacts
from assistant.storage.journal.journal import Journal, artifact_ids_of
from assistant.storage.journal.rows import Row, read_row, row_line
from assistant.storage.sessions.session_file import Session, session_bytes, session_of_bytes
from assistant.storage.sessions.sessions import Sessions
from assistant.text.encoding import encode
from assistant.text.json_texts import map_texts
from assistant.text.known_secrets import NO_KNOWN_SECRETS, KnownSecrets

EXPORT_VERSION = 1


@dataclass(slots=True)
class ExportedSession:
    """One conversation of a file: its context, its rows of the journal, and full tool results by their ids."""

    session: Session
    rows: list[Row] = field(default_factory=list[Row])
    artifacts: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of a file: the conversations that are here now, and those that were here already."""

    added: tuple[str, ...]
    known: tuple[str, ...]


class _Header(BaseModel):
    kind: Literal["palimpsest"]
    version: int


class _SessionLine(BaseModel):
    kind: Literal["session"]
    session: dict[str, object]


class _RowLine(BaseModel):
    kind: Literal["row"]
    row: dict[str, object]


class _ArtifactLine(BaseModel):
    kind: Literal["tool_result"]
    artifact_id: str
    text: str


_Line = _Header | _SessionLine | _RowLine | _ArtifactLine
_LINE: TypeAdapter[_Line] = TypeAdapter(Annotated[_Line, Field(discriminator="kind")])


def export_lines(
    sessions: Sessions,
    journal: Journal,
    artifacts: Artifacts,
    session_ids: Sequence[str],
    now: datetime,
    known: KnownSecrets = NO_KNOWN_SECRETS,
) -> Iterator[str]:
    """The file, line by line: a header, then each conversation with all its rows and full tool results.

    What the agent was allowed to do stays behind: a file from elsewhere must not grant anything.
    """
    yield _json({"kind": "palimpsest", "version": EXPORT_VERSION, "at": now.isoformat(timespec="seconds")})
    for session_id in session_ids:
        session = replace(sessions.load(session_id), agent_state={})
        yield _json({"kind": "session", "session": _masked(json.loads(session_bytes(session)), known)})
        rows = journal.rows(session_id, include_dropped=True)
        for row in rows:
            yield _json({"kind": "row", "row": _masked(json.loads(row_line(row)), known)})
        for artifact_id in artifact_ids_of(rows):
            try:
                text = artifacts.read(artifact_id)
            except WorkspaceError:
                # Its days are over.
                continue
            yield _json({"kind": "tool_result", "artifact_id": artifact_id, "text": known.mask_all(text).text})


def read_export(lines: Iterable[bytes]) -> list[ExportedSession]:
    """The conversations of a file. Raises `SessionError` that names the first line that cannot be used."""
    found: list[ExportedSession] = []
    has_header = False
    for number, content in enumerate(lines, 1):
        try:
            line = _LINE.validate_json(content)
        except ValidationError:
            raise _unusable(number, say("storage", "not_an_export_line")) from None
        if isinstance(line, _Header) == has_header:
            raise _unusable(number, say("storage", "one_header"))
        has_header = True
        if isinstance(line, _Header):
            _check_version(line.version)
        else:
            _take(line, found, number)
    if not has_header:
        raise _unusable(1, say("storage", "export_empty"))
    return found


def import_sessions(
    exported: Sequence[ExportedSession], sessions: Sessions, journal: Journal, artifacts: Artifacts
) -> Imported:
    """Put conversations into the home; one that is here already, or in its trash, is left as it is."""
    here = {known.session_id for known in [*sessions.list(), *sessions.trashed()]}
    added: list[str] = []
    known: list[str] = []
    for one in exported:
        session_id = one.session.session_id
        if session_id in here:
            known.append(session_id)
            continue
        for artifact_id, text in one.artifacts.items():
            if not artifacts.path(artifact_id).exists():
                artifacts.store_as(artifact_id, text)
        # With its rows it is here; without the file it would be rebuilt from them.
        journal.append(one.rows)
        sessions.save(one.session)
        here.add(session_id)
        added.append(session_id)
    return Imported(tuple(added), tuple(known))


def _take(line: _SessionLine | _RowLine | _ArtifactLine, found: list[ExportedSession], number: int) -> None:
    if isinstance(line, _SessionLine):
        session = session_of_bytes(encode(_json(line.session)))
        if session is None:
            raise _unusable(number, say("storage", "export_context_damaged"))
        found.append(ExportedSession(replace(session, agent_state={})))
        return
    if not found:
        raise _unusable(number, say("storage", "export_no_conversation"))
    if isinstance(line, _ArtifactLine):
        found[-1].artifacts[line.artifact_id] = line.text
        return
    row = read_row(encode(_json(line.row)))
    if row is None or row.session_id != found[-1].session.session_id:
        raise _unusable(number, say("storage", "export_row_unreadable"))
    found[-1].rows.append(row)


def _check_version(version: int) -> None:
    if version > EXPORT_VERSION:
        raise SessionError(say("storage", "newer_export", version=version))


def _masked(value: object, known: KnownSecrets) -> object:
    # A secret in the arguments of a call is known by the name before it, so these are looked at as one text.
    return map_texts(value, lambda text: known.mask_all(text).text, reads_inner=False)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _unusable(number: int, reason: str) -> SessionError:
    return SessionError(say("storage", "export_line_refused", number=number, reason=reason))
