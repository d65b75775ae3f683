"""One name, one thing: no file and no public class of the package is called like another."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable

from tests.source_files import python_files

PACKAGE = python_files("assistant")
# Python itself gives these names their meaning in every folder.
MANY = {"__init__.py", "__main__.py"}


def twice(named: Iterable[tuple[str, str]]) -> str:
    """Each name that stands for several things, with these, one a line."""
    things: dict[str, list[str]] = defaultdict(list)
    for name, thing in named:
        things[name].append(thing)
    return "\n".join(f"{name}: {', '.join(several)}" for name, several in things.items() if len(several) > 1)


def test_no_two_files_of_the_package_have_one_name() -> None:
    names = ((file.name.rpartition("/")[2], file.name) for file in PACKAGE)
    assert twice((name, path) for name, path in names if name not in MANY) == ""


def test_no_two_public_classes_of_the_package_have_one_name() -> None:
    classes = (
        (node.name, f"{file.name}:{node.lineno}")
        for file in PACKAGE
        for node in ast.walk(file.tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert twice(classes) == ""


def test_a_name_that_stands_for_two_things_is_found() -> None:
    assert twice([("one.py", "a/one.py"), ("two.py", "a/two.py"), ("one.py", "b/one.py")]) == (
        "one.py: a/one.py, b/one.py"
    )
