"""The diary, SOUL.md and MEMORY.md of a workspace: what is written, what is left alone, and what the checks find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import DiaryError
from assistant.openclaw.compression_options import Options
from assistant.openclaw.diary import (
    CompressionLog,
    add_event,
    add_index_line,
    add_preferences,
    extract,
    log_compression,
    render_log,
    update_index,
    validate,
)
from assistant.openclaw.file_compression import extract_from_file
from assistant.openclaw.findings import SessionFinding
from tests.openclaw.sessions import NOW, Session

DECISION = SessionFinding(11, "Decision", "Use SQLite", "We decided to use SQLite.", "user", "Shall I use SQLite?")
TECHNICAL = SessionFinding(20, "Technical", "Lock file", "问题出在锁文件。", "assistant")
WORK = SessionFinding(30, "Creative", "A poem", "Rain\n## falls\n\nslowly", "assistant", "Write a poem")
ENTRY = """
---

## 压缩提取 12:00

### Decision: Use SQLite
- **Context**: Shall I use SQLite?
- **Content**: We decided to use SQLite.
- **Session ref**: s1 line 12
- **Source**: user
"""

DAY = date(2026, 4, 21)
SOUL = "# SOUL\n\nI am kind.\n\n## Preferences\n\n- I prefer tabs\n- My name is Ann\n\n## Boundaries\n\n- Ask first\n"


def write(workspace: Path, *findings: SessionFinding, topic: str = "") -> tuple[str, ...]:
    return extract(findings, workspace, NOW, "s1", topic, lambda text: text).entries


def diary(workspace: Path) -> str:
    return (workspace / "memory" / "2026-04-21.md").read_text("utf-8")


def test_a_missing_diary_is_made_with_its_title_and_the_entry_in_the_skills_form(tmp_path: Path) -> None:
    assert write(tmp_path, DECISION) == ("Decision: Use SQLite",)
    assert diary(tmp_path) == f"# 2026-04-21\n{ENTRY}"


def test_a_diary_is_appended_to_and_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "2026-04-21.md").write_bytes(b"# 2026-04-21\r\n\r\nmine, caf\r\n" + b"\xe9\r\n")
    write(tmp_path, DECISION)
    content = (tmp_path / "memory" / "2026-04-21.md").read_bytes()
    assert content == b"# 2026-04-21\r\n\r\nmine, caf\r\n" + b"\xe9\r\n" + ENTRY.replace("\n", "\r\n").encode()


def test_why_it_matters_is_said_in_the_language_of_the_entry(tmp_path: Path) -> None:
    write(tmp_path, TECHNICAL, replace(TECHNICAL, content="The lock was stale."))
    assert "- **Context**: 再次遇到时的解决办法" in diary(tmp_path)
    assert "- **Context**: the way out, should it happen again" in diary(tmp_path)


def test_a_work_stands_in_full_and_none_of_its_lines_is_a_heading(tmp_path: Path) -> None:
    write(tmp_path, WORK)
    assert "- **Content**: \n\n  Rain\n  ## falls\n\n  slowly\n- **Session ref**" in diary(tmp_path)


def test_a_warning_stands_among_the_technical_notes(tmp_path: Path) -> None:
    assert write(tmp_path, SessionFinding(1, "Warning", "db1", "Never restart db1.", "user")) == ("Technical: db1",)


def test_what_stands_in_a_diary_is_not_written_again_not_even_the_next_day(tmp_path: Path) -> None:
    write(tmp_path, DECISION)
    before = diary(tmp_path)
    assert write(tmp_path, DECISION) == ()
    assert diary(tmp_path) == before
    (tmp_path / "memory" / "2026-04-21.md").rename(tmp_path / "memory" / "2026-04-20.md")
    assert write(tmp_path, DECISION, TECHNICAL) == ("Technical: Lock file",)


def test_nothing_important_makes_no_file(tmp_path: Path) -> None:
    assert extract([], tmp_path, NOW, "s1", "the topic", lambda text: text).is_empty
    assert list(tmp_path.iterdir()) == []


def test_preferences_go_to_soul_and_a_new_topic_into_its_index(tmp_path: Path) -> None:
    preference = SessionFinding(3, "Preference", "Tabs", "I prefer tabs.", "user")
    found = extract([preference, DECISION], tmp_path, NOW, "s1", "Build the page", lambda text: text)
    assert (found.preferences, found.events) == (("I prefer tabs.",), ("Build the page",))
    assert (tmp_path / "SOUL.md").read_text("utf-8") == (
        "# SOUL\n\n## Preferences\n\n- I prefer tabs. (2026-04-21)\n\n## Event index\n\n"
        "- 2026-04-21: Build the page → memory/2026-04-21.md\n"
    )
    assert "I prefer tabs." not in diary(tmp_path)


def test_a_changed_preference_leaves_its_old_wording_in_the_diary(tmp_path: Path) -> None:
    (tmp_path / "SOUL.md").write_text("# SOUL\n\n## 偏好\n\n- My editor is vim\n", "utf-8")
    write(tmp_path, SessionFinding(3, "Preference", "e", "My editor is emacs", "user"))
    assert "- My editor is emacs (2026-04-21)" in (tmp_path / "SOUL.md").read_text("utf-8")
    assert "- **Content**: My editor is vim → My editor is emacs" in diary(tmp_path)


def test_secrets_are_masked_before_anything_is_written(tmp_path: Path) -> None:
    secret = "sk-12345"

    def mask(text: str) -> str:
        return text.replace(secret, "***")

    noted = replace(DECISION, title=f"use {secret}", content=f"Use {secret}.", context=f"Use {secret}?")
    liked = SessionFinding(3, "Preference", "k", f"My email is {secret}", "user")
    extract([noted, liked], tmp_path, NOW, f"s-{secret}", f"topic {secret}", mask)
    written = "".join(file.read_text("utf-8") for file in tmp_path.rglob("*.md"))
    assert secret not in written and "Use ***." in written


def test_only_the_newest_entries_of_a_huge_session_are_written(tmp_path: Path) -> None:
    many = [replace(DECISION, line=at, title=str(at), content=f"Decision {at}") for at in range(500)]
    assert write(tmp_path, *many) == tuple(f"Decision: {at}" for at in range(300, 500))


def test_a_diary_that_cannot_be_written_is_an_error_and_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("a file", "utf-8")
    with pytest.raises(DiaryError, match="not touched"):
        write(tmp_path, DECISION)
    assert (tmp_path / "memory").read_text("utf-8") == "a file"


LOG = """---

