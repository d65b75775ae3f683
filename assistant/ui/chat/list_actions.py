"""What moves a tab through the list of conversations; no other change of the list moves it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from assistant.ui.chat.chat_controller import ChatController
from assistant.ui.chat.click import Click
from assistant.ui.chat.list_part import ListPart, from_month, named, newer, older
from assistant.ui.chat.page_updates import listed_sessions
from assistant.ui.components import PageUpdate


async def list_older(chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """List older conversations too."""
    yield _moved(chat, click, older)


async def list_newer(chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """List conversations that are newer than those listed."""
    yield _moved(chat, click, newer)


async def list_newest(chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """Go back to the newest conversations, those with the words of the filter where there is one."""
    yield _moved(chat, click, lambda part: named(part.words))


async def list_named(chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """List the conversations that have some words in their titles; all of them for no words."""
    yield _moved(chat, click, lambda _: named(click.target))


async def list_from(chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """Jump to a month."""
    sessions = click.loaded.assistant.conversations.summaries()
    yield _moved(chat, click, lambda _: from_month(click.target, sessions))


def _moved(chat: ChatController, click: Click, move: Callable[[ListPart], ListPart]) -> PageUpdate:
    chat.lists.keep(click.tab_hash, move(chat.lists.get(click.tab_hash) or ListPart()))
    return PageUpdate(sessions=listed_sessions(click.loaded.assistant, click.tab.session_id))
