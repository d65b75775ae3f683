"""What runs at once, what asks, what is refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import get_args

import pytest

from assistant.agent.tools.approvals import Refusal, Rules, Verdict, judge
from assistant.config.prompts import render


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
    [
        "ls",
        "ls -la",
        "ls -R ..",
        "du -sh .",
        "date -u +%F",
        "diff -u notes.txt ../SOUL.md",
        "pwd",
        "cat notes.txt",
        "head -n 5 notes.txt",
        "wc -l notes.txt",
        "cat 'notes.txt' ../SOUL.md",
    ],
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
        "date 010100002020",
        "date +%F 010100002020",
        "ls --help",
        "x=1 ls",
        "cat ~/x",
        "cat 'unclosed",
        "",
        "LS",
        "cat .",
        "diff -u . ..",
        "cmp . notes.txt",
        "head -n5/etc/passwd notes.txt",
        "head --lines=5 notes.txt",
        "file -m notes.txt notes.txt",
        "wc --files0-from=notes.txt",
        "cat /proc/self/root/etc/passwd",
        "cat \ud800",
        "cat " + "x" * 5_000 + "/../../../etc/passwd",
    ],
)
def test_any_other_command_asks(rules: Rules, command: str) -> None:
    assert judge("Bash", {"command": command}, rules).behavior == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "cat ../.env",
        "cp .env x",
        "cat ../mcp.json",
        "grep KEY ../.env",
        "cat ../.ENV",
        "cat ../.e''nv",
        'cat "../m"cp.json',
    ],
)
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


@pytest.mark.parametrize("tool", ["Read", "Grep", "Glob", "Write", "Edit", "Bash"])
@pytest.mark.parametrize("name", ["users", "users/ben/MEMORY.md"])
def test_no_tool_opens_the_home_of_somebody_else(rules: Rules, tool: str, name: str) -> None:
    path = rules.home / name
    arguments = {"file_path": str(path), "path": str(path), "command": f"cat {path}"}
    assert judge(tool, arguments, rules).behavior == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "ls -R ..",
        "ls -laR ../",
        "du -a ..",
        "du ..",
        "cat ../users/b*/MEMORY.md",
        "cd .. && cat users/ben/MEMORY.md",
        "tar cf - ../users | wc -c",
        "find ../users -name '*.md' -exec cat {} +",
        "cat linked",
        "cp --from=../users/ben/MEMORY.md x",
        "F=../users/ben; ls $F",
        "cat ../u*/b*/MEMORY.md",
        "cat ../[u]sers/ben/MEMORY.md",
        "ls -d ../**",
        "cat ../us\\ers/ben/MEMORY.md",
        "cd .. && cat */*/*.md",
        "grep -rn BEN ..",
        "find ../ -name '*.md' -exec cat {} +",
        "tar cf - ../../home | strings",
        "find // -name MEMORY.md",
        "cp linked x",
    ],
)
def test_a_command_that_would_show_the_homes_of_others_is_refused(rules: Rules, command: str) -> None:
    ben = rules.home / "users" / "ben"
    ben.mkdir(parents=True)
    (ben / "MEMORY.md").write_text("BEN", encoding="utf-8")
    (rules.start_folder / "linked").hardlink_to(ben / "MEMORY.md")
    assert judge("Bash", {"command": command}, rules).behavior == "deny"
    assert judge("Read", {"file_path": str(rules.start_folder / "linked")}, rules).behavior == "deny"


@pytest.mark.parametrize(("command", "behavior"), [("ls -R ..", "allow"), ("cat users/list.txt | wc -l", "ask")])
def test_a_folder_of_that_name_elsewhere_is_none_of_theirs(rules: Rules, command: str, behavior: str) -> None:
    (rules.start_folder / "users").mkdir()
    (rules.start_folder / "users" / "list.txt").write_text("ada\n", encoding="utf-8")
    assert judge("Bash", {"command": command}, rules).behavior == behavior


@pytest.mark.parametrize(
    "command",
    [
        "cat ../memory/*.md | head",
        "grep -rn tea .",
        "sed 's/a/b/' x | wc",
        "curl http://x/y",
        "ls ../*.md",
        "echo \ud800",
    ],
)
def test_a_command_that_stays_away_from_the_homes_of_others_is_asked_about(rules: Rules, command: str) -> None:
    (rules.home / "users" / "ben").mkdir(parents=True)
    assert judge("Bash", {"command": command}, rules).behavior == "ask"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Bash", {"command": "true # " + "x" * 1_000_001}),
        ("Bash", {"command": "true\n" * 20_001}),
        ("Write", {"file_path": "x", "content": "x" * 1_000_001}),
        ("Edit", {"file_path": "x", "old_string": "a", "new_string": "\n" * 20_001}),
    ],
)
def test_what_is_too_long_to_be_read_is_not_asked_about(rules: Rules, tool: str, arguments: dict[str, object]) -> None:
    assert judge(tool, arguments, rules) == Verdict("deny", refusal="too_large")


def test_a_link_to_a_secret_file_is_refused(rules: Rules) -> None:
    (rules.start_folder / "harmless").symlink_to(rules.home / ".env")
    assert judge("Read", {"file_path": str(rules.start_folder / "harmless")}, rules).behavior == "deny"


@pytest.mark.parametrize("tool", ["Read", "Write"])
@pytest.mark.parametrize("path", ["/x\0y", "\ud800", ["/etc/passwd"], 7], ids=["nul", "surrogate", "list", "number"])
def test_what_cannot_be_a_path_is_refused(rules: Rules, tool: str, path: object) -> None:
    assert judge(tool, {"file_path": path}, rules) == Verdict("deny", refusal="no_path")


def test_a_path_too_long_for_any_file_raises_nothing(rules: Rules) -> None:
    assert judge("Read", {"file_path": "x" * 5_000}, rules) == Verdict("allow")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Grep", {"pattern": "x", "path": "/etc", "file_path": "notes.txt"}),
        ("Glob", {"pattern": "x", "path": "/etc", "file_path": "notes.txt"}),
        ("Read", {"file_path": "/etc/passwd", "path": "notes.txt"}),
        ("Grep", {"pattern": "x", "path": "~"}),
    ],
    ids=["grep", "glob", "read", "a name of the home that no tool expands"],
)
def test_only_the_argument_the_tool_goes_by_is_judged(
    rules: Rules, tool: str, arguments: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    (rules.start_folder / "~").symlink_to("/etc")
    monkeypatch.setenv("HOME", str(rules.home))
    assert judge(tool, arguments, rules).behavior == "ask"


def test_a_secret_file_is_refused_under_any_other_name(rules: Rules) -> None:
    (rules.start_folder / "copy").hardlink_to(rules.home / ".env")
    path = str(rules.start_folder / "copy")
    verdicts = [judge(tool, {"file_path": path, "path": path}, rules) for tool in ("Read", "Grep", "Write", "Edit")]
    assert {verdict.behavior for verdict in verdicts} == {"deny"}
    assert judge("Bash", {"command": "cat copy"}, rules).behavior == "deny"
    assert judge("Read", {"file_path": f"/proc/self/root{rules.home}/.env"}, rules).behavior == "deny"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes in folders")
def test_a_pipe_is_never_read_or_written_at_once(rules: Rules) -> None:
    path = rules.start_folder / "pipe"
    os.mkfifo(path)
    judged = [judge(tool, {"file_path": str(path), "path": str(path)}, rules) for tool in ("Read", "Grep", "Write")]
    assert {verdict.behavior for verdict in judged} == {"deny"}
    assert judge("Bash", {"command": "cat pipe"}, rules).behavior == "ask"
    assert judge("Read", {"file_path": "/dev/zero"}, rules).behavior == "deny"


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


def test_every_refusal_has_its_words_in_both_languages() -> None:
    for language in ("en", "zh"):
        words = [render("tool_refused", language, refusal=name, subject="x") for name in get_args(Refusal)]
        assert len({word for word in words if word}) == len(get_args(Refusal))