## 压缩执行 12:00

### Compression: standard mode
- **Before**: 8,000 tokens
- **After**: 4,000 tokens
- **Saved**: 50.0%
- **Removed lines**: 45
- **Timestamp**: 2026-04-21T12:00:00+08:00
- **Note**: Compressed 8,000→4,000 tokens (standard)
"""


def test_a_compression_is_logged_in_the_skills_form_with_the_one_line_inside(tmp_path: Path) -> None:
    path = log_compression(tmp_path, CompressionLog("standard", 8_000, 4_000, 45), NOW)
    assert path.read_text("utf-8") == f"# 2026-04-21\n\n{LOG}"


def test_a_forced_or_partial_run_says_so() -> None:
    text = render_log(CompressionLog("light", 8_000, 7_000, 4, was_forced=True, was_partial=True), NOW)
    assert text.endswith("- **Target**: not met\n- **Forced**: yes\n")


def test_only_the_middle_of_a_session_is_scanned(tmp_path: Path) -> None:
    session = Session()
    session.user("We decided to use plan A.")
    session.says("Good.")
    session.user("We decided to use plan B.")
    session.says("Good.")
    path = session.write(tmp_path / "s.jsonl")
    before = path.read_bytes()
    found = extract_from_file(path, tmp_path / "w", Options(keep_tail=2), NOW, lambda text: text)
    assert found.entries == ("Decision: We decided to use plan A.",)
    assert path.read_bytes() == before


def test_a_new_preference_joins_its_section() -> None:
    found = add_preferences(SOUL, ["Answer in French."], DAY)
    assert found.text == SOUL.replace("- My name is Ann\n", "- My name is Ann\n- Answer in French. (2026-04-21)\n")
    assert (found.written, found.updated) == (("Answer in French.",), ())


@pytest.mark.parametrize("again", ["I prefer tabs", "I  prefer tabs"])
def test_what_stands_there_is_left(again: str) -> None:
    assert add_preferences(SOUL, [again], DAY).text == SOUL


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My name is Ann", "My name is Bea"),
        ("My name is Ann", "Call me Bea"),
        ("我叫小安", "我的名字是小贝"),
        ("我的邮箱是a", "我的邮箱是b"),
    ],
)
def test_a_later_word_on_the_same_matter_takes_the_place_of_the_earlier(old: str, new: str) -> None:
    found = add_preferences(f"# SOUL\n\n## 偏好\n\n- {old} (2026-01-01)\n- other\n", [new], DAY)
    assert found.text == f"# SOUL\n\n## 偏好\n\n- {new} (2026-04-21)\n- other\n"
    assert found.updated == ((old, new),)


@pytest.mark.parametrize(("sentence", "heading"), [("我喜欢茶", "偏好"), ("I like tea", "Preferences")])
def test_a_missing_section_is_made_in_the_language_of_the_file(sentence: str, heading: str) -> None:
    assert add_preferences("", [sentence], DAY).text == f"# SOUL\n\n## {heading}\n\n- {sentence} (2026-04-21)\n"


def test_a_topic_is_indexed_once() -> None:
    once = add_event(SOUL, "Build the page", DAY)
    assert once == SOUL + "\n## Event index\n\n- 2026-04-21: Build the page → memory/2026-04-21.md\n"
    assert add_event(once, "Build the page", date(2026, 5, 1)) == once


def test_windows_line_ends_stay() -> None:
    text = add_preferences(SOUL.replace("\n", "\r\n"), ["Answer in French."], DAY).text
    assert text.count("\r\n") == text.count("\n")


@given(st.lists(st.text("abI like我喜欢. ", min_size=1, max_size=20).filter(str.strip), max_size=8))
def test_no_line_of_the_file_is_lost_and_a_second_time_changes_nothing(sentences: list[str]) -> None:
    found = add_preferences(SOUL, sentences, DAY)
    lines = found.text.splitlines()
    assert all(line in lines for line in SOUL.splitlines() if line not in {f"- {old}" for old, _ in found.updated})
    assert add_preferences(found.text, sentences, DAY).text == found.text


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace in order."""
    folder = tmp_path / "state" / "workspace"
    (folder / "memory").mkdir(parents=True)
    page(folder).write_text("# 2026-04-21\n\n---\n\n## 压缩提取 12:00\n\n### Decision: a\n- x\n", "utf-8")
    (folder / "MEMORY.md").write_text("# MEMORY\n\n### 2026-04-21 — a good day\n- x\n", "utf-8")
    (folder / "SOUL.md").write_text("# SOUL\n", "utf-8")
    return folder


