"""Temporary homes, which are removed when they close, such as that of a guest; what a kill left of them goes too."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from assistant.storage.ownership import current_owner
from assistant.storage.workspace import Workspace

_PREFIX = "palimpsest-"
_MARK = ".thrown-away"
"""A file that says what the folder is: a home that somebody keeps may have such a name."""
_OPENING_SECONDS = 60.0
"""A younger one may be about to be owned."""


@contextmanager
def temporary_home() -> Generator[Path]:
    """A folder for a home, removed on leaving."""
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / _MARK).touch()
        yield folder


def is_temporary(folder: Path) -> bool:
    """True for a home that goes when it closes, so that nothing need be remembered in it."""
    return (folder / _MARK).exists()


def remove_left_homes(now: float) -> int:
    """Remove the homes that nobody has open, and return how many; `now` is in seconds since the epoch."""
    parent = Path(tempfile.gettempdir())
    left = [path for path in parent.glob(f"{_PREFIX}*") if _is_left(path, now)]
    for path in left:
        shutil.rmtree(path, ignore_errors=True)
    return len(left)


def _is_left(path: Path, now: float) -> bool:
    try:
        mark = (path / _MARK).lstat()
        is_own = not path.is_symlink() and (os.name == "nt" or mark.st_uid == os.getuid())
        return is_own and now - mark.st_mtime > _OPENING_SECONDS and current_owner(Workspace(path)) is None
    except OSError:
        return False
