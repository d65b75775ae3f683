"""What time it is where the person is."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from assistant.settings import Settings


class Clock:
    """Time in the person's zone: the one that is set, else the one the browser handed over, else the machine's."""

    def __init__(self, settings: Settings) -> None:
        self._fixed = ZoneInfo(settings.timezone) if settings.timezone else None
        self._handed: ZoneInfo | None = None

    def hand_over(self, zone_name: str) -> None:
        """Take the browser's zone where none is set; an unknown name changes nothing."""
        try:
            self._handed = ZoneInfo(zone_name)
        except (KeyError, ValueError, OSError):
            return

    def now(self) -> datetime:
        """The time now."""
        zone = self._fixed or self._handed
        return datetime.now(zone) if zone else datetime.now().astimezone()
