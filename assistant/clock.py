"""What time it is where the person is."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from assistant.settings import Settings


class Clock:
    """Zone-aware time in the zone that is set, else in the machine's."""

    def __init__(self, settings: Settings) -> None:
        self._zone = ZoneInfo(settings.timezone) if settings.timezone else None

    def now(self) -> datetime:
        """The time now."""
        return datetime.now(self._zone) if self._zone else datetime.now().astimezone()
