"""The line a compression leaves behind, so that the next one knows when it was and how it went."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from assistant.openclaw.entries import MARKER_CUSTOM_TYPE, Fields, Json
from assistant.openclaw.options import MarkerForm


@dataclass(frozen=True, slots=True)
class Marker:
    """`at` is when, `tokens` what was left, `misses` how often in a row the target was not met."""

    at: datetime
    tokens: int
    misses: int = 0
    mode: str = ""
    target: int = 0


def read_marker(fields: Fields) -> Marker | None:
    """The marker in a line, in any of its forms; None when it names no time."""
    data = fields.get("data")
    values = data if fields.get("type") == "custom" and isinstance(data, dict) else fields
    at = _read_time(values.get("lastCompressed"))
    if at is None:
        return None
    mode = values.get("mode")
    return Marker(
        at=at,
        tokens=_whole(values.get("compressedTokens")),
        misses=_whole(values.get("misses")),
        mode=mode if isinstance(mode, str) else "",
        target=_whole(values.get("target")),
    )


def marker_fields(marker: Marker, form: MarkerForm) -> Fields:
    """The marker as a line without place: id and parent are added by whoever puts it into a session."""
    values: Fields = {
        "lastCompressed": marker.at.isoformat(timespec="seconds"),
        "compressedTokens": marker.tokens,
        "misses": marker.misses,
        "mode": marker.mode,
        "target": marker.target,
    }
    if form == "custom":
        return {"type": "custom", "customType": MARKER_CUSTOM_TYPE, "data": values}
    return {"type": "system", **values}


def _read_time(value: Json) -> datetime | None:
    if isinstance(value, bool):
        return None
    try:
        if isinstance(value, int | float):
            seconds = value / 1000 if value > 1e11 else value
            return datetime.fromtimestamp(seconds, UTC)
        if isinstance(value, str):
            at = datetime.fromisoformat(value)
            return at if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def _whole(value: Json) -> int:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0
