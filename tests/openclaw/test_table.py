"""The table of rules holds: every rule has its row."""

from __future__ import annotations

import re
from pathlib import Path

ROW = re.compile(r"^\| ([RD]\d+) \| .* \| `test_\w+\.py::test_\w+` \|$", re.MULTILINE)


def test_every_rule_has_a_row() -> None:
    rules = ROW.findall((Path(__file__).parent / "README.md").read_text("utf-8"))
    assert rules == [f"R{at}" for at in range(1, 45)] + [f"D{at}" for at in range(1, 35)]
