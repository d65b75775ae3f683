"""What each model's server refused in a request, kept in the home: it is left out from the start the next time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, ValidationError

from assistant.errors import WorkspaceError
from assistant.models.wire.request_parts import RequestPart
from assistant.storage.atomic_io import hold_lock, replace_text

KEPT_DAYS = 30
"""For so long a refusal holds; then it is tried again, for a server may have learned it."""
KEPT_DAYS_ON_THIS_MACHINE = 1
"""A server of one's own is started again with other options at any time."""
_LOCK_SECONDS = 1.0

log = logging.getLogger(__name__)


class _File(BaseModel):
    """The file: when each part was refused, by model and address."""

    version: Literal[1] = 1
    refused: dict[str, dict[str, datetime]] = Field(default_factory=dict[str, dict[str, datetime]])


class RefusedParts:
    """The refusals of one home. Safe to use from several processes; a file that cannot be read holds none."""

    def __init__(self, path: Path, now: Callable[[], datetime]) -> None:
        self._path = path
        self._now = now

    def of(self, model: str, kept_days: int = KEPT_DAYS) -> tuple[str, ...]:
        """What is left out for this model, by names of parts; names that are no part any more are for the reader."""
        now = self._now().astimezone(UTC)
        # A clock that jumped back must not make a refusal last for ever.
        return tuple(
            part
            for part, at in self._read().refused.get(model, {}).items()
            if abs(now - at.astimezone(UTC)) < timedelta(days=kept_days)
        )

    def add(self, model: str, part: RequestPart) -> None:
        """The server of this model refused the part, and took the request without it."""
        self._change(lambda refused: refused.setdefault(model, {}).update({part: self._now().astimezone(UTC)}))

    def forget(self, model: str) -> None:
        """Try everything with this model again."""
        if model in self._read().refused:
            self._change(lambda refused: refused.pop(model, None))

    def _read(self) -> _File:
        try:
            return _File.model_validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            return _File()

    def _change(self, change: Callable[[dict[str, dict[str, datetime]]], object]) -> None:
        try:
            with hold_lock(self._path, _LOCK_SECONDS):
                file = self._read()
                change(file.refused)
                replace_text(self._path, f"{file.model_dump_json(indent=1)}\n")
        except (OSError, WorkspaceError) as error:
            # It is learned again the next time.
            log.warning("what a server refused could not be kept: %s", error)
