"""Each provider with a protocol of its own against its strict server: what is sent is valid, what arrives is whole."""

from __future__ import annotations

import asyncio
import json
import logging
import threading

import httpx
import pytest
from agentscope.agent import Agent
from agentscope.model import ChatResponse, FinishedReason
from agentscope.tool import Toolkit

from assistant.errors import ContextOverflowError, EndlessReplyError, ModelError, ModelUnreachableError
from assistant.messages.blocks import (
    AssistantMsg,
    Base64Source,
    DataBlock,
    SystemMsg,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    UserMsg,
    block_text,
)
from assistant.models.providers.carried_notes import notes_of
from tests.fakes.wire import Reply, ReplyCall
from tests.models.providers.asking import SCHEMA, add_tool, all_chunks, left_behind, shown, stopped_once_begun
from tests.models.providers.native_cases import CASES, NativeCase

PICTURE = DataBlock(
    source=Base64Source(
        type="base64",
        media_type="image/png",
        data="iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABXvMqOgAAAABJRU5ErkJggg==",
    )
)
STEP = Reply(
    thinking="Two sums are asked for.",
    text="I add 两个 sums.",
    calls=(ReplyCall("add", {"first": 1, "second": 2}), ReplyCall("add", {"first": 3, "second": 4})),
)
each_provider = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@each_provider
@pytest.mark.parametrize("split_bytes", [0, 1, 13], ids=["event by event", "byte by byte", "13 bytes at a time"])
async def test_a_turn_with_thinking_text_and_two_calls(case: NativeCase, split_bytes: int) -> None:
    with case.serve(STEP, STEP, Reply(text="Three and seven, twice."), split_bytes=split_bytes) as server:
        async with case.connect(server) as model:
            agent = Agent("palimpsest", "Add.", model, Toolkit(tools=[add_tool()]))
            reply = await agent.reply(UserMsg("user", "1+2 and 3+4, please, twice"))

    blocks = [block for block in agent.state.context[-1].content if block.type != "hint"]
    step = ["thinking", "text", "tool_call", "tool_call", "tool_result", "tool_result"]
    assert [block.type for block in blocks] == [*step * 2, "text"]
    assert [block_text(block) for block in blocks[:2]] == ["Two sums are asked for.", "I add 两个 sums."]
    calls = [block for block in blocks if isinstance(block, ToolCallBlock)]
    assert [json.loads(call.input) for call in calls] == [{"first": 1, "second": 2}, {"first": 3, "second": 4}] * 2
    assert len({call.id for call in calls}) == 4
    assert [block_text(block) for block in blocks if isinstance(block, ToolResultBlock)] == ["3", "7"] * 2
    assert block_text(reply.content[-1]) == "Three and seven, twice."
    assert server.malformed == []


@each_provider
async def test_a_picture_is_sent_and_a_call_without_arguments_is_read(case: NativeCase) -> None:
    with case.serve(Reply(calls=(ReplyCall("add", {}),))) as server:
        async with case.connect(server) as model:
            question = UserMsg("user", [TextBlock(text="What is on it?"), PICTURE])
            chunks = await all_chunks(model, [question], [SCHEMA])

    assert server.malformed == []
    # Google's library writes base64 in the letters of addresses.
    assert PICTURE.source.data in json.dumps(server.log[0].body).replace("-", "+").replace("_", "/")
    # A block without words keeps what has to go back with the call.
    assert [one for one in shown(list(chunks[-1].content)) if one[1]] == [("tool_call", "add({})")]


@each_provider
async def test_what_a_cut_turn_and_another_provider_left_behind_is_sent_in_a_form_that_is_accepted(
    case: NativeCase,
) -> None:
    messages = [*left_behind(), AssistantMsg("palimpsest", "I was about to")]
    with case.serve(Reply(text="I go on.")) as server:
        async with case.connect(server) as model:
            chunks = await all_chunks(model, messages, [SCHEMA])

    assert server.malformed == []
    assert "Go on from where you stopped." in json.dumps(server.log[0].body)
    assert "A thought of" not in json.dumps(server.log[0].body)
    assert "Stopped in a" not in json.dumps(server.log[0].body)
    assert shown(list(chunks[-1].content)) == [("text", "I go on.")]


@each_provider
async def test_a_history_with_calls_is_accepted_without_tools(case: NativeCase) -> None:
    messages = [
        UserMsg("user", "1+2?"),
        AssistantMsg(
            "palimpsest",
            [
                ToolCallBlock(id="sum", name="add", input='{"first": 1, "second": 2}'),
                ToolResultBlock(id="sum", name="add", output="three", state="success"),  # type: ignore[arg-type]
            ],
        ),
        UserMsg("user", "Sum up."),
    ]
    with case.serve(Reply(text="You added.")) as server:
        async with case.connect(server) as model:
            await all_chunks(model, messages)

    assert server.malformed == []
    assert "three" in json.dumps(server.log[0].body)


@each_provider
async def test_usage_is_what_the_provider_reports(case: NativeCase) -> None:
    with case.serve(Reply(text="Hello there.")) as server:
        async with case.connect(server) as model:
            chunks = await all_chunks(model, [SystemMsg("system", "Be kind."), UserMsg("user", "Hello " * 40)])

    usage = chunks[-1].usage
    assert usage is not None
    assert usage.input_tokens >= 60
    assert usage.output_tokens == 5


