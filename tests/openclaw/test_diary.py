"""What goes into the diary: appended, once, masked, whole or not at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assistant.errors import DiaryError
from assistant.openclaw.diary import CompressionLog, extract, log_compression, render_log
from assistant.openclaw.findings import Finding
from assistant.openclaw.options import Options
from assistant.openclaw.session_file import extract_from_file
from tests.openclaw.sessions import NOW, Session

DECISION = Finding(11, "Decision", "Use SQLite", "We decided to use SQLite.", "user", "Shall I use SQLite?")
TECHNICAL = Finding(20, "Technical", "Lock file", "问题出在锁文件。", "assistant")
WORK = Finding(30, "Creative", "A poem", "Rain\n## falls\n\nslowly", "assistant", "Write a poem")
ENTRY = """
---

## 压缩提取 12:00

### Decision: Use SQLite
- **Context**: Shall I use SQLite?
- **Content**: We decided to use SQLite.
- **Session ref**: s1 line 12
- **Source**: user
"""


def write(workspace: Path, *findings: Finding, topic: str = "") -> tuple[str, ...]:
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
    assert write(tmp_path, Finding(1, "Warning", "db1", "Never restart db1.", "user")) == ("Technical: db1",)


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
    preference = Finding(3, "Preference", "Tabs", "I prefer tabs.", "user")
    found = extract([preference, DECISION], tmp_path, NOW, "s1", "Build the page", lambda text: text)
    assert (found.preferences, found.events) == (("I prefer tabs.",), ("Build the page",))
    assert (tmp_path / "SOUL.md").read_text("utf-8") == (
        "# SOUL\n\n## Preferences\n\n- I prefer tabs. (2026-04-21)\n\n## Event index\n\n"
        "- 2026-04-21: Build the page → memory/2026-04-21.md\n"
    )
    assert "I prefer tabs." not in diary(tmp_path)


def test_a_changed_preference_leaves_its_old_wording_in_the_diary(tmp_path: Path) -> None:
    (tmp_path / "SOUL.md").write_text("# SOUL\n\n## 偏好\n\n- My editor is vim\n", "utf-8")
    write(tmp_path, Finding(3, "Preference", "e", "My editor is emacs", "user"))
    assert "- My editor is emacs (2026-04-21)" in (tmp_path / "SOUL.md").read_text("utf-8")
    assert "- **Content**: My editor is vim → My editor is emacs" in diary(tmp_path)


def test_secrets_are_masked_before_anything_is_written(tmp_path: Path) -> None:
    secret = "sk-12345"

    def mask(text: str) -> str:
        return text.replace(secret, "***")

    noted = replace(DECISION, title=f"use {secret}", content=f"Use {secret}.", context=f"Use {secret}?")
    liked = Finding(3, "Preference", "k", f"My email is {secret}", "user")
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
