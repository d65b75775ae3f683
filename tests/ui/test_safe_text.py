"""Whatever a text holds, as Markdown it makes no HTML and no image; code stays exact where that is safe."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from assistant.ui.safe_text import one_line, safe_markdown

GAP = "\u200b"
PIECES = (
    "<img src=x onerror=y>",
    "<div>",
    "</b>",
    "<!-- c -->",
    "<?php ?>",
    "![a](http://h/x.png)",
    "![a][r]",
    "[r]: http://h/x.png",
    '[r]: /u "title',
    "<http://h/x>",
    "```",
    "````",
    "~~~",
    "~~~ `x",
    "   ```",
    "    ```",
    "- ```",
    "> ```",
    "`code`",
    "`",
    "text",
    "- item",
    "  ",
    "\t",
    "",
    "$$",
    "1. one",
    '"',
)


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("a <b>bold</b> c", f"a <{GAP}b>bold<{GAP}/b> c"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("![cat](http://evil.example/c.png?q=1)", "[image: cat — evil.example](http://evil.example/c.png?q=1)"),
        ('![](data:image/png;base64,AA "t")', "[image: image](data:image/png;base64,AA)"),
        ("![a][ref]", f"!{GAP}[a][ref]"),
        ("see <https://example.org/a>", "see https://example.org/a"),
        ("```html\n<b>x</b>\n```", "```html\n<b>x</b>\n```"),
        ("```html\n<b>x</b>\n```\n<i>", f"```html\n<b>x</b>\n```\n<{GAP}i>"),
        ("```\n<b>\n````\n<i>", f"```\n<b>\n````\n<{GAP}i>"),
        ("- a\n  ```\n- b\n<i>", f"- a\n  ```\n- b\n<{GAP}i>"),
        ("~~~ `x\n~~~\n<i>\n~~~", f"~~~ `x\n~~~\n<{GAP}i>\n~~~"),
        ('[a]: /u "\n```\n"\n<i>\n```', f'[a]: /u "\n```\n"\n<{GAP}i>\n```'),
        ("$$a < b <c$$\n```\n<i>\n```", f"$$a < b \\lt c$$\n```\n<{GAP}i>\n```"),
        ("`<b>`", f"`<{GAP}b>`"),
        ("a\r\n<b>", f"a\n<{GAP}b>"),
    ],
)
def test_a_text_becomes_harmless(text: str, safe: str) -> None:
    assert safe_markdown(text) == safe


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.lists(st.sampled_from(("\n", "\n\n", " ", "")), max_size=12))
def test_no_parser_finds_html_or_an_image_in_it(pieces: list[str], joints: list[str]) -> None:
    text = "".join(piece + (joints[index] if index < len(joints) else "\n") for index, piece in enumerate(pieces))
    assert risky_tokens(safe_markdown(text)) == []


@given(st.text(alphabet=st.sampled_from("<>!`~[]()/a b\n\t-:\"'$?"), max_size=80))
def test_no_parser_finds_html_or_an_image_in_any_text(text: str) -> None:
    assert risky_tokens(safe_markdown(text)) == []


@given(st.text(max_size=60))
def test_a_text_without_tags_is_only_trimmed(text: str) -> None:
    plain = text.replace("<", "").replace("!", "").replace("\r", "").replace("\t", " ")
    assert safe_markdown(plain).split() == plain.split()


def test_a_long_text_is_cut_to_one_line() -> None:
    assert one_line("a\n  b   c", 10) == "a b c"
    assert one_line("abcdefgh ijkl", 10) == "abcdefgh…"


def risky_tokens(markdown: str) -> list[str]:
    """The kinds of HTML and images that a CommonMark parser finds."""
    found: list[str] = []
    for token in MarkdownIt("commonmark").parse(markdown):
        kinds = [token.type, *(child.type for child in token.children or [])]
        found += [kind for kind in kinds if kind in ("html_block", "html_inline", "image")]
    return found
