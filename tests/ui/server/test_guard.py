"""Only the page itself and a person who opens it get through."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from assistant.agent.attachments.file_reading import MAX_FILE_BYTES
from assistant.ui.server.asgi import AsgiScope
from assistant.ui.server.bodies import MAX_BODY_BYTES
from assistant.ui.server.guard import Guard, Hosts, WhoComes, known_hosts

HOST = "127.0.0.1:7860"


async def answer_ok(scope: AsgiScope, receive: object, send: object) -> None:
    """An app that answers 200 to everything, with the body it was sent."""
    body = (await receive())["body"] if scope["method"] == "POST" else b"ok"  # type: ignore[operator]
    await send({"type": "http.response.start", "status": 200, "headers": [(b"x-app", b"1")]})  # type: ignore[operator]
    await send({"type": "http.response.body", "body": body})  # type: ignore[operator]


def owner(_: AsgiScope) -> str:
    """Where nobody signs in."""
    return ""


def named_person(scope: AsgiScope) -> str | None:
    """Who says their name in a header; a stranger says none."""
    return dict(scope["headers"]).get(b"x-person", b"").decode() or None


def guarded(who_comes: WhoComes = owner, hosts: Hosts | None = None, framed_by: str = "") -> Guard:
    """A guard before an app that answers everything."""
    return Guard(answer_ok, hosts or Hosts(), who_comes, framed_by=framed_by)


async def ask(
    guard: Guard, method: str = "GET", path: str = "/", parts: Iterable[bytes] = (), query: str = "", **headers: str
) -> tuple[int, dict[bytes, bytes], bytes]:
    """Status, headers and body of the answer to one request, whose body comes in these parts."""
    sent: list[dict[str, object]] = []
    coming: list[dict[str, object]] = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    coming.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive() -> dict[str, object]:
        return coming.pop(0)

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": method, "path": path, "headers": pairs, "query_string": query.encode()}
    await guard(scope, receive, send)  # type: ignore[arg-type]
    return int(sent[0]["status"]), dict(sent[0]["headers"]), sent[1]["body"]  # type: ignore[arg-type,call-overload,return-value]


async def status_of(
    guard: Guard, method: str, path: str, body: object = None, query: str = "", person: str = ""
) -> int:
    """How a request of somebody is answered."""
    parts = [] if body is None else [json.dumps(body).encode()]
    return (await ask(guard, method, path, parts, query, host=HOST, x_person=person))[0]


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {"host": HOST}, 200),
        ("GET", {"host": "localhost:7860"}, 200),
        ("GET", {"host": "LocalHost"}, 200),
        ("GET", {"host": "[::1]:7860"}, 200),
        ("POST", {"host": HOST, "origin": "http://127.0.0.1:7860"}, 200),
        ("GET", {"host": HOST, "sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}, 200),
        ("GET", {"host": "rebound.example:7860"}, 403),
        ("GET", {"host": "192.0.2.7:7860"}, 403),
        ("GET", {}, 403),
        ("GET", {"host": "["}, 403),
        ("GET", {"host": ""}, 403),
        ("GET", {"host": "localhost#.evil.example"}, 403),
        ("GET", {"host": "localhost/evil.example"}, 403),
        ("GET", {"host": "localhost?evil.example"}, 403),
        ("GET", {"host": "evil.example@127.0.0.1:7860"}, 403),
        ("GET", {"host": "localhost:"}, 403),
        ("GET", {"host": "localhost:7860\n"}, 403),
        ("GET", {"host": "localhost, evil.example"}, 403),
        ("GET", {"host": " localhost"}, 403),
        ("GET", {"host": "::1"}, 403),
        ("POST", {"host": HOST, "origin": "http://evil.example"}, 403),
        ("POST", {"host": HOST, "origin": "http://127.0.0.1:9999"}, 403),
        ("POST", {"host": HOST, "origin": "http://x@127.0.0.1:7860"}, 403),
        ("POST", {"host": HOST, "origin": "file://127.0.0.1:7860"}, 403),
        ("POST", {"host": HOST, "origin": "null"}, 403),
        ("POST", {"host": HOST, "origin": "http://["}, 403),
        ("POST", {"host": HOST, "origin": ""}, 403),
        ("GET", {"host": HOST, "origin": "http://evil.example"}, 403),
        ("POST", {"host": HOST, "sec_fetch_site": "cross-site"}, 403),
        ("GET", {"host": HOST, "sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors"}, 403),
    ],
)
async def test_who_gets_through(method: str, headers: dict[str, str], status: int) -> None:
    path = "/login" if method == "POST" else "/"
    assert (await ask(guarded(), method, path, **headers))[0] == status  # type: ignore[arg-type]


async def test_two_hosts_are_none() -> None:
    sent: list[dict[str, object]] = []

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"host", b"evil.example")]
    await guarded()({"type": "http", "method": "GET", "path": "/", "headers": headers}, None, send)  # type: ignore[arg-type]
    assert sent[0]["status"] == 403


@pytest.mark.parametrize("path", ["/gradio_api/upload", "/gradio_api/upload\n", "/config", "/gradio_api/file=http://x"])
async def test_what_is_not_listed_is_not_there(path: str) -> None:
    assert [await status_of(guarded(), method, path) for method in ("GET", "POST")] == [404, 404]


async def test_every_answer_forbids_to_call_outside() -> None:
    _, headers, _ = await ask(guarded(), host="127.0.0.1:1")
    policy = headers[b"content-security-policy"].decode()
    assert "default-src 'self'" in policy
    assert "img-src 'self' data: blob:" in policy
    assert "form-action 'self'" in policy
    assert policy.endswith("frame-ancestors 'self'")
    assert headers[b"x-app"] == b"1"


async def test_a_space_may_be_shown_in_its_frame_under_its_name() -> None:
    hosts = Hosts(known_hosts("", "me-app.hf.space, other.example"), any_address=True)
    guard = guarded(hosts=hosts, framed_by="https://huggingface.co https://*.hf.space")
    status, headers, _ = await ask(guard, host="me-app.hf.space")
    assert status == 200
    assert b"https://*.hf.space" in headers[b"content-security-policy"]
    assert (await ask(guard, host="10.0.0.4:7860"))[0] == 200
    assert (await ask(guard, host="rebound.example"))[0] == 403


async def test_a_socket_is_closed() -> None:
    sent: list[dict[str, object]] = []

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    await guarded()({"type": "websocket", "headers": [(b"host", HOST.encode())]}, None, send)  # type: ignore[arg-type]
    assert sent == [{"type": "websocket.close", "code": 1008}]


async def test_a_stranger_gets_the_form_and_nothing_else() -> None:
    async def form(scope: object, receive: object, send: object) -> None:
        await send({"type": "http.response.start", "status": 299, "headers": []})  # type: ignore[operator]
        await send({"type": "http.response.body", "body": b"form"})  # type: ignore[operator]

    guard = Guard(answer_ok, Hosts(), named_person, form)
    asked = [("GET", "/"), ("GET", "/assets/a.js"), ("POST", "/login"), ("POST", "/logout")]
    asked += [("GET", "/gradio_api/heartbeat/a1"), ("POST", "/gradio_api/queue/join")]
    assert [await status_of(guard, *one) for one in asked] == [299, 200, 200, 401, 401, 401]
    assert await status_of(guard, "GET", "/", person="ada") == 200


async def test_the_body_of_a_stranger_is_not_read_where_only_people_may_go() -> None:
    status, headers, _ = await ask(guarded(named_person), "POST", "/gradio_api/queue/join", iter(()), host=HOST)
    assert (status, headers[b"connection"]) == (401, b"close")


class TestTabs:
    """What a tab asks and is told is its person's."""

    def setup_method(self) -> None:
        self.guard = guarded(named_person)

    async def asked(self, person: str, method: str, path: str, body: object = None, query: str = "") -> int:
        """How somebody is answered."""
        return await status_of(self.guard, method, path, body, query, person)

    @pytest.mark.parametrize(
        ("method", "path", "tab"),
        [("POST", "/gradio_api/queue/join", "body"), ("POST", "/gradio_api/run/predict", "body"), ("GET", "", "path")],
    )
    async def test_the_first_who_speaks_for_a_tab_has_it(self, method: str, path: str, tab: str) -> None:
        path = path or "/gradio_api/heartbeat/a1"
        body = {"session_hash": "a1"} if tab == "body" else None
        assert await self.asked("ada", method, path, body) == 200
        assert await self.asked("ada", "GET", "/gradio_api/queue/data", query="session_hash=a1") == 200
        others = [
            await self.asked("ben", "GET", "/gradio_api/queue/data", query="session_hash=a1"),
            await self.asked("ben", "GET", "/gradio_api/heartbeat/a1"),
            await self.asked("ben", "POST", "/gradio_api/queue/join", {"session_hash": "a1"}),
            await self.asked("ben", "POST", "/gradio_api/run/predict", {"session_hash": "a1"}),
        ]
        assert others == [404] * 4
        assert await self.asked("ada", "GET", "/gradio_api/heartbeat/a1") == 200

    async def test_nothing_is_told_of_a_tab_that_nobody_has(self) -> None:
        assert await self.asked("ada", "GET", "/gradio_api/queue/data", query="session_hash=a1") == 404

    @pytest.mark.parametrize(
        "body",
        [{}, [], "a1", {"session_hash": None}, {"session_hash": ["a1"]}, {"session_hash": "A/1"}, {"session_hash": 1}],
    )
    async def test_a_body_that_names_no_tab_goes_nowhere(self, body: object) -> None:
        assert await self.asked("ada", "POST", "/gradio_api/queue/join", body) == 404

    @pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000], ids=["empty", "open", "bytes", "deep"])
    async def test_a_body_that_cannot_be_read_goes_nowhere(self, body: bytes) -> None:
        answer = await ask(self.guard, "POST", "/gradio_api/queue/join", [body], host=HOST, x_person="ada")
        assert answer[0] == 404

    async def test_the_app_gets_the_body_whole(self) -> None:
        parts = [b'{"session_ha', b'sh": "a1", "data": ["\xc3', b'\xa9"]}']
        answer = await ask(self.guard, "POST", "/gradio_api/queue/join", parts, host=HOST, x_person="ada")
        assert answer[2] == b"".join(parts)


