"""Files and conversations as chunks."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from assistant.index.chunker import Chunk, JournalText, chunk_journal, chunk_markdown, estimate_tokens

NAME = "memory/2026-11-30.md"


def places(chunks: list[Chunk]) -> list[tuple[str, str, int, int, str]]:
    return [(chunk.key, chunk.heading, chunk.first_line, chunk.last_line, chunk.text) for chunk in chunks]


def test_a_section_is_a_chunk_with_its_heading_path_and_lines() -> None:
    text = "# Monday\n\nup early\n\n## Work\n### Index\n- chunks\n- words\n## Tea\ngreen\n"
    assert places(chunk_markdown(NAME, text)) == [
        (f"{NAME}#0", "Monday", 3, 3, "up early"),
        (f"{NAME}#1", "Monday > Work > Index", 7, 8, "- chunks\n- words"),
        (f"{NAME}#2", "Monday > Tea", 10, 10, "green"),
    ]


def test_a_heading_with_nothing_below_it_can_still_be_found() -> None:
    chunks = chunk_markdown(NAME, "# Monday\n## Buy milk\n\n## Call Ann\n")
    assert places(chunks) == [
        (f"{NAME}#0", "Monday > Buy milk", 2, 2, "## Buy milk"),
        (f"{NAME}#1", "Monday > Call Ann", 4, 4, "## Call Ann"),
    ]


def test_a_hash_inside_a_code_fence_is_no_heading() -> None:
    text = "# Script\n```sh\n# install\nmake\n```\nafter\n"
    assert [chunk.heading for chunk in chunk_markdown(NAME, text)] == ["Script"]


def test_long_sections_are_cut_at_lines_and_repeat_some() -> None:
    lines = [f"line {number} " + "x" * 30 for number in range(1, 31)]
    chunks = chunk_markdown(NAME, "\n".join(lines), max_tokens=100, overlap_tokens=20)
    assert [(chunk.first_line, chunk.last_line) for chunk in chunks] == [(1, 9), (9, 17), (17, 25), (25, 30)]
    assert chunks[1].text == "\n".join(lines[8:17])


def test_a_line_too_long_for_a_chunk_is_cut_after_sentences() -> None:
    sentence = "今天我们决定用 Python 来写这个项目。"
    chunks = chunk_markdown(NAME, sentence * 100)
    assert len(chunks) > 1
    assert all(chunk.text.endswith("。") and estimate_tokens(chunk.text) <= 400 for chunk in chunks)
    assert {(chunk.first_line, chunk.last_line) for chunk in chunks} == {(1, 1)}


def test_line_numbers_are_those_an_editor_shows() -> None:
    chunks = chunk_markdown(NAME, "# A\r\nfirst\x0bstill first\r\n# B\rsecond")
    assert [(chunk.heading, chunk.first_line) for chunk in chunks] == [("A", 2), ("B", 4)]


def test_a_lone_surrogate_becomes_a_replacement_character() -> None:
    assert chunk_markdown(NAME, "odd \ud800 text")[0].text == "odd \ufffd text"


def test_empty_and_blank_files_have_no_chunks() -> None:
    assert chunk_markdown(NAME, "") == chunk_markdown(NAME, "\n \n\t\n") == []


def test_a_renamed_file_means_the_same() -> None:
    before, after = chunk_markdown("memory/a.md", "# T\ntext")[0], chunk_markdown("memory/b.md", "# T\ntext")[0]
    assert (before.digest, before.meaning) == (after.digest, "T\ntext")


MARKDOWN = st.lists(
    st.one_of(
        st.sampled_from(["", "# One", "## Two", "### Three", "```", "plain text here", "中文的一行。", "- item"]),
        st.text(alphabet="ab 中。.\t", max_size=300),
    ),
    max_size=30,
).map("\n".join)


@given(MARKDOWN)
def test_no_word_is_lost_and_every_chunk_is_within_the_limit(text: str) -> None:
    chunks = chunk_markdown(NAME, text, max_tokens=40, overlap_tokens=8)
    found = "\n".join(f"{chunk.heading}\n{chunk.text}" for chunk in chunks)
    for word in re.findall(r"[a-z]{2,}(?=\s)", text):
        assert word[:20] in found
    assert text.count("中") <= found.count("中")
    # One token a line break that the estimate of single lines adds.
    assert all(estimate_tokens(chunk.text) <= 42 for chunk in chunks)
    assert len({chunk.key for chunk in chunks}) == len(chunks)


@given(MARKDOWN)
def test_lines_of_a_chunk_are_lines_of_the_file(text: str) -> None:
    lines = text.split("\n")
    for chunk in chunk_markdown(NAME, text):
        assert chunk.text.split("\n") == lines[chunk.first_line - 1 : chunk.last_line]


def said(number: int, role: str, text: str, session: str = "s1", kind: str = "text", name: str = "") -> JournalText:
    return JournalText(session, f"m{number}", role, kind, text, "2026-11-30T10:00:00+08:00", name, number)


def test_a_question_and_its_answer_stand_in_one_chunk() -> None:
    texts = [said(1, "user", "Which tea?"), said(2, "assistant", "Green tea.\nSencha.")]
    (chunk,) = chunk_journal("dialog/2026-11-30.jsonl", texts)
    assert (chunk.text, chunk.message_ids, chunk.key, chunk.day, chunk.wants_vector) == (
        "user: Which tea?\nassistant: Green tea.\nSencha.",
        ("m1", "m2", "m2"),
        "dialog/2026-11-30.jsonl#s1:0",
        "2026-11-30",
        True,
    )


def test_tool_results_are_found_by_words_only_and_those_of_memory_tools_not_at_all() -> None:
    texts = [
        said(1, "assistant", "ls output", kind="tool_result", name="Bash"),
        said(2, "assistant", "recalled", kind="tool_result", name="memory_search"),
        said(3, "assistant", "let me think", kind="thinking"),
        said(4, "assistant", "a hint", kind="hint"),
    ]
    chunks = chunk_journal("d.jsonl", texts)
    assert [(chunk.text, chunk.kind, chunk.wants_vector) for chunk in chunks] == [("ls output", "tool_result", False)]


def test_more_words_in_one_conversation_leave_the_chunks_of_others_alone() -> None:
    before = [said(1, "user", "about tea", "a"), said(2, "user", "about cars", "b")]
    after = [*before, said(3, "assistant", "tea it is", "a")]
    keys = {chunk.key: chunk.text for chunk in chunk_journal("d", after)}
    assert keys["d#b:0"] == {chunk.key: chunk.text for chunk in chunk_journal("d", before)}["d#b:0"]
    assert keys["d#a:0"] == "user: about tea\nassistant: tea it is"


def test_a_long_message_keeps_its_message_id_on_every_line() -> None:
    (first, *rest) = chunk_journal("d", [said(1, "user", "很长的一句话。" * 400)])
    assert rest
    assert all(set(chunk.message_ids) == {"m1"} for chunk in (first, *rest))
