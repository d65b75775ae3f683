"""What axe, which knows the rules for pages that everyone can use, finds in states that differ most, in both themes.

`python -m benchmarks.pictures --axe` asks it about all states, at four widths and in both languages.
"""

from __future__ import annotations

import pytest

from tests.browser.behind import Behind
from tests.browser.conftest import Chat
from tests.browser.looks import THEMES, axe_findings, settle
from tests.browser.states import STATES, Stage, State, show_panel
from tests.fakes.page_player import PagePlayer

pytestmark = pytest.mark.browser

# One of each kind of card, panel, dialog and box; the others are made of the same parts.
CHOSEN = (
    "welcome",
    "work-open",
    "rich",
    "approval",
    "memory-chip",
    "compaction",
    "memory",
    "context",
    "model",
    "search",
    "settings-models",
    "keys",
    "chips",
    "forget-found",
)
SIZES = ((1440, 900), (390, 844))


@pytest.mark.parametrize("state", [state for state in STATES if state.name in CHOSEN], ids=lambda state: state.name)
def test_axe_finds_nothing_serious(chat: Chat, behind: Behind, player: PagePlayer, state: State) -> None:
    stage = Stage(chat, behind, player)
    stage.prepare()
    state.reach(stage)
    seen: dict[str, list[str]] = {}
    for width, height in SIZES:
        chat.page.set_viewport_size({"width": width, "height": height})
        settle(chat.page)
        if state.panel:
            show_panel(chat.page, state.panel)
        for theme in THEMES:
            chat.page.emulate_media(color_scheme=theme)
            settle(chat.page)
            seen[f"{theme} {width}"] = axe_findings(chat.page)
    assert {look: found for look, found in seen.items() if found} == {}
