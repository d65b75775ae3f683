"""Colours for code that leave the code alone."""

from __future__ import annotations

import html
import re

import pytest
from pygments.lexers import get_all_lexers

from assistant.ui.transcript.cleaning import cleaned
from assistant.ui.transcript.highlighting import CODE_CLASSES, MAX_HIGHLIGHTED_CHARS, highlighted

CODE = "def f(x):\n\treturn \"<b>\" + 'é' # \\o/\n\n  $x = {1: 'a'};  @b <!-- c --> 日本 /* d */\n+ e\n- f\n"
NAMES = sorted(alias for _, aliases, _, _ in get_all_lexers() for alias in aliases[:1])


def test_every_language_leaves_the_code_as_it_is() -> None:
    for language in NAMES:
        made = highlighted(CODE, language)
        assert html.unescape(re.sub(r"</?span[^>]*>", "", made)) == CODE, language
        assert set(re.findall(r'class="([^"]*)"', made)) <= CODE_CLASSES, language
        assert html.unescape(re.sub(r"<[^>]*>", "", cleaned(f"<pre>{made}</pre>"))) == CODE, language


@pytest.mark.parametrize("language", ["", "mermaid", "no such", "x" * 100, "../etc"])
def test_an_unknown_language_has_no_colours(language: str) -> None:
    assert highlighted("a < b", language) == "a &lt; b"


def test_code_that_is_very_long_has_no_colours() -> None:
    assert "<span" not in highlighted("x = 1\n" * MAX_HIGHLIGHTED_CHARS, "python")


def test_words_of_a_language_have_a_class() -> None:
    assert highlighted("def f(): pass", "python") == (
        '<span class="t-k">def</span> <span class="t-f">f</span>(): <span class="t-k">pass</span>'
    )
