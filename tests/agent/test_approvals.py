"""What runs at once, what asks, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.agent.approvals import Rules, Verdict, judge, preview


@pytest.fixture
def rules(tmp_path: Path) -> Rules:
    home = tmp_path / "home"
    (home / "files").mkdir(parents=True)
    (home / "files" / "notes.txt").write_text("one\ntwo\n", encoding="utf-8")
    (home / ".env").write_text("KEY=1", encoding="utf-8")
    (home / "files" / "link").symlink_to(tmp_path)
    return Rules("ask", home, home / "files")


@pytest.mark.parametrize(
    "command",
    ["ls", "ls -la", "pwd", "cat notes.txt", "head -n 5 notes.txt", "wc -l notes.txt", "cat 'notes.txt' ../SOUL.md"],
)
def test_a_command_that_only_reads_inside_the_workspace_runs_at_once(rules: Rules, command: str) -> None:
    assert judge("Bash", {"command": command}, rules) == Verdict("allow")


@pytest.mark.parametrize(
    "command",
    [
        "rm notes.txt",
        "cat /etc/passwd",
        "cat ../../outside",
        "cat link/secret",
        "cat notes.txt > other",
        "cat $HOME/x",
        "cat `whoami`",
        "cat *.txt",
        "ls; rm -rf .",
        "ls & sleep 1",
        "cat notes.txt | sh",
        "tail -f notes.txt",
        "cat notes.txt\nrm notes.txt",
        "date -s 2020-01-01",
        "ls --help",
        "x=1 ls",
        "cat ~/x",
        "cat 'unclosed",
        "",
        "LS",
    ],
)
def test_any_other_command_asks(rules: Rules, command: str) -> None:
    assert judge("Bash", {"command": command}, rules).behavior == "ask"


@pytest.mark.parametrize("command", ["cat ../.env", "cp .env x", "cat ../mcp.json", "grep KEY ../.env"])
def test_a_command_that_names_a_secret_file_is_refused(rules: Rules, command: str) -> None:
    assert judge("Bash", {"command": command}, rules).behavior == "deny"


def test_reading_inside_runs_at_once_and_outside_asks(rules: Rules, tmp_path: Path) -> None:
    inside = judge("Read", {"file_path": str(rules.home / "SOUL.md")}, rules)
    outside = judge("Read", {"file_path": "/etc/passwd"}, rules)
    through_a_link = judge("Grep", {"pattern": "x", "path": str(rules.start_folder / "link")}, rules)
    assert (inside.behavior, outside.behavior, through_a_link.behavior) == ("allow", "ask", "ask")


def test_a_folder_the_owner_added_is_read_at_once(rules: Rules, tmp_path: Path) -> None:
    added = Rules(rules.mode, rules.home, rules.start_folder, (tmp_path / "added",))
    assert judge("Glob", {"pattern": "*", "path": str(tmp_path / "added" / "deep")}, added) == Verdict("allow")


@pytest.mark.parametrize("tool", ["Read", "Grep", "Write", "Edit"])
@pytest.mark.parametrize("name", [".env", "mcp.json", ".ENV"])
def test_no_tool_opens_a_secret_file(rules: Rules, tool: str, name: str) -> None:
    path = str(rules.home / name)
    assert judge(tool, {"file_path": path, "path": path}, rules).behavior == "deny"


def test_a_link_to_a_secret_file_is_refused(rules: Rules) -> None:
    (rules.start_folder / "harmless").symlink_to(rules.home / ".env")
    assert judge("Read", {"file_path": str(rules.start_folder / "harmless")}, rules).behavior == "deny"


def test_a_path_with_a_nul_byte_asks_and_raises_nothing(rules: Rules) -> None:
    assert judge("Read", {"file_path": "/x\0y"}, rules).behavior == "ask"


def test_writing_asks_and_is_refused_where_only_reading_is_allowed(rules: Rules) -> None:
    call = {"file_path": str(rules.start_folder / "new.txt"), "content": "x"}
    read_only = Rules("read-only", rules.home, rules.start_folder)
    assert judge("Write", call, rules).behavior == "ask"
    assert judge("Write", call, read_only).behavior == "deny"
    assert judge("Bash", {"command": "rm x"}, read_only).behavior == "deny"
    assert judge("mcp__mail__send", {}, read_only).behavior == "deny"


def test_an_outside_tool_asks(rules: Rules) -> None:
    assert judge("mcp__mail__send", {}, rules).behavior == "ask"


def test_with_tools_off_only_the_memory_tools_are_left(rules: Rules) -> None:
    off = Rules("off", rules.home, rules.start_folder)
    assert judge("Read", {"file_path": str(rules.home / "SOUL.md")}, off).behavior == "deny"
    assert judge("memory_search", {"query": "x"}, off) == Verdict("allow")


def test_the_preview_of_a_command_is_the_command_to_the_letter() -> None:
    assert preview("Bash", {"command": "rm -rf  'a b'"}) == "rm -rf  'a b'"


def test_the_preview_of_an_edit_is_the_diff_it_makes(tmp_path: Path) -> None:
    path = tmp_path / "plan.md"
    path.write_text("one\ntwo\n", encoding="utf-8")
    shown = preview("Edit", {"file_path": str(path), "old_string": "two", "new_string": "three"})
    assert shown.splitlines()[2:] == ["@@ -1,2 +1,2 @@", " one", "-two", "+three"]


def test_the_preview_of_a_new_file_shows_all_of_it(tmp_path: Path) -> None:
    shown = preview("Write", {"file_path": str(tmp_path / "new.md"), "content": "a\nb\n"})
    assert shown.splitlines()[2:] == ["@@ -0,0 +1,2 @@", "+a", "+b"]
