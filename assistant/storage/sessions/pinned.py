"""Which full tool results the pins of all conversations name: a session file is read again only when it changed."""

from __future__ import annotations

from pathlib import Path

from pydantic import TypeAdapter

from assistant.storage.atomic_io import read_plain_file
from assistant.storage.folder_look import FolderLook
from assistant.storage.head_store import HeadStore, KeptFile
from assistant.storage.journal.journal import Journal, artifact_ids_of
from assistant.storage.journal.rows import BlockRow
from assistant.storage.sessions.session_file import session_of_bytes
from assistant.text.json_parsing import parse_json
from assistant.text.json_values import is_object

_KEPT_AS = "pins"
_KEPT_IDS = TypeAdapter(list[list[str]])
_FILES_A_STEP = 500
"""So many are kept at a time: a program that ends in the middle goes on from there at its next start."""


def pinned_artifacts(folder: Path, journal: Journal, store_path: Path) -> set[str]:
    """Ids of the full tool results that pinned blocks name, over all session files of the folder."""
    store = HeadStore(store_path, _KEPT_AS, _KEPT_IDS)
    signs = FolderLook(folder, lambda name: name.endswith(".json")).signs()
    known = store.load()
    found: set[str] = set()
    changed: dict[str, KeptFile[list[str]]] = {}
    for name, sign in signs.items():
        kept = known.get(name)
        if kept is None or kept.sign != sign:
            kept = changed[name] = KeptFile(sign, _read_ids(folder / name, journal))
        found.update(kept.value)
        if len(changed) >= _FILES_A_STEP:
            store.keep(changed)
            changed.clear()
    store.keep(changed, known.keys() - signs.keys())
    return found


def _read_ids(path: Path, journal: Journal) -> list[str]:
    try:
        content = read_plain_file(path)
    except OSError:
        return []
    if not _may_have_pins(content) or (session := session_of_bytes(content)) is None:
        return []
    pinned = set(session.pins)
    rows = journal.rows(session.session_id, include_dropped=True)
    return artifact_ids_of(row for row in rows if isinstance(row, BlockRow) and row.key in pinned)


def _may_have_pins(content: bytes) -> bool:
    """Far cheaper than to make messages of the whole file."""
    try:
        values = parse_json(content)
    except ValueError:
        return False
    return is_object(values) and bool(values.get("pins"))
