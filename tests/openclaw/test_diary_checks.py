"""Nine checks, each failing alone, and the index in MEMORY.md."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from assistant.errors import DiaryError
from assistant.openclaw.diary_checks import add_index_line, update_index, validate
from tests.openclaw.sessions import NOW

DAY = date(2026, 4, 21)


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
