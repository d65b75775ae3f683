"""How many tokens each model's provider counts for one of ours, kept in the home: a new start counts right at once."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, ValidationError

from assistant.errors import WorkspaceError
from assistant.storage.atomic_io import hold_lock, replace_text

_LOCK_SECONDS = 1.0
_KEPT_CHANGE = 0.01
"""A smaller change is not worth a write."""

log = logging.getLogger(__name__)


class _File(BaseModel):
    """The file: the factor of each model, by model and address."""

    version: Literal[1] = 1
    factors: dict[str, float] = Field(default_factory=dict[str, float])


class TokenFactors:
    """The factors of one home. Safe to use from several processes; a file that cannot be read holds none."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def of(self, model: str) -> float:
        """The factor of this model; 1.0 while none is known."""
        return self._read().factors.get(model, 1.0)

    def keep(self, model: str, factor: float) -> None:
        """Keep what was learned of this model; it is learned again the next time where it cannot be written."""
        if abs(self.of(model) - factor) < _KEPT_CHANGE:
            return
        try:
            with hold_lock(self._path, _LOCK_SECONDS):
                file = self._read()
                file.factors[model] = round(factor, 4)
                replace_text(self._path, f"{file.model_dump_json(indent=1)}\n")
        except (OSError, WorkspaceError) as error:
            log.warning("how a model counts could not be kept: %s", error)

    def _read(self) -> _File:
        try:
            return _File.model_validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            return _File()
