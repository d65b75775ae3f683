"""What only OpenAI's Responses have: thoughts that go back encrypted, models that do not think."""

from __future__ import annotations

import json

import pytest

from assistant.errors import ModelError
from assistant.models.providers.response_model import ResponseModel
from tests.fakes.responses_server import ResponsesServer
from tests.fakes.wire import Reply, ReplyCall
from tests.models.providers.asking import QUESTION, all_chunks, ask_it_and_another, shown


def model_at(server: ResponsesServer) -> ResponseModel:
    """The model of a server."""
    return ResponseModel(server.MODEL, server.address, server.key, server.window_tokens, 16_000)


async def test_a_thought_goes_back_encrypted_to_the_model_it_came_from_alone() -> None:
    step = Reply(thinking="A sum.", text="I add.", calls=(ReplyCall("add", {"first": 1, "second": 2}),))
    with ResponsesServer(step, Reply(text="Fine."), Reply(text="Fine.")) as server:
        await ask_it_and_another(model_at(server), model_at(server))

    assert server.malformed == []
    sent = [json.dumps(entry.body["input"]) for entry in server.log[1:]]
    assert ["encrypted rs_1" in text for text in sent] == [True, False]
    assert [entry.body["store"] for entry in server.log] == [False] * 3


async def test_a_model_that_does_not_think_is_asked_without() -> None:
    with ResponsesServer(Reply(text="Hello."), thinks=False) as server:
        model = model_at(server)
        chunks = await all_chunks(model, [QUESTION])
        await model.close()

    assert shown(list(chunks[-1].content)) == [("text", "Hello.")]
    assert "reasoning" not in server.log[-1].body


class Failing(ResponsesServer):
    """A server whose answers fail behind the first event."""

    def events(self, reply: Reply, body: dict[str, object]):
        """The start of an answer, and its failure."""
        yield next(iter(super().events(reply, body)))
        failed = {"id": "resp_1", "status": "failed", "error": {"code": "server_error", "message": "It went wrong."}}
        yield f"data: {json.dumps({'type': 'response.failed', 'response': failed})}\n\n".encode()


async def test_an_answer_that_fails_is_asked_again_and_told() -> None:
    with Failing(Reply(text="Lost."), Reply(text="Lost.")) as server:
        model = model_at(server)
        with pytest.raises(ModelError, match=r"problem of its own \(HTTP 500\)\. Try again: It went wrong\."):
            await all_chunks(model, [QUESTION])
        await model.close()

    assert len(server.log) == 2
