"""One process owns a home: it holds the home's lock, and owner.json gives others its pid and address."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from filelock import FileLock, Timeout

from assistant.config.plain_reasons import plain_reason
from assistant.config.words import say
from assistant.errors import HomeInUseError, WorkspaceError
from assistant.storage.atomic_io import lock_path, read_plain_file, replace_text
from assistant.storage.workspace import Workspace
from assistant.text.json_parsing import parse_json
from assistant.text.json_values import is_object

# Long enough to outlast `current_owner`, which holds the lock for a moment only.
_WAIT_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class Owner:
    """Who owns a home; None where owner.json could not be read or has no address yet."""

    pid: int | None
    address: str | None


class HomeOwnership:
    """The ownership of one home, as a context manager; the system gives it up when the process dies."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = _lock_of(workspace)

    def __enter__(self) -> Self:
        """Own the home. Raises `HomeInUseError` when another process, or another object here, owns it."""
        try:
            self._workspace.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock.acquire(timeout=_WAIT_SECONDS)
            self._tell(None)
        except Timeout:
            owner = _read_owner(self._workspace.owner_path)
            raise HomeInUseError(str(self._workspace.root), owner.pid, owner.address) from None
        except OSError as error:
            self._lock.release()
            raise WorkspaceError(
                say("storage", "home_unusable", root=self._workspace.root, reason=plain_reason(error))
            ) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the home up."""
        self._workspace.owner_path.unlink(missing_ok=True)
        self._lock.release()

    def tell_address(self, address: str) -> None:
        """Let others know where this process's page is."""
        self._tell(address)

    def _tell(self, address: str | None) -> None:
        replace_text(self._workspace.owner_path, json.dumps({"pid": os.getpid(), "address": address}))


def current_owner(workspace: Workspace) -> Owner | None:
    """Who owns the home now; None when nobody does, whatever owner.json of a killed process says."""
    if not lock_path(workspace.owner_path).exists():
        return None
    lock = _lock_of(workspace)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return _read_owner(workspace.owner_path)
    lock.release()
    return None


def _lock_of(workspace: Workspace) -> FileLock:
    # Taken by the thread that loads, given up by the one that ends.
    return FileLock(lock_path(workspace.owner_path), thread_local=False, fallback_to_soft=False)


def _read_owner(path: Path) -> Owner:
    try:
        values = parse_json(read_plain_file(path))
    except (OSError, ValueError):
        values = None
    if not is_object(values):
        return Owner(None, None)
    pid, address = values.get("pid"), values.get("address")
    return Owner(pid if isinstance(pid, int) else None, address if isinstance(address, str) else None)
