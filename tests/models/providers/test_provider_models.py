"""AgentScope's real classes against the strict provider: what is sent is valid, what arrives is whole."""

from __future__ import annotations

import asyncio
import functools
import json
import logging
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from agentscope.agent import Agent
from agentscope.model import ChatResponse, DashScopeChatModel, FinishedReason, OpenAIChatModel
from agentscope.tool import Toolkit

from assistant.errors import ContextOverflowError, ModelError, ModelUnreachableError
from assistant.messages.blocks import (
    AssistantMsg,
    SystemMsg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    UserMsg,
    block_text,
)
from assistant.models.providers.provider_models import DashScopeModel, OpenAICompatibleModel
from tests.fakes.players import SequencePlayer
from tests.fakes.provider import StrictProvider
from tests.fakes.strictness import Dialect
from tests.fakes.wire import Reply, ReplyCall
from tests.models.providers.asking import SCHEMA, add_tool, all_chunks, left_behind, shown, stopped_once_begun

RealModel = OpenAICompatibleModel | DashScopeModel
MakeModel = Callable[[StrictProvider], RealModel]
KEY = "sk-very-secret-key"


def openai_model(provider: StrictProvider, key: str = KEY) -> OpenAICompatibleModel:
    return OpenAICompatibleModel("strict-7b", provider.base_url, key, 16_000, 1_000)


def dashscope_model(provider: StrictProvider) -> DashScopeModel:
    return DashScopeModel("strict-7b", provider.dashscope_url, KEY, 16_000, 1_000)


both_classes = pytest.mark.parametrize("make_model", [openai_model, dashscope_model])


@asynccontextmanager
async def closing(model: RealModel) -> AsyncIterator[RealModel]:
    try:
        yield model
    finally:
        await model.client.close()


@both_classes
@pytest.mark.parametrize("call_ids", ["repeat", "same"])
async def test_a_streamed_turn_with_thinking_text_and_two_calls(make_model: MakeModel, call_ids: str):
    step = Reply(
        thinking="Two sums are asked for.",
        text="I add.",
        calls=(ReplyCall("add", {"first": 1, "second": 2}), ReplyCall("add", {"first": 3, "second": 4})),
    )
    player = SequencePlayer(step, step, Reply(text="Three and seven, twice."))
    with StrictProvider(player, call_ids=call_ids, chunk_chars=5) as provider:  # type: ignore[arg-type]
        async with closing(make_model(provider)) as model:
            agent = Agent("palimpsest", "Add.", model, Toolkit(tools=[add_tool()]))
            reply = await agent.reply(UserMsg("user", "1+2 and 3+4, please, twice"))

    blocks = agent.state.context[-1].content
    assert [block.type for block in blocks if block.type != "hint"] == [
        *["thinking", "text", "tool_call", "tool_call", "tool_result", "tool_result"] * 2,
        "text",
    ]
    calls = [block for block in blocks if isinstance(block, ToolCallBlock)]
    assert [json.loads(call.input) for call in calls] == [{"first": 1, "second": 2}, {"first": 3, "second": 4}] * 2
    assert len({call.id for call in calls}) == 4
    assert [block_text(block) for block in blocks if isinstance(block, ToolResultBlock)] == ["3", "7"] * 2
    assert block_text(reply.content[-1]) == "Three and seven, twice."
    assert provider.malformed == []


@both_classes
async def test_usage_is_what_the_provider_reports(make_model: MakeModel):
    with StrictProvider(SequencePlayer(Reply(text="Hello.")), usage_factor=1.5) as provider:
        async with closing(make_model(provider)) as model:
            chunks = await all_chunks(model, [UserMsg("user", "Hello there, how are you today?")])

    assert chunks[-1].usage is not None
    assert chunks[-1].usage.input_tokens == provider.log[0].tokens


@both_classes
async def test_what_goes_over_the_wire_is_what_agentscopes_own_class_sends(make_model: MakeModel):
    messages = [
        SystemMsg("system", "You help."),
        UserMsg("user", "1+2?"),
        UserMsg("user", "多么好 😀?"),
        AssistantMsg(
            "palimpsest",
            [
                ThinkingBlock(thinking="A sum."),
                TextBlock(text="I add."),
                ToolCallBlock(id="sum", name="add", input='{"first": 1, "second": 2}'),
                ToolResultBlock(id="sum", name="add", output="3", state="success"),  # type: ignore[arg-type]
            ],
        ),
        UserMsg("user", "Thanks."),
    ]
    with StrictProvider(SequencePlayer(Reply(text="Three."), Reply(text="Three."))) as provider:
        async with closing(make_model(provider)) as model:
            theirs = DashScopeChatModel if isinstance(model, DashScopeModel) else OpenAIChatModel
            extra = {"extra_body": {"top_k": 3}, "temperature": 0.5}
            for ask in (functools.partial(theirs._call_api, model), model._call_api):
                stream = await ask("strict-7b", messages, [SCHEMA], None, **extra)  # type: ignore[arg-type]
                assert not isinstance(stream, ChatResponse)
                assert [block_text(block) async for chunk in stream for block in chunk.content][-1] == "Three."

    # As text, so that the order is compared too.
    theirs_sent, ours_sent = (json.dumps(entry.body, ensure_ascii=False) for entry in provider.log)
    assert ours_sent == theirs_sent
    assert "多么好" in ours_sent


