"""Counting: exact where a vocabulary is offline, corrected by the provider's usage, and cheap for what was counted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.messages.blocks import (
    AssistantMsg,
    Base64Source,
    DataBlock,
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    UserMsg,
    copy_with_blocks,
)
from assistant.messages.tokens import IMAGE_TOKENS, TokenCounter, qwen_encoding, vocabulary_for

PICTURE = DataBlock(id="d1", source=Base64Source(data="aGk=" * 10_000, media_type="image/png"))


def uncached(messages: list[Msg]) -> int:
    """What a counter that has seen nothing counts."""
    return TokenCounter("bytes").messages(messages)


def step(number: int, output: str = "done") -> list[ToolCallBlock | ToolResultBlock]:
    """One call and its result."""
    name = f"c{number}"
    return [ToolCallBlock(id=name, name="Bash", input="{}"), ToolResultBlock(id=name, name="Bash", output=output)]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("", 0, id="nothing"),
        pytest.param("Hello, world!", 4, id="english"),
        pytest.param("你好，世界", 3, id="chinese"),
        pytest.param("1234567890", 10, id="digits one by one"),
        pytest.param("e\u0301", 1, id="composed first"),
    ],
)
def test_qwen_counts_exactly(text: str, tokens: int) -> None:
    assert TokenCounter("qwen").text(text) == tokens


def test_qwen_counts_what_its_vocabulary_encodes() -> None:
    encoding = qwen_encoding()
    assert encoding is not None
    text = "The quick brown fox 跳过了 the lazy dog; <|endoftext|> is text here.\n\n    return {'a': 1}\n"
    assert TokenCounter("qwen").text(text) == len(encoding.encode_ordinary(text))


def test_a_megabyte_without_a_space_is_counted_in_little_time() -> None:
    assert 100_000 < TokenCounter("qwen").text("ab1" * 100_000) < 400_000


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("abc", 1), ("abcde", 2), ("汉字", 2), ("\udc80", 1)])
def test_other_models_are_counted_by_bytes(text: str, tokens: int) -> None:
    assert TokenCounter("bytes").text(text) == tokens


@pytest.mark.parametrize(
    ("model", "vocabulary"),
    [
        ("qwen3-max", "qwen"),
        ("Qwen/Qwen2.5-7B-Instruct", "qwen"),
        ("qwq-32b", "qwen"),
        ("gpt-5", "bytes"),
        ("", "bytes"),
    ],
)
def test_the_vocabulary_goes_by_the_models_name(model: str, vocabulary: str) -> None:
    assert vocabulary_for(model) == vocabulary


def test_tool_schemas_count() -> None:
    assert TokenCounter().schemas([{"type": "function", "function": {"name": "Bash"}}]) == 13
    assert TokenCounter().schemas([]) == 0


def test_a_picture_costs_the_same_alone_and_in_a_result() -> None:
    shown = ToolResultBlock(id="c1", name="Read", output=[TextBlock(text="abcd"), PICTURE])
    assert TokenCounter().block(PICTURE) == IMAGE_TOKENS
    assert TokenCounter().block(shown) == IMAGE_TOKENS + 1


def test_the_providers_own_count_corrects_the_estimate() -> None:
    counter = TokenCounter()
    for _ in range(8):
        counter.calibrate(counter.text("x" * 40_000), 18_000)
    assert 17_900 <= counter.text("x" * 40_000) <= 18_000


def test_one_odd_report_moves_the_factor_by_half_only() -> None:
    counter = TokenCounter()
    counter.calibrate(10_000, 18_000)
    assert counter.factor == 1.4


@pytest.mark.parametrize(("counted", "reported"), [(0, 500), (500, 0), (-1, 500)])
def test_a_provider_without_usage_changes_nothing(counted: int, reported: int) -> None:
    counter = TokenCounter()
    counter.calibrate(counted, reported)
    assert counter.factor == 1.0


def test_the_factor_stays_within_reason() -> None:
    counter = TokenCounter()
    for _ in range(20):
        counter.calibrate(1, 1_000_000)
    assert counter.factor == 4.0


def test_calibration_reaches_blocks_that_were_counted_before() -> None:
    messages = [UserMsg("user", "x" * 4_000)]
    counter = TokenCounter()
    before = counter.messages(messages)
    counter.factor = 2.0
    assert counter.messages(messages) == 2 * before


def test_a_block_that_was_replaced_is_counted_anew() -> None:
    long = [UserMsg("user", "go"), AssistantMsg("assistant", [*step(1, "x" * 8_000), TextBlock(text="done")])]
    counter = TokenCounter()
    counter.messages(long)
    short = [long[0], copy_with_blocks(long[1], [*step(1, "x"), long[1].content[-1]])]
    assert counter.messages(short) == uncached(short)


def test_another_list_with_the_same_newest_messages_is_counted_anew() -> None:
    newest = [UserMsg("user", "go"), AssistantMsg("assistant", step(1)), UserMsg("user", "on")]
    counter = TokenCounter()
    counter.messages([UserMsg("user", "x" * 4_000), *newest])
    folded = [UserMsg("user", "x"), *newest]
    assert counter.messages(folded) == uncached(folded)


def test_a_result_that_grows_while_its_tool_runs_is_counted_anew() -> None:
    running = AssistantMsg("assistant", step(1, "a"))
    messages = [UserMsg("user", "go"), running]
    counter = TokenCounter()
    counter.messages(messages)
    result = running.content[-1]
    assert isinstance(result, ToolResultBlock)
    result.output = "a" * 4_000
    assert counter.messages(messages) == uncached(messages)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(["turn", "step", "steps", "count", "other", "cut", "pop"]), max_size=40))
def test_the_running_total_is_that_of_a_fresh_count_whatever_happens_to_the_list(events: list[str]) -> None:
    counter = TokenCounter("bytes")
    messages: list[Msg] = [UserMsg("user", "begin")]
    for number, event in enumerate(events):
        match event:
            case "turn":
                messages += [UserMsg("user", f"question {number}"), AssistantMsg("assistant", [])]
            case "step" | "steps" if messages[-1].role == "assistant":
                for more in range(1 if event == "step" else 50):
                    messages[-1].content.extend(step(number * 100 + more, "out " * number))
            case "other":
                counter.messages([UserMsg("user", "another conversation"), *messages])
            case "cut":
                messages = messages[len(messages) // 2 :]
            case "pop" if len(messages) > 1:
                messages.pop()
            case _:
                pass
        assert counter.messages(messages) == uncached(messages)


def test_a_long_text_that_comes_again_is_not_counted_again() -> None:
    counter = TokenCounter("qwen")
    texts = [f"{number} " * 4_000 for number in range(30)]
    first = [counter.text(text) for text in texts]
    assert [counter.text(text) for text in texts] == first
