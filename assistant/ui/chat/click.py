"""A pressed button: what it is about, and the tab it is in."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.ui.chat.tab import Tab
from assistant.ui.server.loading import Loaded


@dataclass(frozen=True, slots=True)
class Click:
    """A button of the conversation's side. Its target comes from a browser: a target that is not pending is refused."""

    loaded: Loaded
    target: str
    tab: Tab
    tab_hash: str
