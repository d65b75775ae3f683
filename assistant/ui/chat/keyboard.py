"""What the keyboard offers: the commands after a slash, and the sheet of all keys."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from assistant.config.words import say
from assistant.ui.cards import card
from assistant.ui.chat.click import Click
from assistant.ui.components import PageUpdate

if TYPE_CHECKING:
    # It brings the agent library with it, which the page does not wait for.
    from assistant.ui.chat.chat_controller import ChatController

_KEYS = (
    ("Enter", "send"),
    ("Shift Enter", "line"),
    ("/", "commands"),
    ("↑", "edit"),
    ("Esc", "stop"),
    ("Ctrl K", "search"),
    ("Ctrl S", "save"),
    ("Ctrl ,", "settings"),
    ("y", "allow"),
    ("c", "allow_here"),
    ("a", "allow_always"),
    ("n", "deny"),
    ("?", "sheet"),
)


async def list_commands(_chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """The commands and what they do, for the menu over the composer."""
    commands = sorted(click.loaded.assistant.commands.values(), key=lambda command: command.name)
    yield PageUpdate(commands=str(card("commands", commands=commands)))


async def open_keys(_chat: ChatController, _click: Click) -> AsyncIterator[PageUpdate]:
    """The sheet of all keys."""
    keys = [(key.split(), say("page", f"key_{name}")) for key, name in _KEYS]
    yield PageUpdate(dialog=str(card("keys", keys=keys)))
