"""Text on one line, and text in which nothing hides."""

from __future__ import annotations

from assistant.ui.safe_text import one_line


def test_a_long_text_is_cut_to_one_line() -> None:
    assert one_line("a\n  b   c", 10) == "a b c"
    assert one_line("abcdefgh ijkl", 10) == "abcdefgh…"
