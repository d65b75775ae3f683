"""What the page's script gathers is read, and nothing else is."""

from __future__ import annotations

import pytest

from assistant.ui.form import Form, read_form


def test_words_and_ticks_of_a_card_are_read() -> None:
    gathered = '{"target": "abc", "text": "tea\\nand 咖啡", "ticks": ["0", "2"]}'
    assert read_form(gathered) == Form("abc", "tea\nand 咖啡", frozenset({"0", "2"}))


@pytest.mark.parametrize("gathered", ["", "abc", "[]", '{"ticks": 3}', "null"])
def test_whatever_else_comes_is_an_empty_form(gathered: str) -> None:
    assert read_form(gathered) == Form()
