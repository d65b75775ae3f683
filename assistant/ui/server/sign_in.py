"""Who may sign in, and which person a request comes from."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

import gradio as gr

from assistant.config.accounts import Account, SignIn
from assistant.config.settings import Settings
from assistant.errors import PalimpsestError
from assistant.ui.server.rooms import WhoAsks
from assistant.ui.server.visitors import visitor_of


def who_asks(settings: Settings) -> WhoAsks:
    """How people are told apart: by their name, guests by their browser; where nobody signs in all are the owner."""
    if settings.has_guests:
        return visitor_of
    return _signed_in if settings.accounts else lambda _: ""


def owner_of(settings: Settings) -> str:
    """The person who has the home itself, by the word that `who_asks` knows them by."""
    return settings.accounts[0].name if settings.accounts else ""


def check_password(accounts: Sequence[Account]) -> Callable[[str, str], Awaitable[bool]]:
    """True for the right password of a name, unless too many wrong ones came before it."""
    # Gradio awaits it, though its types do not say so: a hash takes the processor for a tenth of a second.
    sign_in = SignIn(accounts, time.monotonic)

    async def check(name: str, password: str) -> bool:
        return await asyncio.to_thread(sign_in.check, name, password)

    return check


def _signed_in(request: gr.Request) -> str:
    if not request.username:
        raise PalimpsestError("You are no longer signed in. Load the page again.")
    return request.username
