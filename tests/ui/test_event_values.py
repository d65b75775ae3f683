"""What the browser says was pressed is read whatever it sends."""

from __future__ import annotations

from typing import Any

import gradio as gr
import pytest

from assistant.ui.event_values import Action, action_of


@pytest.mark.parametrize(
    ("sent", "action"),
    [
        ({"action": "open-file", "target_id": "USER.md", "given": "mark"}, Action("open-file", "USER.md", "mark")),
        ({"action": "pin", "target_id": "a\ud800b", "given": ""}, Action("pin", "a\ufffdb", "")),
        ({"action": ["pin"], "target_id": None, "given": 7}, Action("['pin']", "None", "7")),
        ({"action": "pin"}, Action()),
        (None, Action()),
    ],
    ids=["whole", "a lone surrogate", "other types", "halves", "nothing"],
)
def test_what_was_pressed_is_read_and_what_is_none_has_no_name(sent: dict[str, Any] | None, action: Action) -> None:
    assert action_of(gr.EventData(None, sent)) == action
