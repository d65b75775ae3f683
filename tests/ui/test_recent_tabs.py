"""Of the tabs that were heard of last something is remembered."""

from __future__ import annotations

from assistant.ui.recent_tabs import MAX_TABS_OF_PERSON, RecentTabs


def test_the_tab_that_was_quiet_for_longest_is_forgotten_first() -> None:
    tabs = RecentTabs[int]()
    for number in range(MAX_TABS_OF_PERSON):
        tabs.keep(f"tab {number}", number)
    assert tabs.get("tab 0") == 0
    tabs.keep("one more", 7)
    tabs.forget("tab 3")
    assert (len(tabs.values()), tabs.get("tab 3")) == (MAX_TABS_OF_PERSON - 1, None)
    assert (tabs.get("tab 0"), tabs.get("tab 1"), tabs.get("tab 2"), tabs.get("one more")) == (0, None, 2, 7)
