"""Only the page itself and a person who opens it get through."""

from __future__ import annotations

import pytest

from assistant.ui.server.guard import Guard, known_hosts


async def answer_ok(scope: dict[str, object], receive: object, send: object) -> None:
    """An app that answers 200 to everything."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"x-app", b"1")]})  # type: ignore[operator]
    await send({"type": "http.response.body", "body": b"ok"})  # type: ignore[operator]


async def ask(guard: Guard, method: str = "GET", path: str = "/", **headers: str) -> tuple[int, dict[bytes, bytes]]:
    """Status and headers of the answer to one request."""
    sent: list[dict[str, object]] = []

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    await guard({"type": "http", "method": method, "path": path, "headers": pairs}, None, send)  # type: ignore[arg-type]
    return int(sent[0]["status"]), dict(sent[0]["headers"])  # type: ignore[arg-type,call-overload]


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {"host": "127.0.0.1:7860"}, 200),
        ("GET", {"host": "localhost:7860"}, 200),
        ("GET", {"host": "[::1]:7860"}, 200),
        ("POST", {"host": "127.0.0.1:7860", "origin": "http://127.0.0.1:7860"}, 200),
        ("GET", {"host": "127.0.0.1:7860", "sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}, 200),
        ("GET", {"host": "rebound.example:7860"}, 403),
        ("GET", {"host": "192.0.2.7:7860"}, 403),
        ("GET", {}, 403),
        ("GET", {"host": "["}, 403),
        ("POST", {"host": "127.0.0.1:7860", "origin": "http://evil.example"}, 403),
        ("POST", {"host": "127.0.0.1:7860", "origin": "http://127.0.0.1:9999"}, 403),
        ("POST", {"host": "127.0.0.1:7860", "origin": "null"}, 403),
        ("POST", {"host": "127.0.0.1:7860", "origin": "http://["}, 403),
        ("POST", {"host": "127.0.0.1:7860", "origin": ""}, 403),
        ("GET", {"host": "127.0.0.1:7860", "origin": "http://evil.example"}, 403),
        ("POST", {"host": "127.0.0.1:7860", "sec_fetch_site": "cross-site"}, 403),
        ("GET", {"host": "127.0.0.1:7860", "sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors"}, 403),
    ],
)
async def test_who_gets_through(method: str, headers: dict[str, str], status: int) -> None:
    assert (await ask(Guard(answer_ok), method, **headers))[0] == status  # type: ignore[arg-type]


@pytest.mark.parametrize("path", ["/gradio_api/upload", "/gradio_api/upload/", "/proxied/gradio_api/upload"])
async def test_nobody_puts_files_on_the_disk(path: str) -> None:
    assert (await ask(Guard(answer_ok), "POST", path, host="127.0.0.1:7860"))[0] == 403  # type: ignore[arg-type]


async def test_every_answer_forbids_to_call_outside() -> None:
    _, headers = await ask(Guard(answer_ok), host="127.0.0.1:1")  # type: ignore[arg-type]
    policy = headers[b"content-security-policy"].decode()
    assert "default-src 'self'" in policy
    assert "img-src 'self' data: blob:" in policy
    assert "form-action 'self'" in policy
    assert policy.endswith("frame-ancestors 'self'")
    assert headers[b"x-app"] == b"1"


async def test_a_space_may_be_shown_in_its_frame_under_its_name() -> None:
    guard = Guard(
        answer_ok,
        hosts=known_hosts("", "me-app.hf.space, other.example"),
        any_address=True,
        framed_by="https://huggingface.co https://*.hf.space",
    )  # type: ignore[arg-type]
    status, headers = await ask(guard, host="me-app.hf.space")
    assert status == 200
    assert b"https://*.hf.space" in headers[b"content-security-policy"]
    assert (await ask(guard, host="10.0.0.4:7860"))[0] == 200
    assert (await ask(guard, host="rebound.example"))[0] == 403


async def test_a_refused_socket_is_closed() -> None:
    sent: list[dict[str, object]] = []

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    await Guard(answer_ok)({"type": "websocket", "headers": [(b"host", b"evil.example")]}, None, send)  # type: ignore[arg-type]
    assert sent == [{"type": "websocket.close", "code": 1008}]


async def test_the_first_page_is_told_once() -> None:
    told: list[str] = []
    guard = Guard(answer_ok, on_first_page=lambda: told.append("page"))  # type: ignore[arg-type]
    for path in ("/config", "/", "/"):
        await ask(guard, path=path, host="localhost")
    assert told == ["page"]
