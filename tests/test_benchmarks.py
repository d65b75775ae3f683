"""Benchmarks report figures with goals, for a person and for the common table."""

from __future__ import annotations

import pytest

from benchmarks.__main__ import main
from benchmarks.figures import Figure, figure_cells, read_figures, report, table

FIGURES = (
    Figure("first page", 1.94, "CPU s", at_most=2.5),
    Figure("answers found", 0.8, at_least=0.9),
    Figure("messages", 12345),
)


def test_figures_are_a_table_for_a_person(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["benchmark"])
    assert report(FIGURES) == 1
    assert capsys.readouterr().out == (
        "first page     1.94 CPU s  at most 2.5   met\n"
        "answers found  0.8         at least 0.9  MISSED\n"
        "messages       12,345\n"
    )


def test_figures_survive_the_way_through_another_process(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["benchmark", "--json"])
    report(FIGURES)
    assert read_figures(f"some line\n{capsys.readouterr().out}") == list(FIGURES)


@pytest.mark.parametrize(
    ("figure", "is_met"),
    [
        (Figure("x", 1), True),
        (Figure("x", 1, at_most=1), True),
        (Figure("x", 1.1, at_most=1), False),
        (Figure("x", 1, at_least=1), True),
        (Figure("x", 0.9, at_least=1, at_most=2), False),
    ],
)
def test_a_goal_is_met_up_to_its_limit(figure: Figure, is_met: bool) -> None:
    assert figure.is_met is is_met


def test_a_figure_without_a_goal_gets_no_verdict() -> None:
    assert figure_cells(Figure("x", 2, "s")) == ("x", "2 s", "", "")


def test_columns_line_up() -> None:
    assert table([("a", "bb"), ("ccc", "d")]) == "a    bb\nccc  d"


def test_an_unknown_benchmark_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no-such"]) == 2
    assert "no-such" in capsys.readouterr().err
