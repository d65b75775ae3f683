"""One summary: six bullets, two lines each, merged and never stacked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.openclaw.session_summary import (
    BULLET_CHARS,
    MAX_BULLETS,
    TAGS,
    Bullet,
    SummaryBullets,
    merge_summaries,
    read_summary,
    write_summary,
)

DIARY = "memory/2026-04-21.md"
TEXT = """[SESSION SUMMARY]
• [State] The parser is done
• [Warning] The staging server is slow
• [Decision] SQLite it is → memory/2026-04-20.md##Decision: SQLite
• [Fact] The person lives in Graz
(+3 earlier → memory/2026-04-20.md)"""
SUMMARY = SummaryBullets(
    (
        Bullet("State", "The parser is done"),
        Bullet("Warning", "The staging server is slow"),
        Bullet("Decision", "SQLite it is", "memory/2026-04-20.md##Decision: SQLite"),
        Bullet("Fact", "The person lives in Graz"),
    ),
    3,
    "memory/2026-04-20.md",
)


def test_a_summary_is_read_as_it_is_written() -> None:
    assert read_summary(TEXT) == SUMMARY
    assert write_summary(SUMMARY) == TEXT


bullets = st.builds(
    Bullet,
    st.sampled_from(TAGS),
    st.text("abc 中文。-", min_size=1, max_size=300).map(lambda text: " ".join(text.split()) or "x"),
    st.sampled_from(["", "memory/2026-04-21.md##Decision: a"]),
)


@given(st.lists(bullets, max_size=6))
def test_no_bullet_takes_more_than_two_lines(found: list[Bullet]) -> None:
    written = write_summary(SummaryBullets(tuple(found)))
    assert len(written.splitlines()) == 1 + len(found)
    assert all(len(line) <= BULLET_CHARS + len("• [Technical] ") for line in written.splitlines())
    assert len(read_summary(written).bullets) == len(found)


@given(st.lists(bullets, max_size=9), st.lists(bullets, max_size=9))
def test_merging_keeps_or_accounts_for_every_bullet(old: list[Bullet], new: list[Bullet]) -> None:
    merged = merge_summaries(SummaryBullets(tuple(old)), new, [], DIARY)
    placed = {*merged.summary.bullets, *merged.overflow, *merged.solved, *merged.replaced}
    assert len(merged.summary.bullets) <= MAX_BULLETS
    assert sum(bullet.tag == "State" for bullet in merged.summary.bullets) <= 1
    texts = {(bullet.tag, bullet.text[:100].rstrip("….。").lower()) for bullet in placed}
    assert {(b.tag, b.text[:100].rstrip("….。").lower()) for b in (*old, *new)} <= texts
    assert merged.summary.overflow_count == len(merged.overflow)


def test_a_new_state_takes_the_place_of_the_old() -> None:
    merged = merge_summaries(SUMMARY, [Bullet("State", "The writer is done")], [], DIARY)
    assert [b.text for b in merged.summary.bullets if b.tag == "State"] == ["The writer is done"]
    assert merged.replaced == (Bullet("State", "The parser is done"),)


def test_several_bullets_of_one_kind_stay() -> None:
    new = [Bullet("Decision", "Rust it is"), Bullet("Decision", "A page a day")]
    merged = merge_summaries(SUMMARY, new, [], DIARY)
    assert [b.text for b in merged.summary.bullets if b.tag == "Decision"] == [
        "Rust it is",
        "A page a day",
        "SQLite it is",
    ]


@pytest.mark.parametrize(
    ("warning", "said", "is_settled"),
    [
        ("The staging server is slow", "The slow staging server was fixed this morning.", True),
        ("The staging server is slow", "I fixed the page.", False),
        ("The staging server is slow", "The staging server is slow today too.", False),
        ("缓存服务器会丢数据", "缓存服务器的问题已经解决了。", True),
        ("缓存服务器会丢数据", "页面问题已经解决了。", False),
    ],
    ids=["settled", "other-matter", "no-word-of-settling", "settled-zh", "other-matter-zh"],
)
def test_a_warning_goes_only_on_a_word_of_settling_about_its_own_matter(
    warning: str, said: str, is_settled: bool
) -> None:
    merged = merge_summaries(SummaryBullets((Bullet("Warning", warning),)), [], [said], DIARY)
    assert (merged.solved == (Bullet("Warning", warning),)) is is_settled


def test_the_six_places_go_by_tag_then_by_age_and_the_rest_is_counted() -> None:
    new = [Bullet("Technical", "t1"), Bullet("Fact", "f1"), Bullet("Decision", "d1"), Bullet("Warning", "w1")]
    old = SummaryBullets(
        (Bullet("State", "s0"), Bullet("Decision", "d0"), Bullet("Technical", "t0"), Bullet("Fact", "f0")),
        2,
        "memory/old.md",
    )
    merged = merge_summaries(old, new, [], DIARY)
    assert [bullet.text for bullet in merged.summary.bullets] == ["s0", "w1", "d1", "d0", "t1", "t0"]
    assert [bullet.text for bullet in merged.overflow] == ["f1", "f0"]
    assert write_summary(merged.summary).splitlines()[-1] == f"(+4 earlier → {DIARY})"


def test_the_summary_of_another_program_is_read_by_its_headings() -> None:
    text = "## Goal\n- Build the page\n## Key Decisions\n1. Use SQLite\n### Blocked\n- No key yet\n## Files\n- a.py"
    assert read_summary(text).bullets == (
        Bullet("State", "Build the page"),
        Bullet("Decision", "Use SQLite"),
        Bullet("Warning", "No key yet"),
        Bullet("Technical", "a.py"),
    )
