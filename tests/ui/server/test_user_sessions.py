"""UserSessions: one for each person, opened when they come, closed when they have been gone for long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import gradio as gr
import pytest

from assistant.errors import PalimpsestError
from assistant.models.scripted import ScriptedModel
from assistant.ui.server.loading import Loaded, Loading
from assistant.ui.server.user_sessions import (
    AWAY_SECONDS,
    IDLE_SECONDS,
    MAX_SESSIONS,
    SILENT_AWAY_SECONDS,
    UserSessions,
)
from tests.fakes.home import scripted_assistant
from tests.ui.open_page import held


def asking(person: str, tab: str = "") -> gr.Request:
    """A request of somebody who signed in, from one of their tabs."""
    return gr.Request(username=person, session_hash=tab or f"tab of {person}")


def person_of(request: gr.Request) -> str:
    """Whoever signed in."""
    return str(request.username)


class House:
    """UserSessions with a clock that is set by hand; it notes whose assistant is opened and closed."""

    def __init__(self, home: Path) -> None:
        self.now = 0.0
        self.told: list[str] = []
        self.home = home
        self.may_close = asyncio.Event()
        self.may_close.set()
        self.users = UserSessions(person_of, self.keep_open, lambda: self.now)

    async def keep_open(self, person: str, loading: Loading) -> None:
        """An assistant whose answers begin and do not end."""
        if person == "nobody":
            raise OSError("no space left")
        self.told.append(f"{person} opened")
        try:
            async with scripted_assistant(self.home / person, ScriptedModel([held(asyncio.Event())])) as assistant:
                loading.finish(Loaded(assistant, len))
                await asyncio.Event().wait()
        finally:
            await self.may_close.wait()
            self.told.append(f"{person} closed")


@pytest.fixture
async def house(home: Path) -> AsyncIterator[House]:
    """UserSessions that are closed in the end."""
    house = House(home)
    yield house
    await house.users.close()


async def test_each_person_has_one_room_however_many_tabs(house: House) -> None:
    ada, again, ben = (house.users.enter(asking(*one)) for one in (("ada", "1"), ("ada", "2"), ("ben", "3")))
    assert (ada is again, ada is ben, house.users.entered(asking("ben", "3")) is ben) == (True, False, True)


async def test_looking_opens_no_room(house: House) -> None:
    assert house.users.entered(asking("ada")) is None


async def test_a_tab_of_another_person_opens_nothing(house: House) -> None:
    house.users.enter(asking("ada", "1"))
    with pytest.raises(PalimpsestError, match="opened by somebody else"):
        await house.users.enter(asking("ben", "1")).loading.ready()
    assert house.users.entered(asking("ben", "1")) is None


async def test_a_full_house_says_so_and_keeps_those_who_are_there(house: House) -> None:
    for number in range(MAX_SESSIONS):
        house.users.enter(asking(f"p{number}"))
    with pytest.raises(PalimpsestError, match="as this page has room for"):
        await house.users.enter(asking("one more")).loading.ready()
    await house.users.enter(asking("p0")).loading.ready()


async def test_in_a_full_house_the_room_that_was_left_longest_ago_is_given_to_who_comes(house: House) -> None:
    for number in range(MAX_SESSIONS):
        user = house.users.enter(asking(f"p{number}"))
        user.has_spoken = True
        await user.loading.ready()
    house.now += AWAY_SECONDS + 1
    house.users.entered(asking("p0"))
    await house.users.enter(asking("one more")).loading.ready()
    assert house.told[MAX_SESSIONS:] == ["p1 closed", "one more opened"]


async def test_in_a_full_house_a_room_where_nothing_was_said_is_given_away_first(house: House) -> None:
    for number in range(MAX_SESSIONS):
        user = house.users.enter(asking(f"p{number}"))
        user.has_spoken = number != 2
        await user.loading.ready()
    house.now += SILENT_AWAY_SECONDS + 1
    await house.users.enter(asking("one more")).loading.ready()
    assert house.told[MAX_SESSIONS:] == ["p2 closed", "one more opened"]
    with pytest.raises(PalimpsestError, match="as this page has room for"):
        await house.users.enter(asking("another")).loading.ready()


async def test_who_comes_back_while_their_room_is_closed_gets_a_new_one_once_it_is(house: House) -> None:
    old = house.users.enter(asking("ada"))
    await old.loading.ready()
    house.may_close.clear()
    house.now += IDLE_SECONDS + 1
    closing = asyncio.create_task(house.users.close_idle())
    await asyncio.sleep(0)
    back = house.users.enter(asking("ada"))
    assert (back is old, back.loading.loaded) == (False, None)
    house.may_close.set()
    await back.loading.ready()
    await closing
    assert house.told == ["ada opened", "ada closed", "ada opened"]
    with pytest.raises(PalimpsestError, match="Load it again"):
        await old.loading.ready()


async def test_whatever_keeps_an_assistant_from_opening_is_told(house: House, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(PalimpsestError, match="cannot be opened: the system refused it"):
        await house.users.enter(asking("nobody")).loading.ready()
    assert "a user session could not be opened" in caplog.text


async def test_only_a_room_nobody_asked_anything_of_for_long_is_closed(house: House) -> None:
    for person in ("ada", "ben"):
        await house.users.enter(asking(person)).loading.ready()
    house.now += IDLE_SECONDS
    house.users.entered(asking("ben"))
    house.now += 1
    await house.users.close_idle()
    assert house.told == ["ada opened", "ben opened", "ada closed"]
    await house.users.enter(asking("ada")).loading.ready()
    assert house.told[-1] == "ada opened"


async def test_a_room_with_a_running_turn_stays(house: House) -> None:
    user = house.users.enter(asking("ada"))
    loaded = await user.loading.ready()
    conversation = loaded.assistant.conversations.create()
    view = user.chat.tabs.view(loaded, conversation.session_id)
    conversation.ask("think for long")
    # Until the answer has begun, for a turn that is cut while it is made ready leaves its files to the interpreter.
    async for _ in view.updates(-1):
        if "It begins" in str(view.transcript.entries):
            break
    house.now += IDLE_SECONDS + 1
    await house.users.close_idle()
    assert house.told == ["ada opened"]