def page(workspace: Path) -> Path:
    return workspace / "memory" / "2026-04-21.md"


def leave_backup(workspace: Path) -> None:
    sessions = workspace.parent / "agents" / "main" / "sessions"
    sessions.mkdir(parents=True)
    (sessions / "s1.jsonl.bak").write_text("", "utf-8")


def append(text: str) -> Callable[[Path], object]:
    return lambda workspace: page(workspace).write_text(page(workspace).read_text("utf-8") + text, "utf-8")


def remove_page(workspace: Path) -> None:
    page(workspace).unlink()


def test_a_diary_in_order_passes_all_nine(workspace: Path) -> None:
    assert [(check.number, check.level) for check in validate(workspace, NOW)] == [(at, "ok") for at in range(1, 10)]


SPOILED: dict[str, tuple[Callable[[Path], object], dict[int, str]]] = {
    "1-no-diary": (remove_page, {1: "fail", 2: "fail", 3: "fail", 6: "fail"}),
    "2-title": (lambda w: page(w).write_text("# Today\n\n## a\nx\n", "utf-8"), {2: "fail"}),
    "3-no-section": (lambda w: page(w).write_text("# 2026-04-21\n\ntext\n", "utf-8"), {3: "fail"}),
    "4-index": (lambda w: (w / "MEMORY.md").write_text("### 2026-04-20\n- x\n", "utf-8"), {4: "fail"}),
    "5-soul": (lambda w: (w / "SOUL.md").unlink(), {5: "fail"}),
    "7-backup": (leave_backup, {7: "fail"}),
    "8-empty-section": (append("\n## nothing here\n"), {8: "warn"}),
    "9-extractions": (append("\n## 压缩提取 13:00\nx\n" * 3), {9: "warn"}),
}


@pytest.mark.parametrize(("spoil", "found"), SPOILED.values(), ids=SPOILED.keys())
def test_each_check_finds_its_own_fault(
    workspace: Path, spoil: Callable[[Path], object], found: dict[int, str]
) -> None:
    spoil(workspace)
    assert {check.number: check.level for check in validate(workspace, NOW) if check.level != "ok"} == found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "# MEMORY\n\n### 2026-04-21\n- n\n"),
        (
            "# MEMORY\n\n### 2026-04-21 — title\n- x\n\n### 2026-04-20\n- y\n",
            "# MEMORY\n\n### 2026-04-21 — title\n- x\n- n\n\n### 2026-04-20\n- y\n",
        ),
        ("# MEMORY\n\n## 2026-04-21\n", "# MEMORY\n\n## 2026-04-21\n- n\n"),
        ("# MEMORY\n- x", "# MEMORY\n- x\n\n### 2026-04-21\n- n\n"),
    ],
    ids=["empty", "heading-that-begins-with-the-date", "other-level", "no-heading"],
)
def test_the_day_is_found_by_the_start_of_its_heading(before: str, after: str) -> None:
    assert add_index_line(before, DAY, "- n") == after
    assert add_index_line(after, DAY, "- n") == after


def test_a_note_is_masked_and_written_once(tmp_path: Path) -> None:
    assert update_index(tmp_path, NOW, "key k1", lambda text: text.replace("k1", "***"))
    assert not update_index(tmp_path, NOW, "key k1", lambda text: text.replace("k1", "***"))
    assert (tmp_path / "MEMORY.md").read_text("utf-8") == "# MEMORY\n\n### 2026-04-21\n- key ***\n"


def test_without_a_note_the_diary_is_linked(tmp_path: Path) -> None:
    update_index(tmp_path, NOW, "", lambda text: text)
    assert "- memory/2026-04-21.md" in (tmp_path / "MEMORY.md").read_text("utf-8")


def test_an_index_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").mkdir()
    with pytest.raises(DiaryError, match=r"MEMORY\.md"):
        update_index(tmp_path, NOW, "x", lambda text: text)


def test_a_heading_inside_an_entry_is_no_section_of_the_diary(workspace: Path) -> None:
    poem = replace(WORK, content="Rain\n\n## The end")
    write(workspace, poem)
    assert "\n  ## The end\n" in diary(workspace)
    assert [check.level for check in validate(workspace, NOW) if check.number == 8] == ["ok"]
