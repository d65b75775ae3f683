"""A tab is told whether there is news: of its conversation, of the file in its editor, of the index."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from assistant.ui.chat.search_panel import index_state_html
from assistant.ui.chat.tab import Tab
from assistant.ui.memory.open_files import OpenFile
from assistant.ui.server.asgi import PERSON, AsgiReceive, AsgiScope, AsgiSend
from assistant.ui.server.loading import Loaded, Loading
from assistant.ui.server.news_route import NewsRoute
from assistant.ui.server.user_sessions import UserSession, UserSessions
from assistant.ui.server.visitors import person_asking
from tests.fakes.home import say
from tests.fakes.past import write_past
from tests.ui.open_page import OpenPage, open_page

TAB = "a1b2"


@pytest.fixture
async def page(home: Path) -> AsyncGenerator[OpenPage]:
    """A page with a past conversation."""
    async with open_page(home) as page:
        write_past(page.assistant.store, "s1", "Trip")
        await page.assistant.index.sync_words()
        yield page


@pytest.fixture
async def users(page: OpenPage) -> AsyncGenerator[UserSessions]:
    """The session of Ada, whose assistant is there."""

    async def keep_open(_: str, loading: Loading) -> None:
        loading.finish(Loaded(page.assistant, len))

    users = UserSessions(person_asking, keep_open)
    await users.open("ada").loading.ready()
    yield users
    await users.close()


@pytest.fixture
async def user(users: UserSessions) -> UserSession:
    """What Ada has on the page: one tab, which shows all that there is."""
    user = next(iter(users._sessions.values()))
    loaded = await user.loading.ready()
    async for _ in user.chat.tabs.view(loaded, "s1").updates(-1):
        pass
    user.chat.sent(user.chat.tabs.show(loaded, Tab("s1"), TAB), TAB)
    user.files.keep(TAB, user.memory.poll(loaded, OpenFile(), None).file)
    user.index_states.keep(TAB, await index_state_html(loaded))
    return user


def browser_of(users: UserSessions, person: str) -> httpx.AsyncClient:
    """A browser that is let in as this person."""
    app = Starlette(routes=NewsRoute(users).routes())

    async def of_person(scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        scope[PERSON] = person
        await app(scope, receive, send)

    return httpx.AsyncClient(transport=httpx.ASGITransport(of_person), base_url="http://page")  # type: ignore[arg-type]


async def asked(
    users: UserSessions, given: str = "", edited: str = "0", person: str = "ada", shown: str = ""
) -> object:
    """What a tab is answered."""
    query = {"session_hash": TAB, "given": given, "edited": edited, "shown": shown}
    async with browser_of(users, person) as browser:
        answer = await browser.get("/news", params=query)
    return answer.json()["news"]


async def test_a_tab_that_shows_all_has_no_news(users: UserSessions, user: UserSession) -> None:
    assert await asked(users, user.files.of(TAB).given) is False


async def test_what_a_tab_was_sent_and_goes_on_not_showing_is_news(users: UserSessions, user: UserSession) -> None:
    loaded, given = await user.loading.ready(), user.files.of(TAB).given
    assert [await asked(users, given, shown="0.0") for _ in range(2)] == [False, True]
    # The browser still names the conversation it was in before.
    again = user.chat.sent(user.chat.news(loaded, Tab("before"), TAB), TAB)
    assert (again["tab"], "Trip" in str(again["top"])) == (Tab("s1"), True)
    [patch] = [one for one in dict(again["transcript"]).values() if one["base"] is None]  # type: ignore[call-overload]
    assert patch["session"] == "s1"


async def test_who_is_not_here_has_none(users: UserSessions, user: UserSession) -> None:
    assert await asked(users, user.files.of(TAB).given, person="ben") is False


async def test_a_turn_of_another_tab_is_news(users: UserSessions, user: UserSession, page: OpenPage) -> None:
    await say(page.assistant, page.assistant.conversations.open("s1"), "hello")
    assert await asked(users, user.files.of(TAB).given) is True


async def test_a_file_that_changed_on_disk_is_news(users: UserSessions, user: UserSession, page: OpenPage) -> None:
    file = user.files.of(TAB)
    (page.assistant.workspace.root / file.name).write_text("other words\n", "utf-8")
    assert await asked(users, file.given) is True


async def test_words_that_are_not_saved_are_news_until_the_page_says_so(users: UserSessions, user: UserSession) -> None:
    file = user.files.of(TAB)
    assert await asked(users, file.given, edited="1") is True
    loaded = await user.loading.ready()
    user.files.keep(TAB, user.memory.poll(loaded, file, "unsaved").file)
    assert await asked(users, file.given, edited="1") is False
    assert await asked(users, file.given, edited="0") is True


async def test_while_the_editor_is_given_another_file_nothing_is_said(users: UserSessions, user: UserSession) -> None:
    assert await asked(users, "an older file", edited="1") is False


async def test_an_index_that_went_on_is_news(users: UserSessions, user: UserSession) -> None:
    user.index_states.keep(TAB, "how far it had come")
    assert await asked(users, user.files.of(TAB).given) is True


async def test_a_tab_that_is_closed_is_forgotten(users: UserSessions, user: UserSession) -> None:
    async with browser_of(users, "ada") as browser:
        answer = await browser.post("/leave", json={"session_hash": TAB})
    assert answer.status_code == 204
    assert (user.chat.session_of(TAB), user.files.of(TAB)) == ("", OpenFile())
