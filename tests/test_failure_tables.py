"""The tables of known failures and of rules name tests that exist, each row at least one."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.source_files import ROOT

TABLES = {"compaction": 65, "memory": 65, "models": 170, "openclaw": 75}
"""The folders whose README is a table, and how many rows it has at least."""
_TEST = re.compile(r"`((?:\.\./)?(?:\w+/)*test_\w+\.py)::([\w:]+)`")
_BENCHMARK = re.compile(r"`(benchmarks/\w+\.py)`")
_ROW = re.compile(r"^\| (?!-+ )(?!.*\| test \|$).* \|$", re.MULTILINE)


@pytest.mark.parametrize("folder", TABLES)
def test_every_row_names_tests_that_exist(folder: str) -> None:
    table = ROOT / "tests" / folder / "README.md"
    rows = _ROW.findall(table.read_text(encoding="utf-8"))
    missing = [problem for row in rows for problem in problems_of(row, table.parent)]
    assert (missing, len(rows) >= TABLES[folder]) == ([], True)


def problems_of(row: str, folder: Path) -> list[str]:
    """What a row names in vain, or that it names nothing."""
    tests, benchmarks = _TEST.findall(row), _BENCHMARK.findall(row)
    if not tests and not benchmarks:
        return [f"names no test: {row}"]
    missing = [f"{file}::{name}" for file, name in tests if name not in names_in(folder / file)]
    return missing + [name for name in benchmarks if not (ROOT / name).is_file()]


def names_in(path: Path) -> set[str]:
    """The tests of a file, those of a class as `Class::test`."""
    if not path.is_file():
        return set()
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.ClassDef(name=name, body=body):
                functions = [part for part in body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)]
                found |= {f"{name}::{part.name}" for part in functions}
            case _:
                pass
    return found


def test_a_row_without_a_test_and_a_test_that_is_gone_are_found(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("def test_is(): ...\nclass TestB:\n    async def test_is(self): ...\n")
    row = "| fails | `test_a.py::test_is`, `test_a.py::TestB::test_is`, `test_a.py::test_was`, `test_b.py::test_is` |"
    assert problems_of(row, tmp_path) == ["test_a.py::test_was", "test_b.py::test_is"]
    assert problems_of("| fails | |", tmp_path) == ["names no test: | fails | |"]
