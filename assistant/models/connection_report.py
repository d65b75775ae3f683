"""What a test of the model's connection found, in words for the person."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConnectionReport:
    """`is_ok` is True when the model answered and called its tool; `text` says what happened, or what to do."""

    is_ok: bool
    text: str
