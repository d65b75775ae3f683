"""The table of rules and tests holds: every rule has its row, every test in it exists."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
ROW = re.compile(r"^\| ([RD]\d+) \| .* \| `(test_\w+\.py)::(test_\w+)` \|$", re.MULTILINE)


def test_every_rule_has_a_row_and_every_test_named_there_exists() -> None:
    rows = ROW.findall((HERE / "README.md").read_text("utf-8"))
    assert [rule for rule, _, _ in rows] == [f"R{at}" for at in range(1, 45)] + [f"D{at}" for at in range(1, 35)]
    missing = [name for _, file, name in rows if f"def {name}(" not in (HERE / file).read_text("utf-8")]
    assert missing == []
