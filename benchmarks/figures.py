"""What a benchmark measured, and how it is shown: a table for a person, lines of JSON for `python -m benchmarks`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value; `at_most` and `at_least` are its goals where it has any."""

    name: str
    value: float
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None

    @property
    def is_met(self) -> bool:
        """True when the value keeps every goal it has."""
        is_low_enough = self.at_most is None or self.value <= self.at_most
        return is_low_enough and (self.at_least is None or self.value >= self.at_least)

    @property
    def goal(self) -> str:
        """The goals in words; empty where there are none."""
        goals = (("at most", self.at_most), ("at least", self.at_least))
        return " and ".join(f"{words} {limit:,g}" for words, limit in goals if limit is not None)


def report(figures: Sequence[Figure]) -> int:
    """Print the figures, as JSON with `--json`; the exit code is 1 when a goal is missed."""
    if "--json" in sys.argv[1:]:
        for figure in figures:
            print(json.dumps({"figure": asdict(figure)}, ensure_ascii=False))
    else:
        print(table([figure_cells(figure) for figure in figures]))
    return 0 if all(figure.is_met for figure in figures) else 1


def read_figures(output: str) -> list[Figure]:
    """The figures among the lines that a script printed."""
    found: list[Figure] = []
    for line in output.splitlines():
        if line.startswith('{"figure": '):
            found.append(Figure(**json.loads(line)["figure"]))
    return found


def figure_cells(figure: Figure) -> tuple[str, ...]:
    """A figure as the cells of one row."""
    verdict = "" if not figure.goal else "met" if figure.is_met else "MISSED"
    return (figure.name, f"{figure.value:,.6g} {figure.unit}".strip(), figure.goal, verdict)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of equal length as columns that line up."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
