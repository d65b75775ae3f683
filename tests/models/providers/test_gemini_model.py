"""What only Google's API has: signatures of calls, the prompt apart, models that cannot think."""

from __future__ import annotations

import json

import pytest

from assistant.errors import ModelError
from assistant.messages.blocks import AssistantMsg, Msg, SystemMsg, ToolCallBlock, ToolResultBlock
from assistant.models.providers.carried_notes import notes_of
from assistant.models.providers.gemini_model import GeminiModel
from tests.fakes.gemini_server import GeminiServer
from tests.fakes.wire import Reply, ReplyCall
from tests.models.providers.asking import QUESTION, SCHEMA, all_chunks, shown


def model_at(server: GeminiServer) -> GeminiModel:
    """The model of a server."""
    return GeminiModel(server.MODEL, server.address, server.key, server.window_tokens, 16_000)


def with_result(answer: list[object]) -> Msg:
    """A step as it is in the context: the answer, and a result for each of its calls."""
    blocks = list(answer)
    for call in answer:
        if isinstance(call, ToolCallBlock):
            blocks.append(ToolResultBlock(id=call.id, name=call.name, output="3", state="success"))  # type: ignore[arg-type]
    return AssistantMsg("palimpsest", blocks)  # type: ignore[arg-type]


async def test_the_signature_of_a_call_goes_back_to_the_model_it_came_from_alone() -> None:
    step = Reply(calls=(ReplyCall("add", {"first": 1, "second": 2}), ReplyCall("add", {"first": 2, "second": 2})))
    with GeminiServer(step, Reply(text="Fine."), Reply(text="Fine.")) as server:
        model, other = model_at(server), model_at(server)
        other._line.origin = "another model"
        answer = with_result(list((await all_chunks(model, [QUESTION], [SCHEMA]))[-1].content))
        for one in (model, other):
            await all_chunks(one, [QUESTION, answer], [SCHEMA])
            await one.close()

    assert server.malformed == []
    sent = [json.dumps(entry.body["contents"]) for entry in server.log[1:]]
    own = next(signature for signature in server.signed if not signature.startswith("c2tpcF"))
    assert [own.replace("+", "-").replace("/", "_") in text for text in sent] == [True, False]


async def test_the_prompt_goes_apart_and_what_is_said_by_nobody_not_at_all() -> None:
    with GeminiServer(Reply(text="Hello.")) as server:
        model = model_at(server)
        await all_chunks(model, [SystemMsg("system", "Be kind."), QUESTION])
        await model.close()

    body = server.log[0].body
    assert json.dumps(body["systemInstruction"]).count("Be kind.") == 1
    assert json.dumps(body["contents"]).count("Be kind.") == 0


async def test_a_model_that_cannot_think_is_asked_without() -> None:
    with GeminiServer(Reply(text="Hello."), thinks=False) as server:
        model = model_at(server)
        chunks = await all_chunks(model, [QUESTION])
        await model.close()

    assert shown(list(chunks[-1].content)) == [("text", "Hello.")]
    assert "thinkingConfig" not in json.dumps(server.log[-1].body)


async def test_an_answer_that_is_filtered_says_so() -> None:
    with GeminiServer(Reply(text="I ca", error_code="SAFETY")) as server:
        model = model_at(server)
        chunks = await all_chunks(model, [QUESTION])
        await model.close()

    assert any(notes_of(chunk).is_filtered for chunk in chunks)


async def test_a_call_that_google_could_not_read_is_told() -> None:
    with GeminiServer(Reply(text="I add.", error_code="MALFORMED_FUNCTION_CALL")) as server:
        model = model_at(server)
        with pytest.raises(ModelError, match="MALFORMED_FUNCTION_CALL"):
            await all_chunks(model, [QUESTION])
        await model.close()
