"""The temporary agent answers once, in time, and can be stopped."""

from __future__ import annotations

import asyncio

import pytest

from assistant.agent.summariser import make_ask, within
from assistant.errors import ModelError
from assistant.messages.blocks import ThinkingBlock
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import text


async def test_it_asks_with_its_own_prompt_and_nothing_else() -> None:
    model = ScriptedModel([[text("## Goal\n- tea")]])

    assert await make_ask(model)("You summarise.", "Tea, please.") == "## Goal\n- tea"
    assert [message.get_text_content() for message in model.requests[0].messages] == ["You summarise.", "Tea, please."]
    assert model.requests[0].tools == ()


@pytest.mark.parametrize("reply", [[asyncio.Event()], [text("half"), asyncio.Event()]], ids=["at once", "in a stream"])
async def test_a_stop_is_no_answer(reply: list[object]) -> None:
    model = ScriptedModel([reply])  # type: ignore[list-item]
    asking = asyncio.ensure_future(make_ask(model)("You summarise.", "Tea, please."))
    while not model.requests:
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    asking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_what_takes_too_long_is_an_error_of_the_model() -> None:
    model = ScriptedModel([[text("half"), asyncio.Event()]])
    with pytest.raises(ModelError, match="did not finish within"):
        await within(0.01, make_ask(model)("You summarise.", "Tea, please."))


async def test_whatever_a_models_client_raises_is_an_error_of_the_model() -> None:
    model = ScriptedModel([[KeyError("choices")]])
    with pytest.raises(ModelError, match="^The model failed: something unforeseen happened; the log has the details.$"):
        await make_ask(model)("You summarise.", "Tea, please.")


async def test_a_model_that_only_thinks_is_asked_three_times() -> None:
    model = ScriptedModel([[ThinkingBlock(thinking="Hm.")]] * 9)
    with pytest.raises(ModelError, match="thought 3 times"):
        await make_ask(model)("You summarise.", "Tea, please.")
    assert len(model.requests) == 3
