"""Changes on disk: events mean only "look again", and a folder that is deleted and made again is followed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path

from watchfiles import Change
from watchfiles import awatch as watch_files  # pyright: ignore[reportUnknownVariableType] - its types name trio

from assistant.index.sync import FOLDERS, is_indexed_name

logger = logging.getLogger(__name__)

# A batch ends after this quiet time, and is handed over at the latest after the other (milliseconds).
_STEP = 50
_DEBOUNCE = 300
# watchfiles goes silent for ever, without an error, when the folder it watches is replaced: look at the folder itself.
_RECHECK_SECONDS = 5.0
# Most editors save in several writes.
_TRAILING_SECONDS = 0.03
_RETRY_SECONDS = 5.0


async def watch_home(root: Path) -> AsyncIterator[frozenset[str]]:
    """Names, from the home, of files and folders that may have changed; never ends, and missing folders are waited for.

    The first set is empty and comes as soon as the home is watched: what changed before is for the caller to find.
    """
    while True:
        folders = _folders(root)
        if not folders:
            await asyncio.sleep(_RECHECK_SECONDS)
            continue
        async for names in _watch_folders(root, folders):
            yield names


async def _watch_folders(root: Path, folders: dict[Path, int]) -> AsyncIterator[frozenset[str]]:
    """Ends when the folders are no longer the same ones."""
    yield frozenset()
    # Folders are named one by one: the home also holds the tools' folder, which may be huge.
    events = watch_files(
        *folders,
        watch_filter=_IsWatched(root),
        step=_STEP,
        debounce=_DEBOUNCE,
        recursive=False,
        rust_timeout=int(_RECHECK_SECONDS * 1000),
        yield_on_timeout=True,
        ignore_permission_denied=True,
    )
    try:
        async for changes in events:
            if changes:
                await asyncio.sleep(_TRAILING_SECONDS)
                yield frozenset(_name(root, path) for _, path in changes)
            # A folder made again may get the inode of the one before it.
            if _folders(root) != folders or any(_is_made_or_gone(change, path, folders) for change, path in changes):
                return
    except FileNotFoundError:
        # A folder went between listing and watching it.
        return
    finally:
        await events.aclose()


async def keep_going(
    work: Callable[[], Coroutine[None, None, None]], on_failure: Callable[[Exception], Coroutine[None, None, None]]
) -> None:
    """Run `work`, and begin it again whatever goes wrong in it; returns when it does.

    A loop that died unseen would leave the index standing still for the life of the program.
    """
    while True:
        try:
            await work()
        except Exception as error:
            logger.exception("A loop of the index failed and is begun again")
            await on_failure(error)
            await asyncio.sleep(_RETRY_SECONDS)
        else:
            return


class _IsWatched:
    """Which paths are reported: the home's own Markdown files, and everything below memory/ and dialog/."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def __call__(self, change: Change, path: str) -> bool:
        name = _name(self._root, path)
        if "/" not in name:
            return name in FOLDERS or name.endswith(".md")
        return name.startswith("memory/") and "." not in name.rpartition("/")[2] or is_indexed_name(name)


def _folders(root: Path) -> dict[Path, int]:
    """Folders to watch and their inodes; empty while the home is missing."""
    found: dict[Path, int] = {}
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            status = folder.lstat()
            if folder.is_symlink() or not folder.is_dir():
                continue
            found[folder] = status.st_ino
            if folder == root:
                waiting += [root / name for name in FOLDERS]
            else:
                waiting += [path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")]
        except OSError:
            continue
    return found


def _is_made_or_gone(change: Change, path: str, folders: dict[Path, int]) -> bool:
    return change is not Change.modified and Path(path) in folders


def _name(root: Path, path: str) -> str:
    try:
        return Path(path).relative_to(root).as_posix()
    except ValueError:
        return Path(path).name
