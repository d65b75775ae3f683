"""Every event of the Memory tab tells a refusal, and leaves the tab as it is."""

from __future__ import annotations

import errno
from collections.abc import AsyncIterator

import gradio as gr
import pytest

from assistant.config.settings import Settings
from assistant.errors import PalimpsestError
from assistant.ui.chat.chat_controller import show_refusals
from assistant.ui.chat.tab import Tab
from assistant.ui.components import PageUpdate
from assistant.ui.memory import memory_wiring
from assistant.ui.memory.task import Task
from assistant.ui.page import build
from assistant.ui.server.loading import Loading
from assistant.ui.server.user_sessions import UserSessions


def refuse(request: gr.Request) -> str:
    """Somebody whose sign-in has ended."""
    raise PalimpsestError("You are no longer signed in.")


async def stay_loading(person: str, loading: Loading) -> None:
    """Nobody's assistant is ever there."""


@pytest.mark.parametrize(
    ("name", "sent", "values"),
    [
        ("act", ["words", Task(), Tab(), gr.Request(), gr.EventData(None, {"action": "forget-words"})], 8),
        ("save", ["mark\nwords\nmine", Tab(), gr.Request()], 5),
    ],
    ids=["a button", "save"],
)
async def test_who_is_no_longer_signed_in_is_told_so(name: str, sent: list[object], values: int) -> None:
    demo = build(Settings(), UserSessions(refuse, stay_loading))
    called = [one.fn for one in demo.fns.values() if one.fn and one.fn.__module__ == memory_wiring.__name__]
    (act,) = [fn for fn in called if fn.__name__ == name]
    with pytest.warns(UserWarning, match="no longer signed in"):
        assert [answer async for answer in act(*sent)] == [[gr.skip()] * values]


async def test_a_disk_that_refuses_is_told_on_every_button_of_a_conversation() -> None:
    async def pressed() -> AsyncIterator[PageUpdate]:
        yield PageUpdate(composer="")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.warns(UserWarning, match="The disk refused it: the disk is full"):
        assert [face async for face in show_refusals(pressed())] == [PageUpdate(composer=""), PageUpdate()]
