"""What time it is where the person is."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from assistant.config.settings import Settings

_ZONE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+){0,2}")
_ZONE_CHARS = 64


class Clock:
    """Zone-aware time: in the zone that is set, else that of the browser that spoke last, else the machine's.

    One person is in one place at a time: where two browsers are in different zones, what is said in either of them
    takes the whole home to its zone, a turn that runs in the other one included.
    """

    def __init__(self, settings: Settings, moment: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """`moment` is the time now in any zone."""
        self._moment = moment
        self._is_set = bool(settings.timezone)
        self._zone = ZoneInfo(settings.timezone) if settings.timezone else None

    def now(self) -> datetime:
        """The time now."""
        return self._moment().astimezone(self._zone)

    def follow(self, zone_name: str) -> None:
        """Take the zone that a browser reports; a zone in the settings wins, and an unknown zone is ignored."""
        if not self._is_set and (zone := read_zone(zone_name)) is not None:
            self._zone = zone

    def begin_in(self, zone_name: str) -> None:
        """The same for a page that was only opened: used until a browser in which something was said reports a zone."""
        if self._zone is None:
            self.follow(zone_name)


def read_zone(name: str) -> ZoneInfo | None:
    """The zone of an IANA name that came from outside; None for anything else."""
    if len(name) > _ZONE_CHARS or not _ZONE_NAME.fullmatch(name):
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
