"""A conversation as one file to take away, with the files that were attached in it; and any such file read back."""

from __future__ import annotations

import io
import re
import stat
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from assistant.config.words import say
from assistant.errors import SessionError
from assistant.messages.attached_blocks import attached_files, picture_name
from assistant.storage.artifacts import Artifacts
from assistant.storage.atomic_io import read_plain_file, replace_file
from assistant.storage.attachments import safe_name
from assistant.storage.export import ExportedSession, Imported, export_lines, import_sessions, read_export
from assistant.storage.journal.journal import Journal
from assistant.storage.journal.rebuild import rebuild_messages
from assistant.storage.journal.rows import BlockRow, Row
from assistant.storage.markdown_export import markdown_of, read_markdown
from assistant.storage.sessions.sessions import Sessions
from assistant.storage.workspace import Workspace
from assistant.text.encoding import encode
from assistant.text.known_secrets import KnownSecrets

ExportForm = Literal["json", "markdown"]

_ENDINGS = {"json": "jsonl", "markdown": "md"}
_TYPES = {"json": "application/x-ndjson", "markdown": "text/markdown; charset=utf-8"}
_ATTACHED = "files/attached/"
_PICTURES = "pictures/"
_PICTURE = re.compile(r"[0-9a-f]{32}\.(?:png|jpg)")
MAX_UNPACKED_BYTES = 200_000_000
"""Of all that is in an archive, unpacked: a small one may say that it holds a disk."""
MAX_ENTRIES = 2_000


@dataclass(frozen=True, slots=True)
class Download:
    """A file to take away."""

    name: str
    media_type: str
    content: bytes


@dataclass(slots=True)
class Portable:
    """What such a file holds: conversations, and attached files by their path from the home."""

    sessions: list[ExportedSession]
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])


@dataclass(frozen=True, slots=True)
class PortableHome:
    """Where the conversations of a home are kept, and what must not leave it."""

    workspace: Workspace
    sessions: Sessions
    journal: Journal
    artifacts: Artifacts
    known: KnownSecrets


def download_of(home: PortableHome, session_id: str, form: ExportForm, now: datetime) -> Download:
    """One conversation, masked of secrets; an archive where files are attached in it.

    Raises `SessionNotFoundError`, and what `Sessions.load` raises.
    """
    session = home.sessions.load(session_id)
    rows = home.journal.rows(session_id)
    if form == "json":
        lines = export_lines(home.sessions, home.journal, home.artifacts, [session_id], now, home.known)
        content = b"".join(encode(line) + b"\n" for line in lines)
    else:
        content = encode(markdown_of(session, rows, lambda text: home.known.mask_all(text).text))
    title = home.known.mask_all(session.title).text
    stem = safe_name(re.sub(r"[/\\]", "_", title) or "conversation")
    ending = _ENDINGS[form]
    files = _attached(home, rows)
    if not files:
        return Download(f"{stem}.{ending}", _TYPES[form], content)
    return Download(f"{stem}.zip", "application/zip", _packed({f"conversation.{ending}": content, **files}))


def read_portable(content: bytes) -> Portable:
    """What a file holds that was exported in any form. Raises `SessionError` that says what is wrong with another."""
    if content.startswith(b"PK\x03\x04"):
        return _unpacked(content)
    return Portable(_conversations(content))


def import_portable(home: PortableHome, portable: Portable) -> Imported:
    """Put conversations into the home with their files; what is here already, of either, is left as it is."""
    imported = import_sessions(portable.sessions, home.sessions, home.journal, home.artifacts)
    if imported.added:
        for name, content in portable.files.items():
            path = home.workspace.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.parent.is_symlink() and not path.exists():
                replace_file(path, content)
    return imported


def _conversations(content: bytes) -> list[ExportedSession]:
    if content.lstrip(b"\xef\xbb\xbf").startswith(b"<!-- palimpsest:"):
        session, rows = read_markdown(content.decode("utf-8", "replace"))
        return [ExportedSession(replace(session, messages=rebuild_messages(rows).messages), rows)]
    if not content.lstrip().startswith(b"{"):
        raise SessionError(say("storage", "no_export_file"))
    return read_export(io.BytesIO(content))


def _attached(home: PortableHome, rows: Iterable[Row]) -> dict[str, bytes]:
    """The files that the rows name and that are there, by their path from the home."""
    blocks = [row.block for row in rows if isinstance(row, BlockRow)]
    kept = [name for file in attached_files(blocks) for name in (file.kept, file.kept_text) if name]
    names = [*kept, *(f"{_PICTURES}{name}" for block in blocks if (name := picture_name(block)))]
    found: dict[str, bytes] = {}
    for name in filter(_may_be_kept, names):
        try:
            found[name] = _masked(read_plain_file(home.workspace.root / name), home.known)
        except OSError:
            # It was removed since; what was said of it is there.
            continue
    return found


def _masked(content: bytes, known: KnownSecrets) -> bytes:
    try:
        return encode(known.mask_all(content.decode("utf-8")).text)
    except UnicodeDecodeError:
        return known.mask_bytes(content)


def _packed(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def _unpacked(content: bytes) -> Portable:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            if len(entries) > MAX_ENTRIES or sum(entry.file_size for entry in entries) > MAX_UNPACKED_BYTES:
                raise SessionError(say("storage", "archive_too_large", limit=MAX_UNPACKED_BYTES // 1_000_000))
            named = {entry.filename: entry for entry in entries if not _is_link(entry)}
            wanted = [name for name in named if name in ("conversation.jsonl", "conversation.md")]
            if not wanted:
                raise SessionError(say("storage", "no_export_file"))
            files = {name: _read_entry(archive, named[name]) for name in named if _may_be_kept(name)}
            return Portable(_conversations(_read_entry(archive, named[wanted[0]])), files)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, OSError):
        raise SessionError(say("storage", "archive_damaged")) from None


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    # What an entry says of its size need not be true.
    with archive.open(entry) as file:
        content = file.read(entry.file_size + 1)
    if len(content) != entry.file_size:
        raise zipfile.BadZipFile
    return content


def _is_link(entry: zipfile.ZipInfo) -> bool:
    return stat.S_ISLNK(entry.external_attr >> 16)


def _may_be_kept(name: str) -> bool:
    """Whether a name, which may come from anywhere, is one of an attached file or of a picture."""
    if name.startswith(_PICTURES):
        return _PICTURE.fullmatch(name.removeprefix(_PICTURES)) is not None
    own = name.removeprefix(_ATTACHED)
    return name.startswith(_ATTACHED) and own != "" and safe_name(own) == own
