"""The table of known failures names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

FOLDER = Path(__file__).parent
NAMED = re.compile(r"`((?:\.\./)?test_\w+\.py)::([\w:]+)`")


def test_every_row_names_a_test_that_exists() -> None:
    table = (FOLDER / "README.md").read_text(encoding="utf-8")
    named = set(NAMED.findall(table))
    missing = [f"{file}::{name}" for file, name in named if name not in names_in(FOLDER / file)]
    assert (missing, len(named) > 60) == ([], True)


def names_in(path: Path) -> set[str]:
    """The tests of a file, those of a class as `Class::test`."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.ClassDef(name=name, body=body):
                found |= {f"{name}::{part.name}" for part in body if isinstance(part, ast.FunctionDef)}
            case _:
                pass
    return found
