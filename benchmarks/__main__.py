"""Run every benchmark, or those named, and print one table: `python -m benchmarks [NAME ...]`."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import Figure, figure_cells, read_figures, table

FOLDER = Path(__file__).parent
# These serve the scripts and measure nothing.
NOT_SCRIPTS = ("__init__", "__main__", "figures", "icons", "notebook", "opened_page", "pictures", "readme_picture")


def script_names() -> list[str]:
    """Every benchmark there is."""
    return sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in NOT_SCRIPTS)


def run_script(name: str) -> list[tuple[str, ...]]:
    """Run one benchmark in a process of its own; its rows of the table, the first one saying how it ended."""
    started = time.monotonic()
    finished = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}", "--json"],
        cwd=FOLDER.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )
    figures = read_figures(finished.stdout)
    missed = sum(not figure.is_met for figure in figures)
    is_broken = finished.returncode != 0 and not missed
    ending = f"exit code {finished.returncode}" if is_broken else f"{missed} missed" if missed else "done"
    took = Figure("seconds in all", time.monotonic() - started)
    first = (name, *figure_cells(took)[:2], "", "FAILED" if is_broken else ending)
    return [first, *(("", *figure_cells(figure)) for figure in figures)]


def main(names: Sequence[str]) -> int:
    """Run and print; the exit code is 1 when a script failed or missed a goal, 2 for an unknown name."""
    known = script_names()
    if unknown := sorted(set(names) - set(known)):
        print(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    rows: list[tuple[str, ...]] = []
    for name in names or known:
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows += run_script(name)
    header = ("benchmark", "figure", "value", "goal", "")
    print(table([header, *rows]))
    return 0 if all(row[-1] in ("", "met", "done") for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