@each_provider
async def test_a_stop_in_the_middle_of_a_stream_keeps_what_came_and_ends_at_once(case: NativeCase) -> None:
    with case.serve(Reply(text="Begun and never ended.", gate=threading.Event(), chunk_chars=5)) as server:
        async with case.connect(server) as model:
            received = await stopped_once_begun(model, within_seconds=5)

    assert [block_text(block) for block in received[-1].content] == ["Begun"]
    assert received[-1].finished_reason == FinishedReason.INTERRUPTED


@pytest.mark.parametrize("case", [case for case in CASES if case.has_own_library], ids=lambda case: case.name)
async def test_a_server_that_falls_silent_is_told_after_the_wait_of_ours(case: NativeCase) -> None:
    with case.serve(Reply(text="Begun and never ended.", gate=threading.Event(), chunk_chars=5)) as server:
        async with case.connect(server) as model:
            model._line.timeout = httpx.Timeout(0.3)
            stream = await model([UserMsg("user", "Hello")])
            assert not isinstance(stream, ChatResponse)
            with pytest.raises(ModelUnreachableError, match="did not answer in time"):
                assert [chunk async for chunk in stream]


@each_provider
async def test_an_answer_cut_at_the_output_limit_says_so(case: NativeCase) -> None:
    with case.serve(Reply(text="A long answ", is_cut=True)) as server:
        async with case.connect(server) as model:
            chunks = await all_chunks(model, [UserMsg("user", "Hello")])

    assert [notes_of(chunk).cut_tokens for chunk in chunks if notes_of(chunk).cut_tokens is not None] == [4]


@each_provider
async def test_an_answer_without_end_is_ended(case: NativeCase) -> None:
    with case.serve(Reply(text="again and " * 2_000)) as server:
        async with case.connect(server, max_reply_tokens=500) as model:
            with pytest.raises(EndlessReplyError):
                await all_chunks(model, [UserMsg("user", "Hello")])


@each_provider
@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_server_in_trouble_is_asked_once_more(case: NativeCase, status: int) -> None:
    with case.serve(Reply(status=status, text="Not now"), Reply(text="Here I am.")) as server:
        async with case.connect(server) as model:
            chunks = await all_chunks(model, [UserMsg("user", "Hello")])

    assert shown(list(chunks[-1].content)) == [("text", "Here I am.")]


@each_provider
async def test_a_request_over_the_window_is_told_apart(case: NativeCase) -> None:
    with case.serve(window_tokens=50) as server:
        async with case.connect(server) as model:
            with pytest.raises(ContextOverflowError):
                await model([UserMsg("user", "word " * 400)])

    assert len(server.log) == 1


@pytest.mark.parametrize("case", [case for case in CASES if case.has_key], ids=lambda case: case.name)
async def test_a_wrong_key_is_refused_in_plain_words_before_and_within_a_turn(
    case: NativeCase, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = "another-key-0987654321"
    with case.serve() as server:
        async with case.connect(server, key=secret) as model:
            told = await model.why_unavailable()
            with pytest.raises(ModelError) as caught:
                await model([UserMsg("user", "Hello")])
        async with case.connect(server) as model:
            assert await model.why_unavailable() == ""

    assert told == str(caught.value)
    assert told == f"{server.address} refused the key. Check the key and that it belongs to this provider."
    assert secret not in caplog.text


@pytest.mark.parametrize("case", [case for case in CASES if case.has_key], ids=lambda case: case.name)
async def test_a_quota_that_is_used_up_is_not_asked_for_again(case: NativeCase) -> None:
    with case.serve(Reply(status=case.quota_status, text=case.quota_words, error_code=case.quota_code)) as server:
        async with case.connect(server) as model:
            with pytest.raises(ModelError, match="wants to be paid first"):
                await model([UserMsg("user", "Hello")])

    assert len(server.log) == 1


@each_provider
async def test_a_model_that_is_not_there_is_named(case: NativeCase) -> None:
    with case.serve() as server:
        model = case.model("no-such-model", server.address, server.key, 16_000, 1_000)
        with pytest.raises(ModelError, match="does not know the model, or the address is wrong"):
            await model([UserMsg("user", "Hello")])
        await model.close()


@each_provider
async def test_a_refused_port_is_one_sentence_before_and_within_a_turn(case: NativeCase) -> None:
    with case.serve() as server:
        pass
    async with case.connect(server) as model, asyncio.timeout(5):
        assert (await model.why_unavailable()).startswith(f"Nothing answers at {server.address}")
        with pytest.raises(ModelUnreachableError, match=r"^Nothing answers at http://127\.0\.0\.1:\d+"):
            await model([UserMsg("user", "Hello")])


@each_provider
async def test_a_connection_that_breaks_in_the_middle_says_so_after_what_came(case: NativeCase) -> None:
    received: list[str] = []
    with case.serve(Reply(text="A long answer that never ends.", breaks_after_chunks=5, chunk_chars=4)) as server:
        async with case.connect(server) as model:
            stream = await model([UserMsg("user", "Hello")])
            assert not isinstance(stream, ChatResponse)
            with pytest.raises(ModelError, match="broke off"):
                async for chunk in stream:
                    received += [block_text(block) for block in chunk.content]

    assert "".join(received).startswith("A lo")


@each_provider
async def test_what_the_mask_hides_is_not_sent(case: NativeCase) -> None:
    with case.serve(Reply(text="Fine.")) as server:
        async with case.connect(server) as model:
            model.hide(lambda content: content.replace(b"my-secret", b"(masked)"))
            await all_chunks(model, [UserMsg("user", "It is my-secret.")])

    assert "my-secret" not in json.dumps(server.log[0].body)
    assert "It is (masked)." in json.dumps(server.log[0].body)
