"""No half of a mark is seen while a text is being written."""

from __future__ import annotations

import pytest

from assistant.ui.transcript.half_written import closed


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Here is **a bold stateme", "Here is **a bold stateme**"),
        ("Here is **a bold statement*", "Here is **a bold statement**"),
        ("Here is **", "Here is "),
        ("`some c", "`some c`"),
        ("``a ` b", "``a ` b``"),
        ("***both", "***both***"),
        ("**a *b", "**a *b***"),
        ("*a* and ~~b", "*a* and ~~b~~"),
        ("2 * 3", "2 * 3"),
        ("snake_case", "snake_case"),
        ("- **a**\n- **b", "- **a**\n- **b**"),
        ("**open for good\n\nnext", "**open for good\n\nnext"),
        ("**a ", "**a**"),
        ("a [link](http://x", "a link"),
        ("a [1] b", "a [1] b"),
        (r"so \(a^2", "so "),
        ("text\n\n$$\na\n\nb", "text\n\n"),
        ("$$\na\n$$\nb", "$$\na\n$$\nb"),
        (r"\*a", r"\*a"),
        ("", ""),
    ],
)
def test_an_open_mark_is_closed_for_the_eye(text: str, shown: str) -> None:
    assert closed(text) == shown
