"""CPU seconds from `python app.py` to the first answered page and to the first answer, and what imports cost.

Wall time on a shared machine says little, so the CPU time of the process and its children is taken. `--home HOME`
compares a copy of a home of many years with a new one instead.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from benchmarks.figures import Figure, report
from benchmarks.opened_page import ROOT, OpenedPage, installed_environment, opened_page

PAGE_GOAL_SECONDS = 2.5
ANSWER_GOAL_SECONDS = 5.0
GROWTH_GOAL = 1.3
LIST_GOAL_SECONDS = 1.0
_RUNS = 3


@dataclass(frozen=True, slots=True)
class HomeCosts:
    """What a home costs: CPU seconds of two commands, and its page."""

    once_seconds: float
    sessions_seconds: float
    page: OpenedPage


def main() -> int:
    """Start the page three times and report the best; an idle start shows what the program itself costs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, help="a home of many years, of which a copy is opened")
    parser.add_argument("--json", action="store_true")
    home: Path | None = parser.parse_args().home
    return report(start_figures() if home is None else growth_figures(home))


def start_figures() -> list[Figure]:
    """What a new home costs, and what imports do."""
    with tempfile.TemporaryDirectory() as folder:
        page = _best_page([Path(folder) / str(run) for run in range(_RUNS)])
    return [
        Figure("to the first answered page", page.page_seconds, "CPU s", at_most=PAGE_GOAL_SECONDS),
        Figure("to the first answer", page.answer_seconds, "CPU s", at_most=ANSWER_GOAL_SECONDS),
        Figure("memory after the first answer", page.resident_mib, "MiB", at_most=350.0),
        Figure(
            "import gradio", import_seconds("from assistant.ui.page import import_gradio; import_gradio()"), "CPU s"
        ),
        Figure("import the agent", import_seconds("import assistant.assembly.assistant"), "CPU s"),
    ]


def growth_figures(home: Path) -> list[Figure]:
    """What the years add: each figure of a copy of `home` that was listed once, beside that of a new home."""
    with tempfile.TemporaryDirectory() as folder:
        new, old = Path(folder) / "new", Path(folder) / "old"
        shutil.copytree(home, old, symlinks=True)
        # In a copy every file looks otherwise than in what was kept, so this reads all of them.
        first_seconds = _command_seconds(old, "sessions")
        base, costs = _costs_of(new), _costs_of(old)
    return [
        Figure("list of a copied home, the first time", first_seconds, "CPU s"),
        *_compared("sessions", base.sessions_seconds, costs.sessions_seconds),
        *_compared("chat --once", base.once_seconds, costs.once_seconds),
        *_compared("to the first answer of the page", base.page.answer_seconds, costs.page.answer_seconds),
        Figure("list after the page, new home", base.page.list_seconds, "s"),
        Figure("list after the page, years", costs.page.list_seconds, "s", at_most=LIST_GOAL_SECONDS),
        Figure("memory after the first answer, new home", base.page.resident_mib, "MiB"),
        Figure("memory after the first answer, years", costs.page.resident_mib, "MiB"),
    ]


def import_seconds(statement: str) -> float:
    """CPU seconds of a new interpreter that carries out one statement, less those of one that does nothing."""
    return _child_cpu_seconds("-c", statement) - _child_cpu_seconds("-c", "pass")


def _compared(name: str, new_seconds: float, old_seconds: float) -> list[Figure]:
    return [
        Figure(f"{name}, new home", new_seconds, "CPU s"),
        Figure(f"{name}, years", old_seconds, "CPU s"),
        Figure(f"{name}, growth", old_seconds / new_seconds, "times", at_most=GROWTH_GOAL),
    ]


def _costs_of(home: Path) -> HomeCosts:
    return HomeCosts(
        once_seconds=min(_command_seconds(home, "chat", "--once", "Who are you?") for _ in range(_RUNS)),
        sessions_seconds=min(_command_seconds(home, "sessions") for _ in range(_RUNS)),
        page=_best_page([home] * _RUNS),
    )


def _best_page(homes: Sequence[Path]) -> OpenedPage:
    pages = [opened_page(home) for home in homes]
    return OpenedPage(
        page_seconds=min(page.page_seconds for page in pages),
        answer_seconds=min(page.answer_seconds for page in pages),
        list_seconds=min(page.list_seconds for page in pages),
        resident_mib=min(page.resident_mib for page in pages),
    )


def _command_seconds(home: Path, *arguments: str) -> float:
    environment = {"PALIMPSEST_HOME": str(home), "PALIMPSEST_PROVIDER": "offline"}
    return _child_cpu_seconds("-m", "assistant", *arguments, environment=environment)


def _child_cpu_seconds(*arguments: str, environment: Mapping[str, str] = MappingProxyType({})) -> float:
    """CPU seconds of a new interpreter with these arguments and these additions to the environment."""
    before = os.times()
    subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=installed_environment() | dict(environment),
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    after = os.times()
    return (after.children_user - before.children_user) + (after.children_system - before.children_system)


if __name__ == "__main__":
    sys.exit(main())
