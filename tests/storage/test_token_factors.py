"""How a model counts is kept for it, and a broken file holds nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.storage.token_factors import TokenFactors

MODEL, OTHER = "a-7b at http://127.0.0.1:1/v1", "a-7b at http://127.0.0.1:2/v1"


def factors(home: Path) -> TokenFactors:
    """Those of a home, read by another start of the program."""
    return TokenFactors(home / "token_factors.json")


def test_a_factor_is_kept_for_its_model_and_address(home: Path) -> None:
    factors(home).keep(MODEL, 1.37)
    assert (factors(home).of(MODEL), factors(home).of(OTHER)) == (1.37, 1.0)
    factors(home).keep(MODEL, 1.371)
    assert factors(home).of(MODEL) == 1.37


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 2, "factors": {}}', '{"factors": {"a": "b"}}'])
def test_a_file_that_cannot_be_read_holds_nothing_and_is_written_anew(home: Path, content: str) -> None:
    home.mkdir()
    (home / "token_factors.json").write_text(content, encoding="utf-8")
    before = factors(home).of(MODEL)
    factors(home).keep(MODEL, 2.0)
    assert (before, factors(home).of(MODEL)) == (1.0, 2.0)


def test_a_home_that_cannot_be_written_stops_nobody(home: Path) -> None:
    home.write_text("no folder", encoding="utf-8")
    factors(home).keep(MODEL, 2.0)
    assert factors(home).of(MODEL) == 1.0
