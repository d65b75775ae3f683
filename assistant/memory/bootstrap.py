"""When the first conversation is over: the assistant has a name, and so has the person."""

from __future__ import annotations

from assistant.storage.text_files import read_any_text
from assistant.storage.workspace import Workspace
from assistant.text.labels import is_filled


def finish_bootstrap(workspace: Workspace) -> bool:
    """Remove BOOTSTRAP.md once SOUL.md and USER.md are filled; True when that happened now."""
    if not workspace.bootstrap_path.is_file():
        return False
    if not all(is_filled(read_any_text(workspace.root / name)) for name in ("SOUL.md", "USER.md")):
        return False
    workspace.bootstrap_path.unlink(missing_ok=True)
    return True
