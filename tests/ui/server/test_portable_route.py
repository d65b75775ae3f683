"""A conversation goes to its person alone as a file, and a file that comes in is opened or refused in plain words."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from assistant.ui.server.asgi import PERSON, AsgiReceive, AsgiScope, AsgiSend
from assistant.ui.server.loading import Loaded, Loading
from assistant.ui.server.portable_route import PortableRoute
from assistant.ui.server.user_sessions import UserSessions
from assistant.ui.server.visitors import person_asking
from tests.fakes.past import write_past
from tests.ui.open_page import open_page

TAB, BOBS_TAB = {"session_hash": "a1b2"}, {"session_hash": "b2c3"}
BOB = {"x-person": "bob"}
MAX_BYTES = 100_000


@pytest.fixture
async def client(home: Path, tmp_path: Path) -> AsyncGenerator[httpx.AsyncClient]:
    """What a tab asks, as Ada, who has a conversation about Lisbon, or as Bob, who has another home."""
    async with open_page(home) as ada, open_page(tmp_path / "bob") as bob:
        write_past(ada.assistant.store, "trip", "Lisbon trip", 2)
        homes = {"ada": ada, "bob": bob}

        async def keep_open(person: str, loading: Loading) -> None:
            loading.finish(Loaded(homes[person].assistant, len))

        users = UserSessions(person_asking, keep_open)
        app = Starlette(routes=PortableRoute(users, MAX_BYTES).routes())

        async def as_person(scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
            person = dict(scope["headers"])[b"x-person"].decode()
            await app({**scope, PERSON: person}, receive, send)

        transport = httpx.ASGITransport(app=as_person)  # type: ignore[arg-type]
        headers = {"x-person": "ada"}
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as client:
            yield client
        await users.close()


async def test_a_conversation_is_given_to_its_person_as_a_file_and_to_nobody_else(client: httpx.AsyncClient) -> None:
    own = await client.get("/export/markdown", params={**TAB, "c": "trip"})
    assert own.headers["content-disposition"] == "attachment; filename*=UTF-8''Lisbon%20trip.md"
    assert "# Lisbon trip" in own.text
    other = await client.get("/export/markdown", params={**BOBS_TAB, "c": "trip"}, headers=BOB)
    assert "content-disposition" not in other.headers
    assert other.json() == {"error": "No conversation has the id 'trip'. `python -m assistant sessions` lists them."}


async def test_what_comes_in_is_opened_once_and_the_same_thing_twice_is_told(client: httpx.AsyncClient) -> None:
    content = (await client.get("/export/json", params={**TAB, "c": "trip"})).content
    answers = [await client.post("/import", params=BOBS_TAB, content=content, headers=BOB) for _ in "12"]
    assert [answer.json() for answer in answers] == [
        {"opened": "trip", "told": "imported."},
        {"opened": "trip", "told": "this conversation is here already, so nothing was changed."},
    ]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"# Mine", "no conversation that Palimpsest exported"),
        (b"x" * (MAX_BYTES + 1), "larger than 0 MB"),
        (b'{"kind":"palimpsest","version":1}', "the file is empty"),
    ],
    ids=["notes", "too large", "nothing in it"],
)
async def test_what_cannot_come_in_is_told(client: httpx.AsyncClient, content: bytes, told: str) -> None:
    assert told in (await client.post("/import", params=TAB, content=content)).json()["error"]
