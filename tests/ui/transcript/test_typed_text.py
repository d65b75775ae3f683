"""The person's own words."""

from __future__ import annotations

import pytest

from assistant.ui.transcript.typed_text import LONG_CHARS, LONG_LINES, typed_html

LINK = 'target="_blank" rel="noopener noreferrer"'


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("# not a heading", '<div class="m-typed"># not a heading</div>'),
        ("- **a**\n\n  b", '<div class="m-typed">- **a**\n\n  b</div>'),
        ("List<String>", '<div class="m-typed">List&lt;String&gt;</div>'),
        ("see https://x.org.", f'<div class="m-typed">see <a href="https://x.org" {LINK}>https://x.org</a>.</div>'),
        (
            "look\n```c\nint x;\n```\nhere",
            '<div class="m-typed">look</div><figure data-language="c"><pre><code><span class="t-k">int</span> x;'
            '</code></pre></figure><div class="m-typed">here</div>',
        ),
        ("```\nnever closed", '<div class="m-typed">```\nnever closed</div>'),
        ("a ``` b", '<div class="m-typed">a ``` b</div>'),
        ("a\r\nb\ud800", '<div class="m-typed">a\nb\ufffd</div>'),
    ],
)
def test_words_are_shown_as_they_were_typed(text: str, made: str) -> None:
    assert typed_html(text) == made


@pytest.mark.parametrize("text", ["x" * (LONG_CHARS + 1), "x\n" * (LONG_LINES + 1)], ids=["characters", "lines"])
def test_a_long_text_has_a_box_of_its_own(text: str) -> None:
    assert typed_html(text).startswith('<div class="m-long" tabindex="0"')


@pytest.mark.timeout(20)
def test_a_paste_of_200_kilobytes_is_shown_whole() -> None:
    assert typed_html("word <b>\n" * 22_000).count("word &lt;b&gt;") == 22_000
