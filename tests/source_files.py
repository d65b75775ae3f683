"""The project's own files as the tests on its shape read them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
_TEXT_SUFFIXES = {".py", ".j2", ".md", ".toml", ".txt", ".js", ".css", ".html", ".yml", ""}
_FOLDERS = ("assistant", "benchmarks", "docs", "prompts", "tests", "working_dir_template", ".ci", ".github")


@dataclass(frozen=True, slots=True, eq=False)
class SourceFile:
    """A Python file: its path from the top with forward slashes, its text and its syntax tree."""

    name: str
    text: str
    tree: ast.Module


@cache
def python_files(*folders: str) -> list[SourceFile]:
    """Every Python file under `folders` (a file name stands for itself), sorted."""
    paths: list[Path] = []
    for folder in folders:
        place = ROOT / folder
        paths += sorted(place.rglob("*.py")) if place.is_dir() else [place] if place.is_file() else []
    return [_source_file(path) for path in paths]


@cache
def _source_file(path: Path) -> SourceFile:
    name, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    return SourceFile(name, text, ast.parse(text, name))


def text_files() -> dict[str, str]:
    """Every text file of the project by its path from the top; data of the tests left out."""
    paths = [path for path in ROOT.iterdir() if path.is_file()]
    for folder in _FOLDERS:
        paths += [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    names = {path.relative_to(ROOT).as_posix(): path for path in sorted(paths)}
    return {
        name: path.read_text(encoding="utf-8")
        for name, path in names.items()
        if path.suffix in _TEXT_SUFFIXES
        and "__pycache__" not in name
        and not name.startswith("tests/data/")
        and name != ".git"
    }
