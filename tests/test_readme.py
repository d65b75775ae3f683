"""The README says what is: its tables and commands are those of the code."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from typing import get_args

import pytest

from assistant.cli.main import build_parser
from assistant.config.settings import Settings, variable_names
from assistant.messages.events import Event
from tests.source_files import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
SET_BY_THE_PLATFORM = {"space_id", "space_host"}


def section(title: str) -> str:
    """The text under a heading of the second level."""
    return README.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def first_cells(title: str) -> list[str]:
    """The code words in the first column of a section's tables, in order."""
    cells = re.findall(r"^\| ([^|]*) \|", section(title), re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def test_the_events_are_those_of_the_code() -> None:
    expected: list[str] = []
    for event in get_args(Event):
        names = [field.name for field in fields(event)]
        kind = {field.name: field.default for field in fields(event)}["type"]
        columns = ", ".join(f"`{name}`" for name in names if name != "type")
        expected.append(f"| `{kind}` | {columns} | {inspect.getdoc(event)} |")
    assert section("Events").strip().splitlines()[-len(expected) :] == expected


def test_the_settings_are_those_of_the_code() -> None:
    expected = {
        name for field in Settings.model_fields if field not in SET_BY_THE_PLATFORM for name in variable_names(field)
    }
    named = first_cells("Settings")
    assert sorted(named) == sorted(expected)


def test_the_slash_commands_are_those_of_the_code() -> None:
    source = (ROOT / "assistant" / "conversation" / "commands.py").read_text(encoding="utf-8")
    expected = re.findall(r'Command\(\s*"(/[^"]*)",\s*"([^"]*)"', source)
    assert expected
    assert re.findall(r"^\| `(/[^`]*)` \| (.*) \|$", section("Commands"), re.MULTILINE) == expected


def test_the_command_line_is_that_of_the_code() -> None:
    listed = re.search(r"\{([\w,-]+)\}", build_parser().format_help())
    assert listed is not None
    named = [name.split()[0] for name in first_cells("Commands") if not name.startswith("/")]
    assert named == listed[1].split(",")


def test_every_module_has_its_line_in_the_map() -> None:
    package = ROOT / "assistant"
    modules = {path.name for path in package.glob("*.py")} - {"__init__.py"}
    folders = {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}
    assert sorted((modules | folders) - set(first_cells("Map of the code"))) == []


@pytest.mark.parametrize("script", [".ci/run", "README.md"])
def test_ci_and_people_run_the_same_test_command(script: str) -> None:
    text = (ROOT / script).read_text(encoding="utf-8")
    assert "pip install -r requirements-dev.txt && python -m tests" in text.splitlines()


def test_the_space_gets_the_gradio_that_is_pinned() -> None:
    front = dict(re.findall(r"^(\w+): (.*)$", README.split("---\n")[1], re.MULTILINE))
    pinned = re.search(r"^gradio==(.*)$", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert pinned is not None
    assert (front["sdk"], front["sdk_version"], front["app_file"]) == ("gradio", pinned[1], "app.py")
    assert front["python_version"] == '"3.11"'
    assert len(front["short_description"]) <= 60
