"""Whose assistant is opened for a request: the owner's, that of another person who signed in, or a guest's."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from assistant.assembly.assistant import Assistant, open_assistant
from assistant.assembly.sample.show_command import with_show_command
from assistant.config.accounts import Account
from assistant.config.settings import Settings, load_settings
from assistant.models.chat_model import connect_or_stand_in
from assistant.storage.temporary_homes import temporary_home
from assistant.ui.server.sign_in import member_home, member_of


def open_person(settings: Settings, person: str, address: str) -> AbstractAsyncContextManager[Assistant]:
    """The assistant of who signed in; of the owner where nobody has to, of a guest where others reach the page."""
    return with_show_command(_open_own(settings, person, address))


@asynccontextmanager
async def open_guest(settings: Settings, address: str = "") -> AsyncGenerator[Assistant]:
    """The assistant of one visitor; their words go with its home when it closes."""
    with temporary_home() as folder:
        guest = _as_guest(settings, folder)
        async with open_assistant(guest, address, read_settings=lambda: guest) as assistant:
            yield assistant


def open_member(settings: Settings, account: Account, address: str = "") -> AbstractAsyncContextManager[Assistant]:
    """The assistant of a person beside the owner, whose settings are made of the owner's also when read once more."""
    return open_assistant(
        _as_member(settings, account),
        address,
        connect_or_stand_in,
        read_settings=lambda: _as_member(load_settings(settings.home), account),
    )


def _open_own(settings: Settings, person: str, address: str) -> AbstractAsyncContextManager[Assistant]:
    if settings.has_guests:
        return open_guest(settings, address)
    member = member_of(settings, person)
    return open_member(settings, member, address) if member else open_assistant(settings, address, connect_or_stand_in)


def _as_guest(settings: Settings, folder: Path) -> Settings:
    """What a visitor of a public page runs on: the built-in assistant, no tools, a home that is thrown away."""
    return settings.model_copy(update={"home": folder, "provider": "offline", "tools": "memory", "embedder": "none"})


def _as_member(settings: Settings, account: Account) -> Settings:
    """What a person beside the owner runs on: a home of their own, the owner's model, and no tools on the machine.

    A person who approves their own calls could read the owner's home.
    """
    return settings.model_copy(update={"home": member_home(settings, account), "tools": "memory"})
