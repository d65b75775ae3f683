"""The temporary agent answers once, in time, and can be stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from assistant.agent.summariser import make_ask, while_heard
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


async def test_a_model_that_falls_silent_is_an_error_of_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assistant.agent.summariser.SILENT_SECONDS", 0.01)
    model = ScriptedModel([[text("half"), asyncio.Event()]])
    with pytest.raises(ModelError, match="sent nothing for"):
        await make_ask(model)("You summarise.", "Tea, please.")


async def test_a_model_that_is_slow_is_waited_for_and_one_that_is_silent_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop, clock = asyncio.get_running_loop(), [0.0]
    monkeypatch.setattr(loop, "time", lambda: clock[0])

    async def pieces(*, last_seconds: float) -> AsyncIterator[str]:
        for seconds in [200.0] * 9 + [last_seconds]:
            clock[0] += seconds
            # The loop looks at its clock.
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            yield f"after {clock[0]:g}"

    assert await while_heard(300.0, pieces(last_seconds=299.0)) == "after 2099"
    clock[0] = 0.0
    with pytest.raises(ModelError, match="sent nothing for 300 s"):
        await while_heard(300.0, pieces(last_seconds=301.0))


async def test_whatever_a_models_client_raises_is_an_error_of_the_model() -> None:
    model = ScriptedModel([[KeyError("choices")]])
    with pytest.raises(ModelError, match="^The model failed: something unforeseen happened; the log has the details.$"):
        await make_ask(model)("You summarise.", "Tea, please.")


async def test_a_model_that_only_thinks_is_asked_three_times() -> None:
    model = ScriptedModel([[ThinkingBlock(thinking="Hm.")]] * 9)
    with pytest.raises(ModelError, match="thought 3 times"):
        await make_ask(model)("You summarise.", "Tea, please.")
    assert len(model.requests) == 3
