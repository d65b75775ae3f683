"""What is allowed for longer is exact: all that looks like it, lies beside it or leads elsewhere asks again."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.agent.tools.approvals import Rules, judge
from assistant.agent.tools.call_extent import extent_of
from assistant.storage.allowed_calls import Extent

COMMAND = "make -C site all"


@pytest.fixture
def rules(tmp_path: Path) -> Rules:
    """A home, and beside it two folders whose names begin alike."""
    home = tmp_path / ".palimpsest"
    for folder in (home / "files" / "plans" / "deep", tmp_path / "desk", tmp_path / "desk-old", home / "skills"):
        folder.mkdir(parents=True)
    (home / "files" / "plans" / ".git").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (home / "files" / "link").symlink_to(tmp_path / "elsewhere")
    return Rules("ask", home, home / "files")


def test_a_command_is_allowed_to_the_letter_where_it_starts(rules: Rules) -> None:
    extent = extent_of("Bash", {"command": COMMAND, "timeout": 5}, rules)
    assert extent is not None and extent == Extent("Bash", str(rules.start_folder), COMMAND)
    assert extent.text == f"This very command, to the letter, started in {rules.start_folder}"


@pytest.mark.parametrize(
    "other",
    [
        f"{COMMAND} ",
        f" {COMMAND}",
        COMMAND.replace(" ", "  ", 1),
        COMMAND.replace(" ", "\t", 1),
        COMMAND.replace(" ", "\u00a0", 1),
        f"{COMMAND}\n",
        f"{COMMAND}\r",
        f"{COMMAND}\nrm -rf ~",
        COMMAND.replace("a", "а", 1),
        COMMAND.replace("k", "ｋ"),
        f"{COMMAND}\u200b",
        f"\ufeff{COMMAND}",
        COMMAND.upper(),
        f"CC=evil {COMMAND}",
        f"env {COMMAND}",
        f"cd /tmp && {COMMAND}",
        f"{COMMAND}; id",
        f"{COMMAND} && id",
        f"{COMMAND} # safe",
        COMMAND[:-1],
        f"{COMMAND}2",
        f'"make" {COMMAND[5:]}',
    ],
)
def test_a_command_that_is_only_like_it_is_another(rules: Rules, other: str) -> None:
    assert extent_of("Bash", {"command": other}, rules) != extent_of("Bash", {"command": COMMAND}, rules)


def test_the_same_letters_written_in_another_way_are_another_command(rules: Rules) -> None:
    composed, decomposed = ({"command": f"open caf{end}"} for end in ("\u00e9", "e\u0301"))
    assert extent_of("Bash", composed, rules) != extent_of("Bash", decomposed, rules)


def test_the_same_command_in_another_folder_is_another(rules: Rules, tmp_path: Path) -> None:
    moved = Rules("ask", rules.home, tmp_path / "desk")
    assert extent_of("Bash", {"command": COMMAND}, moved) != extent_of("Bash", {"command": COMMAND}, rules)


def test_a_command_that_is_not_seen_at_once_is_allowed_once_only(rules: Rules) -> None:
    assert extent_of("Bash", {"command": "true\n" * 50 + "rm -rf ~"}, rules) is None


@pytest.mark.parametrize(
    ("tool", "path", "folder"),
    [
        ("Write", "plans/a.txt", "plans"),
        ("Edit", "plans/./deep/../a.txt", "plans"),
        ("Write", "a.txt", "."),
        ("Write", "plans/deep/a.txt", "plans/deep"),
        ("Write", "link/a.txt", "../../elsewhere"),
        ("Write", "plans/../../../desk/a.txt", "../../desk"),
        ("Read", "../../desk-old/a.txt", "../../desk-old"),
    ],
)
def test_a_file_tool_is_allowed_in_the_folder_its_path_leads_to(
    rules: Rules, tool: str, path: str, folder: str
) -> None:
    extent = extent_of(tool, {"file_path": path, "content": "x"}, rules)
    assert extent == Extent(tool, str((rules.start_folder / folder).resolve()))


def test_a_folder_that_became_a_link_leads_elsewhere(rules: Rules, tmp_path: Path) -> None:
    call = {"file_path": "plans/deep/a.txt", "content": "x"}
    before = extent_of("Write", call, rules)
    (rules.start_folder / "plans" / "deep").rmdir()
    (rules.start_folder / "plans" / "deep").symlink_to(tmp_path / "elsewhere")
    assert extent_of("Write", call, rules) == Extent("Write", str(tmp_path / "elsewhere")) != before


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Write", {"file_path": "../AGENTS.md"}),
        ("Write", {"file_path": "../allowed_calls.json"}),
        ("Edit", {"file_path": "../skills/tidy/SKILL.md"}),
        ("Write", {"file_path": "plans/.git/config"}),
        ("Write", {"file_path": ".profile"}),
        ("Read", {"file_path": "../../.netrc"}),
        ("Write", {"file_path": 7}),
        ("Write", {"file_path": "a\0b"}),
        ("Glob", {"path": "../../desk", "pattern": "../*"}),
        ("Glob", {"path": "../../desk", "pattern": "/etc/*"}),
        ("Grep", {"path": "../../desk/one.txt", "pattern": "x"}),
        ("Bash", {"command": ["ls"]}),
        ("weather_report", {"city": "Lisbon"}),
    ],
    ids=str,
)
def test_what_steers_the_assistant_or_cannot_be_told_exactly_is_allowed_once_only(
    rules: Rules, tool: str, arguments: dict[str, object]
) -> None:
    assert extent_of(tool, arguments, rules) is None


def test_a_search_is_allowed_in_its_folder_and_says_how_deep_it_goes(rules: Rules, tmp_path: Path) -> None:
    extent = extent_of("Grep", {"path": "../../desk", "pattern": "x"}, rules)
    assert extent is not None and extent != extent_of("Grep", {"path": "../../desk-old", "pattern": "x"}, rules)
    assert extent.text == f"Grep in {tmp_path / 'desk'} and everything below it"


def test_what_is_refused_is_refused_whatever_its_extent(rules: Rules, tmp_path: Path) -> None:
    call = {"file_path": str(tmp_path / "desk" / "mcp.json"), "content": "{}"}
    assert extent_of("Write", call, rules) == Extent("Write", str(tmp_path / "desk"))
    assert judge("Write", call, rules).behavior == "deny"
