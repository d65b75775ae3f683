"""A tab belongs to the first person who speaks for it."""

from __future__ import annotations

from assistant.ui.server.tabs import MAX_TABS, TabOwners


def test_a_tab_is_claimed_once() -> None:
    tabs = TabOwners()
    claims = [tabs.claim(*one) for one in (("a1", "ada"), ("a1", "ada"), ("a1", "ben"), ("b1", "ben"))]
    assert (claims, tabs.has("a1", "ada"), tabs.has("a1", "ben"), tabs.has("c1", "ada")) == (
        [True, True, False, True],
        True,
        False,
        False,
    )


def test_a_tab_that_is_heard_of_outlives_a_flood_of_others() -> None:
    tabs = TabOwners()
    tabs.claim("a1", "ada")
    tabs.claim("quiet", "ada")
    for number in range(2 * MAX_TABS):
        tabs.claim(f"t{number}", "eve")
        if number % 1_000 == 0:
            assert tabs.has("a1", "ada")
    assert (tabs.has("a1", "eve"), tabs.has("quiet", "ada"), tabs.claim("quiet", "ben")) == (False, False, True)