async def test_a_body_is_refused_by_what_it_says_of_its_length_and_by_its_length() -> None:
    said = await ask(guarded(), "POST", "/login", host=HOST, content_length=str(MAX_BODY_BYTES + 1))
    sent = await ask(guarded(), "POST", "/login", [b"a" * MAX_BODY_BYTES, b"a"], host=HOST)
    most = await ask(guarded(), "POST", "/login", [b"a" * MAX_BODY_BYTES], host=HOST)
    odd = await ask(guarded(), "POST", "/login", host=HOST, content_length="-1")
    assert [answer[0] for answer in (said, sent, most, odd)] == [413, 413, 200, 413]


@pytest.mark.parametrize("header", [{"content_length": "1"}, {"transfer_encoding": "chunked"}], ids=str)
async def test_who_only_reads_sends_no_body(header: dict[str, str]) -> None:
    assert (await ask(guarded(), "GET", "/", host=HOST, **header))[0] == 413  # type: ignore[arg-type]


class TestStreamedBodies:
    """A file comes in piece by piece, for a tab of its person, and no larger than its route takes."""

    async def attach(self, guard: Guard, tab: str = "a1", person: str = "ada", **headers: str) -> int:
        """The status of a file in two pieces."""
        query = f"session_hash={tab}&name=a.txt"
        asked = ask(guard, "POST", "/attach", [b"one", b"two"], query, host=HOST, x_person=person, **headers)
        return (await asked)[0]

    async def test_it_is_for_the_tab_of_its_person_alone(self) -> None:
        guard = guarded(named_person)
        assert await self.attach(guard) == 404
        await ask(guard, "GET", "/gradio_api/heartbeat/a1", host=HOST, x_person="ada")
        assert await self.attach(guard) == 200
        assert await self.attach(guard, person="bob") == 404
        assert await self.attach(guard, tab="") == 404
        assert await self.attach(guard, person="") == 401
        assert await self.attach(guard, origin="http://evil.example") == 403

    async def test_one_that_says_that_it_is_larger_is_not_read(self) -> None:
        guard = guarded(named_person)
        await ask(guard, "GET", "/gradio_api/heartbeat/a1", host=HOST, x_person="ada")
        assert await self.attach(guard, content_length=str(MAX_FILE_BYTES)) == 200
        assert await self.attach(guard, content_length=str(MAX_FILE_BYTES + 1)) == 413
        assert await self.attach(guard, content_length="many") == 413
