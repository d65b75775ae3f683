"""The layers and the fences: imports point down only, and three libraries stay behind their own walls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from tests.source_files import SourceFile, python_files

# From the top down: a room of `assistant/` may import those below it, and its own files. One room is one step.
ROOMS = (
    "cli",
    "ui",
    "assembly",
    "conversation",
    "agent",
    "memory",
    "index",
    "openclaw",
    "storage",
    "models",
    "compaction",
    "messages",
    "text",
    "config",
)
LAYERS = ("app", "__main__", *ROOMS, "errors")
STEP_OF = {name: step for step, name in enumerate(LAYERS)}

# They read data files and stand on the floor of the house: an exception takes its words from there.
FLOOR = ("assistant.config.words", "assistant.config.resources")

FENCES = {
    "agentscope": (
        "assistant/agent/",
        "assistant/models/",
        "assistant/messages/blocks.py",
        "assistant/assembly/sample/story_model.py",
    ),
    "gradio": ("assistant/ui/",),
    "gradio_client": ("assistant/ui/",),
    "chromadb": ("assistant/index/vectors/chroma.py",),
    "qdrant_client": ("assistant/index/vectors/qdrant.py",),
    "elasticsearch": ("assistant/index/vectors/elastic.py",),
    "xllamacpp": ("assistant/models/local/worker.py",),
    "psycopg": ("assistant/index/vectors/postgres.py",),
}

# They take values and return values: time, chance and the machine come in as arguments.
PURE = (
    "assistant/compaction/",
    "assistant/index/chunker.py",
    "assistant/agent/system_prompt.py",
    "assistant/ui/chat/render.py",
)
IMPURE_MODULES = {"logging", "os", "random", "secrets", "shutil", "socket", "subprocess", "tempfile", "time", "uuid"}

SAMPLELESS = tuple(
    f"assistant/{room}/" for room in ROOMS[ROOMS.index("conversation") :] if room not in ("models", "text")
)

FILES = python_files("assistant", "app.py")


@cache
def imported_names(file: SourceFile) -> list[tuple[int, str]]:
    """Line and full dotted name of every import, late ones and those by a literal name included."""
    return list(_imported_names(file))


def _imported_names(file: SourceFile) -> Iterator[tuple[int, str]]:
    package = file.name.removesuffix(".py").split("/")[:-1]
    for node in ast.walk(file.tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                parents = package[: len(package) - level + 1] if level else []
                start = ".".join([*parents, *([module] if module else [])])
                # `from assistant import errors` names a module, not a value.
                yield from ((node.lineno, f"{start}.{alias.name}") for alias in names)
            case ast.Call(
                func=ast.Attribute(attr="import_module") | ast.Name(id="import_module" | "__import__"),
                args=[ast.Constant(value=str() as name), *_],
            ):
                yield node.lineno, name
            case _:
                pass


def layer_name(module: str) -> str | None:
    """`index` for `assistant.index.search`; None for a module that is not ours."""
    first, _, rest = module.partition(".")
    return rest.partition(".")[0] if first == "assistant" and rest else "app" if module == "app" else None


def own_layer(file: SourceFile) -> str:
    """The layer a file stands on."""
    return file.name.removeprefix("assistant/").removesuffix(".py").partition("/")[0]


def test_every_module_has_a_place_in_the_layers() -> None:
    homeless = [file.name for file in FILES if own_layer(file) not in STEP_OF and own_layer(file) != "__init__"]
    assert homeless == [], "name the new module or folder in LAYERS, on the step it belongs to"


def test_imports_point_down_only() -> None:
    upward: list[str] = []
    for file in FILES:
        own = own_layer(file)
        for line, name in imported_names(file):
            other = layer_name(name)
            if name.startswith(FLOOR) and own == "errors":
                continue
            if other is None or other == own or other not in STEP_OF or own not in STEP_OF:
                continue
            if STEP_OF[other] <= STEP_OF[own]:
                where = "the same step" if STEP_OF[other] == STEP_OF[own] else "a higher step"
                upward.append(f"{file.name}:{line} imports {name}, which stands on {where}")
    assert upward == []


def test_what_stands_on_the_floor_imports_nothing_of_ours_but_the_floor() -> None:
    above = [
        f"{file.name}:{line} imports {name}"
        for file in FILES
        if file.name.removesuffix(".py").replace("/", ".") in FLOOR
        for line, name in imported_names(file)
        if layer_name(name) is not None and not name.startswith(FLOOR)
    ]
    assert above == []


@pytest.mark.parametrize(("library", "inside"), FENCES.items(), ids=FENCES)
def test_a_library_stays_behind_its_fence(library: str, inside: tuple[str, ...]) -> None:
    escaped = [
        f"{file.name}:{line} imports {name}"
        for file in FILES
        if not file.name.startswith(inside)
        for line, name in imported_names(file)
        if name.partition(".")[0] == library
    ]
    assert escaped == [], f"{library} belongs in {', '.join(inside)} only"


def test_pure_modules_import_nothing_of_the_machine() -> None:
    impure = [
        f"{file.name}:{line} imports {name}"
        for file in FILES
        if file.name.startswith(PURE)
        for line, name in imported_names(file)
        if name.partition(".")[0] in IMPURE_MODULES
    ]
    assert impure == []


def test_the_rooms_below_know_nothing_of_the_sample() -> None:
    """The sample is a home and a session of its own, which the assembly makes and the programs offer."""
    knowing = [
        file.name
        for file in FILES
        if file.name.startswith(SAMPLELESS) and "sample" in re.split(r"[\W_]", file.text.lower())
    ]
    assert knowing == []


def test_no_init_module_holds_more_than_its_docstring() -> None:
    full = [file.name for file in FILES if file.name.endswith("__init__.py") and len(file.tree.body) > 1]
    assert full == [], "import from the file that defines the name"
