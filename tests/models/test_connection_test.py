"""The connection test: a reply and a tool call with their times, or the reason in plain words."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from assistant.config.settings import Settings
from assistant.models import connection_test
from assistant.models.chat_model import ChatModel, connect_model
from assistant.models.connection_test import ConnectionTest
from tests.fakes.players import RuleBasedPlayer, SequencePlayer
from tests.fakes.provider import Player, StrictProvider
from tests.fakes.wire import Reply, ReplyCall


async def run_test(player: Player, wait_seconds: float = 10.0) -> ConnectionTest:
    with StrictProvider(player) as provider:
        chat = await connect_model(Settings.model_validate({"home": Path("home"), "base_url": provider.base_url}))
        found = await connection_test.test_connection(chat, wait_seconds=wait_seconds)
        await chat.close()
    assert provider.malformed == []
    return found


async def test_a_model_that_answers_and_calls_tools_is_fine():
    found = await run_test(RuleBasedPlayer())

    assert (found.is_ok, found.called_tool, found.problem) == (True, True, None)
    assert found.reply
    assert found.reply_seconds > 0
    assert found.tool_seconds > 0


@pytest.mark.parametrize(
    ("second", "problem"),
    [
        (
            Reply(text="I cannot do that."),
            "strict-7b answers but calls no tools. "
            "It can chat; files, commands and memory need a model that calls tools.",
        ),
        (
            Reply(calls=(ReplyCall("connection_check", {"code": "made up"}),)),
            "strict-7b answers and calls tools, but not with what it was told. "
            "Expect mistakes with files and commands.",
        ),
        (
            Reply(status=400, text="no such thing today"),
            "strict-7b answers, but not when it is given a tool: {url} refused the request (HTTP 400): "
            "no such thing today",
        ),
    ],
    ids=["text", "wrong code", "refused"],
)
async def test_a_model_without_tool_calls_is_told_apart(second: Reply, problem: str):
    found = await run_test(SequencePlayer(Reply(text="ready"), second))

    assert (found.is_ok, found.reply, found.called_tool) == (False, "ready", False)
    assert found.problem is not None
    start, _, end = problem.partition("{url}")
    assert found.problem.startswith(start)
    assert found.problem.endswith(end)


async def test_a_server_that_takes_no_tools_is_asked_without_and_calls_none():
    refusal = Reply(status=400, text="tools are not supported")
    found = await run_test(SequencePlayer(Reply(text="ready"), refusal, Reply(text="I cannot.")))

    assert (found.is_ok, found.called_tool) == (False, False)
    assert found.problem is not None
    assert found.problem.startswith("strict-7b answers but calls no tools.")


async def test_a_model_that_says_nothing_is_named():
    found = await run_test(SequencePlayer(Reply(text="")))

    assert found.problem == "strict-7b answered with nothing."


async def test_a_model_that_is_too_slow_is_not_waited_for():
    gate = threading.Event()
    found = await run_test(SequencePlayer(Reply(text="never said at all to anybody", gate=gate)), wait_seconds=0.1)

    assert found.problem == "No answer within 0 seconds."


async def test_a_server_that_is_away_is_a_sentence():
    with StrictProvider(SequencePlayer()) as provider:
        chat: ChatModel = await connect_model(
            Settings.model_validate({"home": Path("home"), "base_url": provider.base_url})
        )
    found = await connection_test.test_connection(chat)
    await chat.close()

    assert found.problem is not None
    assert found.problem.startswith("Nothing answers at http://127.0.0.1:")


async def test_the_offline_assistant_is_not_tested():
    chat = await connect_model(Settings.model_validate({"home": Path("home"), "provider": "offline"}))
    found = await connection_test.test_connection(chat)

    assert found == ConnectionTest(
        problem="The built-in offline assistant is no language model: there is nothing to test."
    )
