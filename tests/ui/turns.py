"""A tab without a browser: it takes what an event brings, reads the words of the turn, and asks for the rest."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import cast

from assistant.ui.chat.chat_controller import ChatController
from assistant.ui.chat.sent_transcripts import TranscriptPatch
from assistant.ui.chat.tab import Tab
from assistant.ui.components import PageUpdate
from tests.ui.open_page import last


def drawn(controller: ChatController, update: PageUpdate, tab_hash: str = "tab") -> tuple[int, Mapping[str, object]]:
    """The version of the conversation that the tab has after an event, and the patch that led there."""
    return only(cast("TranscriptPatch", controller.sent(update, tab_hash)["transcript"]))


def only(patch: TranscriptPatch) -> tuple[int, Mapping[str, object]]:
    """The version of the newest patch, and what it says."""
    *_, (version, said) = patch.items()
    return int(version), said


async def after_turn(
    controller: ChatController, updates: AsyncIterator[PageUpdate], tab_hash: str = "tab"
) -> PageUpdate:
    """What the page shows once the turn has ended that these updates begin."""
    shown = await last(updates)
    version, _ = drawn(controller, shown, tab_hash)
    async for _ in controller.words(tab_hash, version):
        pass
    tab = shown["tab"]
    assert isinstance(tab, Tab)
    shown |= controller.news(await controller.loaded(), tab, tab_hash)
    controller.sent(shown, tab_hash)
    return shown
