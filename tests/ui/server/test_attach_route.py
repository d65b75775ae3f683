"""A file that a tab gives is on disk until it is sent, taken back or left, and what is refused leaves nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from assistant.ui.chat.staged_files import MAX_FILES_OF_MESSAGE
from assistant.ui.server.asgi import PERSON, AsgiApp, AsgiMessage, AsgiReceive, AsgiScope, AsgiSend
from assistant.ui.server.attach_route import AttachRoute
from assistant.ui.server.loading import Loaded, Loading
from assistant.ui.server.user_sessions import UserSession, UserSessions
from assistant.ui.server.visitors import person_asking
from tests.ui.open_page import open_page

TAB = "a1b2"
MAX_BYTES = 1_000_000


class Tab:
    """What Ada's tab asks, and the folder of what came in."""

    def __init__(self, app: AsgiApp, client: httpx.AsyncClient, user: UserSession, folder: Path) -> None:
        self.app = app
        self.client = client
        self.user = user
        self.folder = folder

    async def attach(self, name: str, content: bytes | AsyncIterator[bytes]) -> dict[str, object]:
        """What is said of a file."""
        query = {"session_hash": TAB, "name": name}
        return (await self.client.post("/attach", params=query, content=content)).json()

    @property
    def on_disk(self) -> list[str]:
        """The names of all that came in and is there."""
        return sorted(path.name for path in self.folder.rglob("*") if path.is_file())


@pytest.fixture
async def tab(home: Path, tmp_path: Path) -> AsyncGenerator[Tab]:
    """A tab of Ada, whose assistant is there."""
    async with open_page(home) as page:

        async def keep_open(_: str, loading: Loading) -> None:
            loading.finish(Loaded(page.assistant, len))

        users = UserSessions(person_asking, keep_open)
        user = users.open("ada")
        await user.loading.ready()
        app = Starlette(routes=AttachRoute(users, tmp_path / "coming", MAX_BYTES).routes())

        async def as_ada(scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
            await app({**scope, PERSON: "ada"}, receive, send)

        transport = httpx.ASGITransport(app=as_ada)  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            yield Tab(as_ada, client, user, tmp_path / "coming")
        await users.close()


async def test_a_file_is_told_with_its_size_and_tokens_and_goes_with_its_tab(tab: Tab) -> None:
    told = await tab.attach("../notes.txt", b"The meeting is on Friday.")
    assert told == {
        "id": told["id"],
        "name": "notes.txt",
        "size": 25,
        "tokens": 25,
        "may_be_words": True,
        "note": "",
    }
    assert tab.on_disk == ["notes.txt"]
    tab.user.leave(TAB)
    assert tab.on_disk == []


async def test_a_file_is_taken_back(tab: Tab) -> None:
    told = await tab.attach("notes.txt", b"words")
    await tab.client.post("/detach", json={"session_hash": TAB, "id": told["id"]})
    assert tab.on_disk == []


async def test_one_that_does_not_say_how_large_it_is_ends_where_it_is_too_large(tab: Tab) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 100_000

    told = await tab.attach("endless.txt", endless())
    assert told == {"error": "endless.txt is larger than 1 MB, the most for one file. Attach a smaller part of it."}
    assert tab.on_disk == []


async def test_what_cannot_be_read_is_said_and_leaves_nothing(tab: Tab) -> None:
    told = await tab.attach("all.zip", b"PK\x03\x04\x14\0")
    assert told == {"error": "Archives are not opened. Attach the files that are in all.zip."}
    assert tab.on_disk == []


async def test_a_message_takes_so_many_files(tab: Tab) -> None:
    told = [await tab.attach(f"{number}.txt", b"words") for number in range(MAX_FILES_OF_MESSAGE + 1)]
    assert ["error" in one for one in told] == [False] * MAX_FILES_OF_MESSAGE + [True]
    assert len(tab.on_disk) == MAX_FILES_OF_MESSAGE


async def test_a_message_takes_no_more_where_they_come_at_once(tab: Tab) -> None:
    told = await asyncio.gather(*(tab.attach(f"{number}.txt", b"words") for number in range(MAX_FILES_OF_MESSAGE + 3)))
    assert sum("error" in one for one in told) == 3
    assert len(tab.on_disk) == MAX_FILES_OF_MESSAGE


@pytest.mark.parametrize("sent", [[b"wor"], [b"words", b""]], ids=["half-way", "while it was read"])
async def test_a_tab_that_was_left_leaves_nothing(tab: Tab, sent: list[bytes]) -> None:
    coming: list[AsgiMessage] = [{"type": "http.request", "body": piece, "more_body": bool(piece)} for piece in sent]
    query = f"session_hash={TAB}&name=notes.txt".encode()
    scope = {"type": "http", "method": "POST", "path": "/attach", "query_string": query, "headers": []}
    answers: list[AsgiMessage] = []

    async def receive() -> AsgiMessage:
        return coming.pop(0) if coming else {"type": "http.disconnect"}

    async def send(message: AsgiMessage) -> None:
        answers.append(message)

    await tab.app(scope, receive, send)
    assert answers[0]["status"] == 204
    assert tab.on_disk == []


async def test_a_picture_that_is_not_there_is_not_found(tab: Tab) -> None:
    answer = await tab.client.get(f"/pictures/{'0' * 32}.png", params={"session_hash": TAB})
    assert answer.status_code == 404
