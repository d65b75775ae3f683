"""Forms of other servers and protocols, read at any step, and through a raw server with the real client."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from agentscope.model import ChatResponse

from assistant.errors import ModelError
from assistant.messages.blocks import Block, TextBlock, ThinkingBlock, ToolCallBlock, UserMsg
from assistant.models.providers.provider_models import OpenAICompatibleModel
from tests.models.wire.other_forms import ANSWERS, CALL, CALLS, FAILURES
from tests.models.wire.readings import TOOLS, Reading, read

RESPONSES: dict[str, bytes] = {
    **{name: content for name, (content, _) in ANSWERS.items()},
    **CALLS,
    **{name: content for name, (content, _) in FAILURES.items()},
}
OFFERED: list[dict[str, object]] = [
    {
        "type": "function",
        "function": {"name": name, "description": "A tool.", "parameters": {"type": "object", **schema}},
    }
    for name, schema in TOOLS.items()
]
STEPS = pytest.mark.parametrize("step", [0, 1, 7], ids=["at once", "byte by byte", "seven bytes at a time"])


@STEPS
@pytest.mark.parametrize(("content", "reading"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_of_another_server_is_read(content: bytes, reading: Reading, step: int) -> None:
    assert read(content, step=step) == reading


@STEPS
@pytest.mark.parametrize("content", CALLS.values(), ids=CALLS)
def test_a_call_of_another_server_is_read(content: bytes, step: int) -> None:
    assert read(content, step=step) == CALL


@STEPS
@pytest.mark.parametrize(("content", "words"), FAILURES.values(), ids=FAILURES)
def test_an_error_of_another_server_is_given_in_its_own_words(content: bytes, words: str, step: int) -> None:
    assert read(content, step=step).failure == words


def test_the_arguments_of_two_calls_in_one_are_two_calls() -> None:
    function = {"name": "memory_get", "arguments": '{"path": "USER.md"}{"path": "SOUL.md"}'}
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    content = json.dumps({"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}).encode()
    assert read(content).calls == (("memory_get", {"path": "USER.md"}), ("memory_get", {"path": "SOUL.md"}))


class _RawHandler(BaseHTTPRequestHandler):
    """Answers with the bytes that the address asks for by their place in the tables."""

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on the terminal."""

    def do_POST(self) -> None:
        """The response of the table."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        content = list(RESPONSES.values())[int(self.path.split("/")[1])]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture(scope="module")
def raw_server() -> Iterator[str]:
    """A server that knows no protocol; its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _RawHandler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


async def asked(address: str, name: str) -> list[Block]:
    """The blocks of the answer that the product's own client reads."""
    place = list(RESPONSES).index(name)
    model = OpenAICompatibleModel("m", f"{address}/{place}/v1", "sk-raw-123456", 16_000, 8_000)
    try:
        stream = await model([UserMsg("user", "Hello")], tools=OFFERED)
        assert not isinstance(stream, ChatResponse)
        return await _last(stream)
    finally:
        await model.client.close()


async def _last(stream: AsyncIterator[ChatResponse]) -> list[Block]:
    blocks: list[Block] = []
    async with aclosing(stream) as chunks:  # type: ignore[type-var]
        async for chunk in chunks:
            blocks = list(chunk.content) if chunk.is_last else blocks
    return blocks


@pytest.mark.parametrize("name", [*ANSWERS, *CALLS])
async def test_an_answer_comes_through_the_real_client(raw_server: str, name: str) -> None:
    reading = ANSWERS[name][1] if name in ANSWERS else CALL
    blocks = await asked(raw_server, name)
    assert "".join(block.text for block in blocks if isinstance(block, TextBlock)) == reading.text
    assert "".join(block.thinking for block in blocks if isinstance(block, ThinkingBlock)) == reading.thought
    calls = [(block.name, json.loads(block.input)) for block in blocks if isinstance(block, ToolCallBlock)]
    assert tuple(calls) == reading.calls


@pytest.mark.parametrize("name", FAILURES)
async def test_an_error_comes_through_the_real_client(raw_server: str, name: str) -> None:
    with pytest.raises(ModelError) as caught:
        await asked(raw_server, name)
    assert FAILURES[name][1] in str(caught.value)
