"""When the first conversation is over: the assistant has a name, and so has the person."""

from __future__ import annotations

import re

from assistant.workspace import Workspace

_NAME_LINE = re.compile(r"^[-*] *\**(?:Name|名字|姓名)\**[:：]\**(.*)$", re.MULTILINE)


def is_filled(text: str) -> bool:
    """True when a name line holds something; a file whose owner took the name lines out is filled by any text."""
    names: list[str] = _NAME_LINE.findall(text)
    return any(name.strip() for name in names) if names else bool(text.strip())


def finish_bootstrap(workspace: Workspace) -> bool:
    """Remove BOOTSTRAP.md once SOUL.md and USER.md are filled; True when that happened now."""
    if not workspace.bootstrap_path.is_file():
        return False
    for name in ("SOUL.md", "USER.md"):
        path = workspace.memory_path(name)
        if not path.is_file() or not is_filled(path.read_text(encoding="utf-8", errors="replace")):
            return False
    workspace.bootstrap_path.unlink(missing_ok=True)
    return True
