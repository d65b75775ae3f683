"""The pages of `docs/` say what is: their tables are those of the code, and what they name exists."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from assistant.assembly.sample.show_command import show_command
from assistant.cli.main import build_parser
from assistant.config.settings import Settings, variable_names
from assistant.config.words import Language
from assistant.conversation.commands import COMMANDS
from assistant.messages.events import Event
from assistant.models.known_providers import NATIVE_PROVIDERS
from tests.models.providers.native_cases import CASES
from tests.source_files import ROOT, python_files

DOCS = ROOT / "docs"
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (*DOCS.glob("*.md"), *ROOT.glob("*.md"))
    if path.name != "CHANGELOG.md"
)
SET_BY_THE_PLATFORM = {"space_id", "space_host"}
PICTURE_MAX_BYTES = 300_000
_PLACES = (ROOT, ROOT / "assistant")
_CODE_FILE = re.compile(r"(?<![\w./])[\w/]*\w\.(?:py|j2|toml|yml|html|css|js)\b(?!\.)")
_CODE_FOLDER = re.compile(r"`((?:assistant|tests|benchmarks|prompts|docs)/[\w/]*)`")
_CLASS = re.compile(r"`([A-Z][a-z]\w*)(?:\.(\w+))?`")
_FUNCTION = re.compile(r"`(\w+)\(\)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"")


def page(name: str) -> str:
    """The text of a page."""
    return (ROOT / name).read_text(encoding="utf-8")


def first_cells(text: str) -> list[str]:
    """The code words in the first column of a text's tables, in order."""
    cells = re.findall(r"^\| ([^|]*) \|", text, re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def test_the_events_are_those_of_the_code() -> None:
    expected: list[str] = []
    for event in get_args(Event):
        names = [field.name for field in fields(event)]
        kind = {field.name: field.default for field in fields(event)}["type"]
        columns = ", ".join(f"`{name}`" for name in names if name != "type")
        expected.append(f"| `{kind}` | {columns} | {inspect.getdoc(event)} |")
    assert page("docs/events.md").strip().splitlines()[-len(expected) :] == expected


def test_the_settings_are_those_of_the_code() -> None:
    expected = {
        name for field in Settings.model_fields if field not in SET_BY_THE_PLATFORM for name in variable_names(field)
    }
    named = first_cells(page("docs/settings.md"))
    assert sorted(named) == sorted(expected)


def test_the_providers_are_those_of_the_code() -> None:
    expected: list[str] = []
    for case in CASES:
        known = NATIVE_PROVIDERS[case.name]
        keys = ", ".join(f"`{name}`" for name in variable_names(known.key_field)) if known.key_field else ""
        able = (case.shows_thoughts, case.returns_thoughts, case.takes_pictures, case.reads_cache)
        cells = (
            known.title,
            f"`{case.name}`",
            keys,
            f"`{known.model}`" if known.model else "the first it lists",
            *("yes" if one else "no" for one in able),
        )
        expected.append(f"| {' | '.join(cells)} |")
    rows = [line for line in page("docs/providers.md").splitlines() if re.match(r"\| [\w ]+ \| `", line)]
    assert rows[1:] == expected
    assert [case.name for case in CASES] == list(NATIVE_PROVIDERS)


async def test_the_slash_commands_are_those_of_the_code() -> None:
    async def play(language: Language) -> None:
        raise AssertionError(language)

    expected = [(command.usage, command.help) for command in (*COMMANDS.values(), show_command(play))]
    assert re.findall(r"^\| `(/[^`]*)` \| (.*) \|$", page("docs/commands.md"), re.MULTILINE) == expected


def test_the_command_line_is_that_of_the_code() -> None:
    listed = re.search(r"\{([\w,-]+)\}", build_parser().format_help())
    assert listed is not None
    named = [name.split()[0] for name in first_cells(page("docs/commands.md")) if not name.startswith("/")]
    assert named == listed[1].split(",")


def test_every_module_has_its_line_in_the_map() -> None:
    package = ROOT / "assistant"
    modules = {path.name for path in package.glob("*.py")} - {"__init__.py"}
    folders = {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}
    assert sorted((modules | folders) - set(first_cells(page("docs/architecture.md")))) == []


@pytest.mark.parametrize("name", PAGES)
def test_every_file_that_a_page_names_exists(name: str) -> None:
    text = page(name)
    named = {*_CODE_FILE.findall(text), *_CODE_FOLDER.findall(text)}
    assert sorted(one for one in named if not any((place / one).exists() for place in _PLACES)) == []


@pytest.mark.parametrize("name", PAGES)
def test_every_class_and_function_that_a_page_names_exists(name: str) -> None:
    text = page(name)
    members = _members()
    classes = {(one, member) for one, member in _CLASS.findall(text) if member not in members.get(one, ())}
    functions = set(_FUNCTION.findall(text)) - {one for names in members.values() for one in names}
    assert (sorted(classes), sorted(functions)) == ([], [])


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_somewhere(name: str) -> None:
    folder = (ROOT / name).parent
    links = [first or second for first, second in _LINK.findall(page(name))]
    broken = [link for link in links if not link.startswith("https://") and not _leads_somewhere(folder, link)]
    assert broken == []


def test_the_pictures_are_small() -> None:
    pictures = sorted(DOCS.glob("*.png"))
    assert [path.name for path in pictures if path.stat().st_size > PICTURE_MAX_BYTES] == []


def _members() -> dict[str, set[str]]:
    """What each class of the package has, by its name, with `""` for itself; under `""` the functions of modules."""
    members: dict[str, set[str]] = {"": set()}
    for file in python_files("assistant", "app.py"):
        for node in file.tree.body:
            match node:
                case ast.ClassDef(name=name, body=body):
                    members.setdefault(name, {""}).update(_names(body))
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    members[""].add(name)
                case _:
                    pass
    return members


def _names(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case _:
                pass


def _leads_somewhere(folder: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = folder / path if path else folder
    if not target.exists():
        return False
    return not anchor or anchor in _anchors(target.read_text(encoding="utf-8"))


def _anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as they are made on the web: small letters, hyphens for spaces."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
