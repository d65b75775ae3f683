"""Whose tab is whose: the first person who speaks for a tab has it, and nobody else ever speaks for it."""

from __future__ import annotations

from collections import OrderedDict

MAX_TABS = 20_000
"""The tab that was quiet for longest is forgotten first; an open one is heard of every few seconds."""


class TabOwners:
    """Knows tabs by the name that their browser chose."""

    def __init__(self) -> None:
        self._owners: OrderedDict[str, str] = OrderedDict()

    def claim(self, tab: str, person: str) -> bool:
        """Whether the tab is this person's; one that nobody had is from now on."""
        is_theirs = self._owners.setdefault(tab, person) == person
        if is_theirs:
            self._owners.move_to_end(tab)
        while len(self._owners) > MAX_TABS:
            self._owners.popitem(last=False)
        return is_theirs

    def has(self, tab: str, person: str) -> bool:
        """Whether the tab is known to be this person's."""
        return self._owners.get(tab) == person and self.claim(tab, person)
