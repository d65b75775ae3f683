"""The visitor's cookie: signed by us, given to few browsers of one address, and believed only as we gave it."""

from __future__ import annotations

import gradio as gr
import pytest
from starlette.requests import Request

from assistant.errors import PalimpsestError
from assistant.ui.server.asgi import PERSON, AsgiScope
from assistant.ui.server.visitors import (
    COOKIE,
    NEW_VISITOR_SECONDS,
    NEW_VISITORS,
    VisitorCookie,
    Visitors,
    person_asking,
)


class TestVisitors:
    """With a clock that is set by hand."""

    def setup_method(self) -> None:
        self.now = 1_000.0
        self.visitors = Visitors(lambda: self.now)

    def comes_with(self, cookie: str) -> str | None:
        """The visitor that a cookie header stands for."""
        return self.visitors.who_comes({"headers": [(b"cookie", cookie.encode())] if cookie else []})

    def test_a_visitor_is_known_by_the_cookie_they_were_given(self) -> None:
        first, second = self.visitors.welcome("192.0.2.1"), self.visitors.welcome("192.0.2.1")
        assert first and second and first != second
        assert self.comes_with(f"theme=dark; {COOKIE}={self.visitors.cookie_value(first)}; x=1") == first

    @pytest.mark.parametrize("value", ["", "a" * 43, "a.b", ".", f"{'a' * 22}.{'0' * 64}", "../../etc", "é.é"])
    def test_a_made_up_cookie_is_nobodys(self, value: str) -> None:
        assert self.comes_with(f"{COOKIE}={value}") is None

    def test_a_cookie_of_another_process_is_nobodys(self) -> None:
        other = Visitors(lambda: self.now)
        assert self.comes_with(f"{COOKIE}={other.cookie_value('somebody')}") is None

    def test_one_address_brings_so_many_at_once_and_later_more(self) -> None:
        come = [self.visitors.welcome("192.0.2.1") for _ in range(NEW_VISITORS + 2)]
        assert [one is None for one in come] == [False] * NEW_VISITORS + [True] * 2
        assert self.visitors.welcome("192.0.2.2")
        self.now += NEW_VISITOR_SECONDS
        assert [self.visitors.welcome("192.0.2.1") is None for _ in range(2)] == [False, True]


class TestVisitorCookie:
    """Around an app that answers everything."""

    def setup_method(self) -> None:
        self.visitors = Visitors(lambda: 0.0)
        self.person: object = "not asked"

    async def answer(self, scope: AsgiScope, receive: object, send: object) -> None:
        """Any page."""
        self.person = scope[PERSON]
        await send({"type": "http.response.start", "status": 200, "headers": []})  # type: ignore[operator]
        await send({"type": "http.response.body", "body": b""})  # type: ignore[operator]

    async def ask(
        self, method: str = "GET", path: str = "/", person: str | None = None, is_space: bool = False
    ) -> object:
        """The start of an answer."""
        sent: list[object] = []

        async def send(message: object) -> None:
            sent.append(message)

        scope = {"type": "http", "method": method, "path": path, PERSON: person, "client": ("192.0.2.1", 1)}
        await VisitorCookie(self.answer, self.visitors, is_space)(scope, None, send)  # type: ignore[arg-type]
        return sent[0]

    async def cookie(self, **asked: object) -> str:
        """The cookie that an answer sets; empty where it sets none."""
        start = await self.ask(**asked)  # type: ignore[arg-type]
        return "".join(value.decode() for _, value in start["headers"])  # type: ignore[index]

    async def test_a_new_browser_gets_a_cookie_that_scripts_cannot_read(self) -> None:
        given = await self.cookie()
        assert given.startswith(f"{COOKIE}={self.person}.") and given.endswith("; Path=/; HttpOnly; SameSite=Strict")

    async def test_in_the_frame_of_a_space_it_is_sent_all_the_same(self) -> None:
        assert (await self.cookie(is_space=True)).endswith("; Secure; SameSite=None; Partitioned")

    async def test_a_known_browser_keeps_the_one_it_has(self) -> None:
        assert (await self.cookie(person="ada"), self.person) == ("", "ada")

    async def test_only_the_page_gives_it(self) -> None:
        assert [await self.cookie(path="/theme.css"), await self.cookie(method="HEAD")] == ["", ""]

    async def test_too_many_new_browsers_of_an_address_are_told_to_come_back(self) -> None:
        statuses = [(await self.ask())["status"] for _ in range(NEW_VISITORS + 1)]  # type: ignore[index]
        assert statuses == [200] * NEW_VISITORS + [429]


def test_the_person_behind_an_event_is_the_one_the_guard_found() -> None:
    request = Request({"type": "http", "headers": [], PERSON: "ada"})
    assert person_asking(gr.Request(request=request)) == "ada"


@pytest.mark.parametrize("scope", [{}, {PERSON: None}], ids=["none", "stranger"])
def test_who_signed_out_is_nobody(scope: dict[str, object]) -> None:
    with pytest.raises(PalimpsestError, match="no longer signed in"):
        person_asking(gr.Request(request=Request({"type": "http", "headers": [], **scope})))