@both_classes
async def test_what_a_cut_turn_left_behind_is_sent_in_a_form_that_is_accepted(make_model: MakeModel):
    with StrictProvider(SequencePlayer(Reply(text="I go on."))) as provider:
        async with closing(make_model(provider)) as model:
            await all_chunks(model, left_behind())

    assert provider.malformed == []
    sent = provider.log[0].body["messages"]
    assert isinstance(sent, list)
    assert [(row["role"], row["content"]) for row in sent] == [
        ("system", "You help."),
        ("user", "Look."),
        ("assistant", None),
        ("tool", "[interrupted]"),
        ("assistant", None),
        ("tool", "(no output)"),
        ("user", "Go on."),
    ]
    assert sent[2]["tool_calls"][0]["function"]["arguments"] == "{}"


@both_classes
@pytest.mark.parametrize(
    ("said", "request_to_go_on"),
    [("I was just about to", "Go on from where you stopped."), ("我正要说", "请从停下的地方继续。")],
)
async def test_an_answer_that_was_stopped_can_be_gone_on_with(make_model: MakeModel, said: str, request_to_go_on: str):
    with StrictProvider(SequencePlayer(Reply(text="… say hello."))) as provider:
        async with closing(make_model(provider)) as model:
            await all_chunks(model, [UserMsg("user", "Hello"), AssistantMsg("palimpsest", said)])

    sent = provider.log[0].body["messages"]
    assert isinstance(sent, list)
    assert sent[-1] == {"role": "user", "content": request_to_go_on}


async def test_a_template_that_wants_roles_to_alternate_gets_them_from_then_on():
    messages = [UserMsg("user", "A summary."), UserMsg("user", "A question?")]
    with StrictProvider(
        SequencePlayer(Reply(text="An answer."), Reply(text="Another.")), wants_alternating_roles=True
    ) as provider:
        async with closing(openai_model(provider)) as model:
            chunks = await all_chunks(model, messages)
            await all_chunks(model, messages)

    assert block_text(chunks[-1].content[0]) == "An answer."
    assert [entry.refusal is None for entry in provider.log] == [False, True, True]
    assert provider.log[-1].body["messages"] == [{"role": "user", "content": "A summary.\n\nA question?"}]


@both_classes
async def test_a_server_in_trouble_is_asked_once_more(make_model: MakeModel):
    replies = (Reply(status=503, text="Loading model"), Reply(text="Here I am."))
    with StrictProvider(SequencePlayer(*replies)) as provider:
        async with closing(make_model(provider)) as model:
            chunks = await all_chunks(model, [UserMsg("user", "Hello")])

    assert block_text(chunks[-1].content[0]) == "Here I am."


@both_classes
@pytest.mark.parametrize("dialect", ["openai", "dashscope", "llama.cpp", "vllm", "ollama", "lmstudio"])
async def test_a_request_over_the_window_is_told_apart_in_every_dialect(make_model: MakeModel, dialect: Dialect):
    with StrictProvider(SequencePlayer(), window_tokens=50, dialect=dialect) as provider:
        async with closing(make_model(provider)) as model:
            with pytest.raises(ContextOverflowError):
                await model([UserMsg("user", "word " * 100)])


@both_classes
async def test_a_refused_port_is_one_sentence_within_the_time_of_one_try(make_model: MakeModel):
    with StrictProvider(SequencePlayer()) as provider:
        model = make_model(provider)
    async with closing(model), asyncio.timeout(3):
        with pytest.raises(ModelUnreachableError, match=r"^Nothing answers at http://127\.0\.0\.1:\d+/"):
            await model([UserMsg("user", "Hello")])


async def test_a_connection_that_breaks_in_the_middle_says_so_after_what_came():
    reply = Reply(text="A long answer that never ends.", breaks_after_chunks=3)
    received: list[str] = []
    with StrictProvider(SequencePlayer(reply), chunk_chars=4) as provider:
        async with closing(openai_model(provider)) as model:
            stream = await model([UserMsg("user", "Hello")])
            assert not isinstance(stream, ChatResponse)
            with pytest.raises(ModelError, match="broke off"):
                async for chunk in stream:
                    received += [block_text(block) for block in chunk.content]

    assert "".join(received) == "A long a"


async def test_a_key_the_provider_quotes_never_reaches_the_error_or_the_log(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    with StrictProvider(SequencePlayer(), api_key="another") as provider:
        async with closing(openai_model(provider)) as model:
            with pytest.raises(ModelError) as caught:
                await model([UserMsg("user", "Hello")])

    assert str(caught.value).endswith("refused the key. Check the key and that it belongs to this provider.")
    assert caught.value.__suppress_context__
    assert KEY not in caplog.text


async def test_a_stop_in_the_middle_of_a_stream_keeps_what_came_and_ends_at_once():
    reply = Reply(text="Begun and never ended.", gate=threading.Event())
    with StrictProvider(SequencePlayer(reply), chunk_chars=5) as provider:
        async with closing(openai_model(provider)) as model:
            received = await stopped_once_begun(model, within_seconds=1)

    assert [block_text(block) for block in received[-1].content] == ["Begun"]
    assert received[-1].finished_reason == FinishedReason.INTERRUPTED


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"name": "add", "arguments": {"first": 1, "second": 2}}', id="plain"),
        pytest.param('```json\n{"name": "add", "arguments": {"first": 1, "second": 2}}\n```', id="fence"),
        pytest.param('<tool_call>\n{"name": "add", "arguments": {"first": 1, "second": 2}}\n</tool_call>', id="tag"),
    ],
)
async def test_a_call_that_a_local_server_sent_as_text_is_a_call(text: str):
    with StrictProvider(SequencePlayer(Reply(text=text)), chunk_chars=3) as provider:
        async with closing(openai_model(provider)) as model:
            chunks = await all_chunks(model, [UserMsg("user", "1+2?")], [SCHEMA])

    assert shown(list(chunks[-1].content)) == [("tool_call", 'add({"first": 1, "second": 2})')]
    assert [block.type for chunk in chunks[:-1] for block in chunk.content] == ["tool_call"]
