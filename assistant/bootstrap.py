"""When the first conversation is over: the assistant has a name, and so has the person."""

from __future__ import annotations

from pathlib import Path

from assistant.memory.labels import CALLED_LABELS, NAME_LABELS, list_labels
from assistant.text_encoding import decode_text
from assistant.workspace import Workspace


def is_filled(text: str) -> bool:
    """True when a line for a name holds something; a file whose owner took these lines out is filled by any text."""
    names = [line for line in list_labels(text) if line.label.casefold() in NAME_LABELS | CALLED_LABELS]
    return any(line.value for line in names) if names else bool(text.strip())


def finish_bootstrap(workspace: Workspace) -> bool:
    """Remove BOOTSTRAP.md once SOUL.md and USER.md are filled; True when that happened now."""
    if not workspace.bootstrap_path.is_file():
        return False
    if not all(is_filled(_text_of(workspace.memory_path(name))) for name in ("SOUL.md", "USER.md")):
        return False
    workspace.bootstrap_path.unlink(missing_ok=True)
    return True


def _text_of(path: Path) -> str:
    try:
        return decode_text(path.read_bytes()).text
    except OSError:
        return ""
