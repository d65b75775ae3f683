"""Which tests a change touches: those that import the changed modules, the nearest first."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import PurePosixPath

from tests.source_files import ROOT, text_files

HUBS = ("assistant/assembly/", "assistant/cli/", "assistant/ui/page.py", "assistant/ui/people.py", "app.py")
"""They put everything together: who imports them is not touched by a change of what they import."""
ALWAYS = ("tests/test_imports.py", "tests/test_house_rules.py")
"""Every change can break the rules on the shape of the code."""
_IMPORT = re.compile(r"^ *from ((?:assistant|benchmarks|tests)[\w.]*) import (.*)$", re.MULTILINE)


def changed_files(base: str = "main") -> list[str]:
    """Files that differ from where this branch left `base`, and those that Git does not know yet."""
    start = _git("merge-base", "HEAD", base)[:1] or ["HEAD"]
    names = [*_git("diff", "--name-only", *start), *_git("ls-files", "--others", "--exclude-standard")]
    return sorted({name for name in names if (ROOT / name).is_file()})


def touched_tests(changed: Iterable[str]) -> list[str]:
    """Test files that the changed files touch, the nearest first; those of the same name come before all others."""
    files, importers = _files(), _importers()
    names = list(changed)
    level = [name for name in names if name in files] + [name for file in names for name in _readers(file, files)]
    steps, first = dict.fromkeys(level, 0), frozenset(level)
    for step in range(1, len(files)):
        level = [
            importer
            for name in level
            if name in first or not name.startswith(HUBS)
            for importer in sorted(importers[name])
        ]
        level = list(dict.fromkeys(name for name in level if name not in steps))
        if not level:
            break
        steps |= dict.fromkeys(level, step)
    steps |= {mirror: -1 for name in names for mirror in _mirrors(name, files)}
    found = sorted((name for name in steps if _is_test(name)), key=lambda name: (steps[name], name))
    return [*ALWAYS, *(name for name in found if name not in ALWAYS)]


def direct_importers(changed: Iterable[str]) -> list[str]:
    """The changed Python files and the files that import one of them."""
    files, importers = _files(), _importers()
    names = [name for name in changed if name in files]
    return sorted({*names, *(importer for name in names for importer in importers[name])})


@cache
def _files() -> Mapping[str, str]:
    return {name: text for name, text in text_files().items() if name.endswith(".py")}


@cache
def _importers() -> Mapping[str, set[str]]:
    """The files that import a file, by its name."""
    files = _files()
    importers: defaultdict[str, set[str]] = defaultdict(set)
    for importer, text in files.items():
        for module, values in _IMPORT.findall(text):
            folder = module.replace(".", "/")
            # What is imported is a value of the module, or itself a module of the package.
            modules = [f"{folder}/{name}.py" for name in re.findall(r"\w+", values)]
            for name in (f"{folder}.py", *modules):
                if name in files and name != importer:
                    importers[name].add(importer)
    return importers


def _readers(name: str, files: Mapping[str, str]) -> list[str]:
    """The modules that name a data file, as code that reads it does."""
    path = PurePosixPath(name)
    if path.suffix == ".py":
        return []
    literals = {f'"{word}"' for word in (path.name, path.stem)}
    return [reader for reader, text in files.items() if any(literal in text for literal in literals)]


def _mirrors(name: str, files: Mapping[str, str]) -> list[str]:
    """The test file of a module; where it has none, those of its folder."""
    path = PurePosixPath(name)
    if path.parts[0] != "assistant" or path.suffix != ".py":
        return []
    folder = PurePosixPath("tests", *path.parts[1:-1])
    own = str(folder / f"test_{path.name}")
    return (
        [own] if own in files else [test for test in files if _is_test(test) and PurePosixPath(test).parent == folder]
    )


def _is_test(name: str) -> bool:
    path = PurePosixPath(name)
    return path.parts[0] == "tests" and path.name.startswith("test_") and path.parts[1] != "browser"


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []
