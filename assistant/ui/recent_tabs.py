"""What is remembered of each tab of a person, by the name that its browser chose."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

MAX_TABS_OF_PERSON = 100
"""The tab that was quiet for longest is forgotten first; an open one is heard of every few seconds."""

Remembered = TypeVar("Remembered")


class RecentTabs(Generic[Remembered]):
    """One thing for each of the tabs that were heard of last: not every browser says when it closes one."""

    def __init__(self) -> None:
        self._tabs: OrderedDict[str, Remembered] = OrderedDict()

    def get(self, tab_hash: str) -> Remembered | None:
        """What is remembered of a tab; None where nothing is, or nothing any more."""
        if tab_hash in self._tabs:
            self._tabs.move_to_end(tab_hash)
        return self._tabs.get(tab_hash)

    def values(self) -> list[Remembered]:
        """What is remembered of all of them."""
        return list(self._tabs.values())

    def forget(self, tab_hash: str) -> None:
        """Forget a tab that was closed."""
        self._tabs.pop(tab_hash, None)

    def keep(self, tab_hash: str, remembered: Remembered) -> None:
        """Remember this of a tab."""
        self._tabs[tab_hash] = remembered
        self._tabs.move_to_end(tab_hash)
        while len(self._tabs) > MAX_TABS_OF_PERSON:
            self._tabs.popitem(last=False)
