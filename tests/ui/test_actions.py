"""Every button of the page has an action, and every action has a button."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import get_args

import pytest

from assistant.ui.action_names import ChatAction, MemoryAction, ScriptAction
from assistant.ui.actions import ACTIONS, CHAT_ACTIONS, MEMORY_ACTIONS, act_in_chat, memory_action
from assistant.ui.cards import ASSETS, TEMPLATES
from assistant.ui.chat.chat_controller import ChatController
from assistant.ui.chat.live import LiveViews
from assistant.ui.chat.tab import Tab
from assistant.ui.components import PageUpdate
from assistant.ui.server.loading import Loaded, Loading

_IN_TEMPLATES = re.compile(r'\baction\(\s*"([^"]+)"|\b(?:button|link|gather)\([^,{}]+,\s*"([^"]+)"')
_IN_SCRIPT = re.compile(
    r'\bsend\("([^"]+)"|\baction === "([^"]+)"|^ {4}"([a-z-]+)": \(|\bsessionEdit\["([^"]+)"\]', re.M
)
# A variable of a template names these.
_CHOSEN_IN_PYTHON = {
    "chat/context_panel.py": {"pin", "unpin"},
    "chat/search_panel.py": {"open-hit", "open-message"},
}


def named_in_assets() -> set[str]:
    """The actions that the templates and the scripts name."""
    found = [names for template in TEMPLATES for names in _IN_TEMPLATES.findall((ASSETS / template).read_text("utf-8"))]
    for script in ASSETS.glob("*.js"):
        found += _IN_SCRIPT.findall(script.read_text("utf-8"))
    return {name for names in found for name in names if name}


def test_every_action_of_a_card_is_in_the_table_and_every_one_of_the_table_on_a_card() -> None:
    for name, actions in _CHOSEN_IN_PYTHON.items():
        code = (ASSETS.parent / name).read_text("utf-8")
        assert {action for action in actions if f'"{action}"' not in code} == set()
    chosen = {action for actions in _CHOSEN_IN_PYTHON.values() for action in actions}
    assert named_in_assets() | chosen == {*ACTIONS, *get_args(ScriptAction)}


def test_the_tables_have_the_names_of_their_side() -> None:
    assert set(CHAT_ACTIONS) == set(get_args(ChatAction))
    assert set(MEMORY_ACTIONS) == set(get_args(MemoryAction))


def test_the_script_sends_each_action_to_its_side() -> None:
    script = (ASSETS / "page.js").read_text("utf-8")
    (pattern,) = re.findall(r"MEMORY_ACTION = /(.+)/;", script)
    assert {name for name in ACTIONS if re.match(pattern, name)} == set(MEMORY_ACTIONS)


@pytest.fixture
async def controller() -> AsyncIterator[ChatController]:
    """The centre of the page; no action is let through to its assistant."""
    loading, views = Loading(), LiveViews()
    loading.finish(Loaded(None, len))  # type: ignore[arg-type]
    yield ChatController(loading, views)
    await views.close()


async def test_an_unknown_action_is_refused(controller: ChatController) -> None:
    with pytest.warns(UserWarning, match="Nothing was done"):
        updates = [update async for update in act_in_chat(controller, "format-disk", "", Tab("s1"), "tab")]
    assert updates == [PageUpdate()]
    assert memory_action("format-disk") is None
