"""What a turn costs is told where the server says what its model costs, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.assembly.assistant import open_assistant
from assistant.messages.events import ApprovalRequested, Spent, TurnFinished
from assistant.models.price import Price, read_price
from tests.fakes.home import home_settings, say
from tests.fakes.players import SequencePlayer
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import Reply, ReplyCall

CARD = {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003"}


@pytest.mark.parametrize(
    ("pricing", "price"),
    [
        (CARD, Price(3e-6, 3e-7, 1.5e-5)),
        ({"prompt": "0.000003", "completion": "0.000015"}, Price(3e-6, 3e-6, 1.5e-5)),
        ({"prompt": "0", "completion": 0}, Price(0.0, 0.0, 0.0)),
        ({"prompt": "-1", "completion": "-1"}, None),
        ({"prompt": "0.000003"}, None),
        ({"prompt": "three", "completion": True}, None),
        ({"prompt": "inf", "completion": "nan"}, None),
        ({"input": 0.18, "output": 0.18}, None),
        ("free", None),
        (None, None),
    ],
    ids=["cached", "not cached", "free", "it depends", "half", "words", "no amount", "another form", "a word", "none"],
)
def test_a_price_is_read_in_one_form_and_guessed_in_none(pricing: object, price: Price | None) -> None:
    assert read_price({"id": "strict-7b", "pricing": pricing}) == price


def test_what_was_read_from_a_cache_costs_less() -> None:
    assert Price(3e-6, 3e-7, 1.5e-5).of(Spent(1_000, 800, 100)) == pytest.approx(0.0006 + 0.00024 + 0.0015)


def test_more_from_a_cache_than_was_sent_costs_no_less_than_all_of_it() -> None:
    assert Price(3e-6, 3e-7, 1.5e-5).of(Spent(1_000, 5_000, 0)) == pytest.approx(0.0003)


@pytest.mark.parametrize(
    ("first", "second", "both"), [(0.25, 0.5, 0.75), (0.0, 0.5, 0.5), (0.25, None, None), (None, None, None)]
)
def test_two_models_in_one_turn_are_priced_each_by_its_own(
    first: float | None, second: float | None, both: float | None
) -> None:
    assert Spent(10, 1, 2, first) + Spent(20, 2, 3, second) == Spent(30, 3, 5, both)


@pytest.mark.parametrize("pricing", [CARD, None], ids=["a card with a price", "a card without one"])
async def test_a_turn_counts_all_its_requests_also_those_before_an_approval(
    home: Path, pricing: dict[str, str] | None
) -> None:
    player = SequencePlayer(
        Reply(text="I make it.", calls=(ReplyCall("Bash", {"command": "touch one.txt"}),)),
        Reply(text="It is there."),
        Reply(text="You are welcome."),
        Reply(text="It was nothing."),
    )
    with StrictProvider(player) as provider:
        row = {"id": "strict-7b", "max_model_len": 16_000, "pricing": pricing}
        provider.extra_answers["/v1/models"] = {"object": "list", "data": [row]}
        settings = home_settings(home, provider="openai", base_url=provider.base_url, tools="ask", recall="off")
        async with open_assistant(settings) as assistant:
            conversation = assistant.conversations.create()
            events = await say(assistant, conversation, "Make one.txt")
            (asked,) = [event for event in events if isinstance(event, ApprovalRequested)]
            start = conversation.next_number
            conversation.answer(asked.call_id, is_allowed=True)
            events += [numbered.event async for numbered in conversation.follow_until_idle(start)]
            for typed in ("Thank you", "/retry"):
                events += await say(assistant, conversation, typed)
    ends = [event for event in events if isinstance(event, TurnFinished)]
    assert [end.reason for end in ends] == ["awaiting_approval", "completed", "completed", "completed"]
    asked_tokens = [entry.tokens for entry in provider.log]
    assert [end.spent.input_tokens for end in ends] == [asked_tokens[0], sum(asked_tokens[:2]), *asked_tokens[2:]]
    assert [end.input_tokens for end in ends] == asked_tokens
    assert [end.spent.usd is None for end in ends] == [pricing is None] * 4
    if pricing:
        spent = ends[1].spent
        assert spent.usd == pytest.approx(spent.input_tokens * 3e-6 + spent.output_tokens * 1.5e-5)
