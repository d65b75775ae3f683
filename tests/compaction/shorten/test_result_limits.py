"""Tool results within their limits: what stays, what the notice says, and that following it leaves no gap."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.compaction.shorten.artifact_reference import reference_of
from assistant.compaction.shorten.result_limits import Artifact, cap_result, is_browser_tool, shorten_results
from assistant.compaction.shorten.text_cut import byte_length
from assistant.messages.blocks import (
    Base64Source,
    DataBlock,
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    result_text,
)
from assistant.messages.tokens import TokenCounter
from tests.compaction.conversations import COPAW, call, grown_history, place, reply, result, said, tool_steps, user

ID = "00000000-0000-0000-0000-000000000001"
LINES = "".join(f"line {n}\n" for n in range(1000))
PAGE = DataBlock(id="d1", source=Base64Source(data="aGk=", media_type="image/png"))


def texts(messages: list[Msg]) -> list[str]:
    """The text of every result, oldest first."""
    return [result_text(block) for m in messages for block in m.content if isinstance(block, ToolResultBlock)]


def test_a_result_within_the_limit_stays_the_very_same_block() -> None:
    block = result("c1", "short")
    assert cap_result(block, 100, place()).block is block


def test_a_long_result_keeps_head_and_tail_and_says_where_to_read_on() -> None:
    capped = cap_result(result("c1", LINES), 60, place("/home/me/tool_result"))
    assert capped.artifact == Artifact(ID, LINES)
    assert result_text(capped.block) == (
        "line 0\nline 1\nline 2\nline 3\nline 4\n"
        "[8838 of 8890 bytes are left out here. The full text (1000 lines) is kept in "
        f"/home/me/tool_result/{ID}.txt. To read on: "
        f'Read(file_path="/home/me/tool_result/{ID}.txt", offset=6).]\n'
        "line 998\nline 999\n"
    ).replace("8838", str(8890 - 35 - 18))
    assert capped.block.metadata["artifact_id"] == ID


def test_a_giant_of_one_line_gets_a_notice_with_the_exact_byte() -> None:
    text = "".join(f"{n:07d}" for n in range(40_000))
    capped = cap_result(result("c1", text), 3_000, place())
    shown = result_text(capped.block)
    assert capped.artifact == Artifact(ID, text)
    assert byte_length(shown) < 3_600
    next_byte = int(re.findall(r"tail -c \+(\d+)", shown)[0])
    assert next_byte == shown.index("\n[") + 1


def test_terminal_colours_do_not_count() -> None:
    block = result("c1", "\x1b[31mx\x1b[0m" * 100)
    capped = cap_result(block, 100, place())
    assert (result_text(capped.block), capped.artifact) == ("x" * 100, None)


def test_a_text_that_prints_our_own_notice_is_cut_like_any_other() -> None:
    shown = result_text(cap_result(result("c1", LINES), 60, place()).block)
    capped = cap_result(result("c2", shown * 500), 600, place())
    assert capped.artifact == Artifact(ID, shown * 500)
    assert byte_length(result_text(capped.block)) < 1_000


def test_a_second_cut_makes_no_second_file_and_stays_exact() -> None:
    once = cap_result(result("c1", LINES), 3_000, place())
    twice = cap_result(once.block, 60, place())
    assert twice.artifact is None
    assert result_text(twice.block) == result_text(cap_result(result("c1", LINES), 60, place()).block)


@pytest.mark.parametrize("limit", [60, 100, 100_000])
def test_a_second_cut_to_the_same_or_a_larger_limit_changes_nothing(limit: int) -> None:
    once = cap_result(result("c1", LINES), 60, place()).block
    assert cap_result(once, limit, place()).block is once


def test_reading_a_full_text_back_makes_no_new_file() -> None:
    numbered = "".join(f"{n:6d}\tline {n}\n" for n in range(41, 1041))
    reading = call("c2", "Read", f'{{"file_path": "/h/tool_result/{ID}.txt", "offset": 41}}')
    capped = cap_result(result("c2", numbered, "Read"), 300, place("/h/tool_result"), call=reading)
    assert capped.artifact is None
    shown = result_text(capped.block)
    last = int(shown.partition("\n[")[0].splitlines()[-1].split("\t")[0])
    assert f"offset={last + 1}, limit=200" in shown


def test_reading_on_by_byte_leaves_no_gap() -> None:
    reading = call("c2", "Bash", f'{{"command": "tail -c +1001 \'tool_result/{ID}.txt\' | head -c 20000"}}')
    capped = cap_result(result("c2", "z" * 20_000), 3_000, place(), call=reading)
    assert capped.artifact is None
    assert "tail -c +3001 " in result_text(capped.block)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text("ab汉\U0001f600 ", max_size=60), min_size=30, max_size=120).map("\n".join),
    st.integers(150, 500),
)
def test_following_the_notices_reads_the_whole_text(text: str, limit: int) -> None:
    if byte_length(text) <= limit:
        return
    capped = cap_result(result("c1", text), limit, place())
    assert capped.artifact is not None
    stored = capped.artifact.text
    read = _head_of(capped.block)
    while byte_length(read) < byte_length(stored):
        shown = result_text(capped.block)
        if by_line := re.findall(r"offset=(\d+)", shown):
            lines = stored.split("\n")[int(by_line[-1]) - 1 :]
            read = "\n".join([*stored.split("\n")[: int(by_line[-1]) - 1], ""]) if int(by_line[-1]) > 1 else ""
            read += "\n".join(lines)
            break
        start = int(re.findall(r"tail -c \+(\d+)", shown)[-1]) - 1
        encoded = stored.encode()
        assert encoded[:start].decode() == read
        more = encoded[start : start + 20_000].decode()
        step = call("c9", "Bash", f'{{"command": "tail -c +{start + 1} \'tool_result/{ID}.txt\'"}}')
        capped = cap_result(result("c9", more), limit, place(), call=step)
        read += _head_of(capped.block) if capped.block.metadata else more
    assert read == stored


def test_pictures_stay_beside_a_shortened_text() -> None:
    block = result("c1").model_copy(update={"output": [TextBlock(text=LINES), PAGE]})
    output = cap_result(block, 60, place()).block.output
    assert [part.type for part in output if not isinstance(part, str)] == ["text", "data"]


def test_the_newest_results_keep_more_than_older_ones() -> None:
    messages = [user("go"), reply(*tool_steps(8, "x" * 60_000))]
    short = shorten_results(messages, COPAW, 1_000_000, TokenCounter(), place())
    sizes = [byte_length(text) for text in texts(short.messages)]
    assert all(3_000 <= size < 3_400 for size in sizes[:5])
    assert all(50_000 <= size < 50_400 for size in sizes[5:])
    assert (short.shortened, len(short.artifacts)) == (8, 8)


def test_all_results_of_the_newest_step_count_as_recent() -> None:
    calls = [call(f"p{n}") for n in range(6)]
    messages = [user("go"), reply(*calls, *(result(f"p{n}", "x" * 20_000) for n in range(6)))]
    short = shorten_results(messages, COPAW, 1_000_000, TokenCounter(), place())
    assert short.messages is messages


def test_recent_results_share_what_is_left() -> None:
    calls = [call(f"p{n}") for n in range(5)]
    messages = [user("go"), reply(*calls, *(result(f"p{n}", "x y " * 250_000) for n in range(5)))]
    counter = TokenCounter()
    short = shorten_results(messages, COPAW, 50_000, counter, place())
    blocks = [block for block in short.messages[1].content if isinstance(block, ToolResultBlock)]
    together = sum(counter.block(block) for block in blocks)
    assert 15_000 < together <= 20_000
    again = shorten_results(short.messages, COPAW, 50_000, counter, place())
    assert again.messages is short.messages


def test_a_small_result_is_not_cut_because_its_sibling_is_large() -> None:
    messages = [user("go"), reply(call("p1"), call("p2"), result("p1", "y" * 4_000), result("p2", "x" * 49_000))]
    short = shorten_results(messages, COPAW, 12_000, TokenCounter(), place())
    assert byte_length(texts(short.messages)[0]) == 4_000
    assert byte_length(texts(short.messages)[1]) < 16_000


def test_with_nothing_left_all_results_are_cut_like_old_ones() -> None:
    messages = [user("go"), reply(*tool_steps(2, "x" * 60_000))]
    short = shorten_results(messages, COPAW, 0, TokenCounter(), place())
    assert all(byte_length(text) < 3_400 for text in texts(short.messages))


def test_a_page_of_a_browser_tool_becomes_a_reference_once_it_was_seen() -> None:
    page = result("b1", "<html>" + "x" * 20_000, "browser_open")
    first = [user("go"), reply(call("b1", "browser_open"), page)]
    assert shorten_results(first, COPAW, 100_000, TokenCounter(), place()).messages is first
    later = [user("go"), reply(call("b1", "browser_open"), page, *tool_steps(1))]
    short = shorten_results(later, COPAW, 100_000, TokenCounter(), place())
    assert texts(short.messages)[0] == (
        f"[Not shown here: 20006 bytes, 1 lines. The full text (1 lines) is kept in tool_result/{ID}.txt. It has very "
        f"long lines; to read on: Bash(command=\"tail -c +1 'tool_result/{ID}.txt' | head -c 20000\").]"
    )
    assert short.artifacts == (Artifact(ID, result_text(page)),)
    assert shorten_results(short.messages, COPAW, 100_000, TokenCounter(), place()).messages is short.messages


def test_a_screenshot_leaves_with_its_page() -> None:
    page = result("b1", name="browser_open").model_copy(update={"output": [TextBlock(text="shot"), PAGE]})
    messages = [user("go"), reply(call("b1", "browser_open"), page, *tool_steps(1))]
    short = shorten_results(messages, COPAW, 100_000, TokenCounter(), place())
    block = short.messages[1].content[1]
    assert isinstance(block, ToolResultBlock)
    assert isinstance(block.output, str)
    assert shorten_results(short.messages, COPAW, 100_000, TokenCounter(), place()).messages is short.messages


def test_a_short_answer_of_a_browser_tool_stays() -> None:
    messages = [
        user("go"),
        reply(call("b1", "browser_click"), result("b1", "clicked", "browser_click"), *tool_steps(1)),
    ]
    assert shorten_results(messages, COPAW, 100_000, TokenCounter(), place()).messages is messages


@pytest.mark.parametrize(
    ("name", "expected"),
    [("browser_open", True), ("mcp__playwright__click", True), ("mcp__my-browser__go", True), ("Bash", False)],
)
def test_browser_tools_are_told_by_name(name: str, expected: bool) -> None:
    assert is_browser_tool(name, COPAW) is expected


def test_every_result_can_be_limited_in_characters() -> None:
    early = replace(COPAW, tool_result_max_chars=10_000)
    messages = [user("go"), reply(*tool_steps(1, "字" * 15_000))]
    short = shorten_results(messages, early, 1_000_000, TokenCounter(), place())
    assert 10_000 <= len(texts(short.messages)[0]) < 10_400


def test_lone_surrogates_do_no_harm() -> None:
    messages = [user("go"), reply(*tool_steps(9, "\udc80\ud800 " * 5_000), said("done"))]
    short = shorten_results(messages, COPAW, 100_000, TokenCounter(), place())
    assert byte_length(texts(short.messages)[0]) < 3_400


def test_two_hundred_and_fifty_shell_results_stay_far_below_the_window() -> None:
    output = "\x1b[32m+ added\x1b[0m package\n" * 10_000
    messages = [user("go"), reply(*tool_steps(250, output))]
    counter = TokenCounter()
    short = shorten_results(messages, COPAW, 80_000, counter, place())
    assert counter.messages(short.messages) < 250 * 900 + 32_000
    assert "\x1b" not in "".join(texts(short.messages))


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32), st.integers(-100, 30_000))
def test_any_history_is_shortened_once_and_given_messages_stay_as_they_were(seed: int, left: int) -> None:
    messages = grown_history(seed, 60)
    before = [message.model_dump_json() for message in messages]
    counter = TokenCounter()
    short = shorten_results(messages, COPAW, left, counter, place())
    assert [message.model_dump_json() for message in messages] == before
    assert _shape(short.messages) == _shape(messages)
    again = shorten_results(short.messages, COPAW, left, counter, place())
    assert (again.messages is short.messages, again.artifacts, again.shortened) == (True, (), 0)


def _shape(messages: list[Msg]) -> list[tuple[str, str, str]]:
    return [(message.id, block.type, block.id) for message in messages for block in message.content]


def _head_of(block: ToolResultBlock) -> str:
    reference = reference_of(block)
    assert reference is not None
    return result_text(block).encode()[: reference.head_bytes].decode()


def test_no_call_is_touched() -> None:
    messages = [user("go"), reply(*tool_steps(9, "x" * 60_000))]
    short = shorten_results(messages, COPAW, 100_000, TokenCounter(), place())
    calls = [block for block in short.messages[1].content if isinstance(block, ToolCallBlock)]
    assert calls == [block for block in messages[1].content if isinstance(block, ToolCallBlock)]


def test_pictures_of_old_results_leave_the_context() -> None:
    shot = result("r1", name="Read").model_copy(update={"output": [PAGE]})
    messages = [user("go"), reply(call("r1", "Read"), shot, *tool_steps(3))]
    short = shorten_results(messages, COPAW, 100_000, TokenCounter(), place())
    assert (
        texts(short.messages)[0]
        == "[A picture was shown here. It left the context and stands in the journal, dialog/.]"
    )
    assert shorten_results(short.messages, COPAW, 100_000, TokenCounter(), place()).messages is short.messages


def test_a_large_file_read_keeps_an_extract_that_names_what_stands_in_it() -> None:
    source = "".join(
        f"{n:6d}\t{f'class Part{n}:' if n % 100 == 0 else '    value = compute(value)'}\n" for n in range(1, 2001)
    )
    read = call("r1", "Read", '{"file_path": "/srv/parts.py"}')
    once = cap_result(result("r1", source, "Read"), 50_000, place(), call=read)
    capped = cap_result(once.block, 3_000, place(), call=read)
    shown = result_text(capped.block)
    assert "   100\tclass Part100:\n" in shown
    assert "  1000\tclass Part1000:\n" in shown
    assert byte_length(shown) < 3_400
    assert cap_result(capped.block, 3_000, place()).block is capped.block
