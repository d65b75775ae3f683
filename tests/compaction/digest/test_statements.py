"""What the person stated, weighed by shape."""

from __future__ import annotations

import pytest

from assistant.compaction.digest.statements import STATEMENT_BYTES, statement_of, statements_of
from tests.compaction.conversations import reply, said, user


@pytest.mark.parametrize(
    ("light", "heavy"),
    [
        ("It was a grey morning.", "My morning train leaves at 7:40."),
        ("What time is it?", "It was a grey morning."),
        ("The tram was late.", "I never take the tram."),
        ("The dog was asleep.", "The dog of Marta was asleep."),
        ("今天天气不错。", "我的钥匙放在抽屉里。"),
        ("我的钥匙放在哪里？", "今天天气不错。"),
        ("我到家了。", "我决定每周五不开会。"),
    ],
)
def test_a_sentence_that_names_binds_or_is_about_the_person_weighs_more(light: str, heavy: str) -> None:
    lighter, heavier = statement_of(light, ""), statement_of(heavy, "")
    assert lighter is not None
    assert heavier is not None
    assert lighter.weight < heavier.weight


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Never call before nine.", "rule"),
        ("We decided on the blue one.", "decision"),
        ("The key hangs behind the door.", "fact"),
        ("以后不要用表格。", "rule"),
        ("我们决定改用蓝色。", "decision"),
        ("钥匙挂在门后。", "fact"),
    ],
)
def test_a_sentence_is_a_rule_a_decision_or_a_fact(text: str, kind: str) -> None:
    statement = statement_of(text, "")
    assert statement is not None
    assert statement.kind == kind


def test_each_sentence_of_the_person_stands_once_where_it_was_said_last() -> None:
    messages = [
        user("The key hangs behind the door. Thanks! OK."),
        reply(said("The key hangs in the hall.")),
        user("My cat is called Ada.", "u2"),
        user("the key hangs behind the door", "u3"),
    ]
    assert [statement.text for statement in statements_of(messages)] == [
        "My cat is called Ada.",
        "the key hangs behind the door",
    ]


def test_code_is_left_out_and_pasted_text_weighs_less_than_what_was_typed() -> None:
    pasted = "\n".join(f"My record {number} was written." for number in range(10, 60))
    found = statements_of([user(f"```\nmy_code = 1\n```\nMy list follows.\n{pasted}")])
    assert "my_code = 1" not in [statement.text for statement in found]
    assert found[0].text == "My list follows."
    assert found[20].weight < found[1].weight


def test_a_message_of_megabytes_costs_little_and_a_long_sentence_is_shortened() -> None:
    found = statements_of([user("word " * 400_000), user("«" * 500_000, "u2")])
    assert all(len(statement.text.encode()) <= STATEMENT_BYTES + 10 for statement in found)
