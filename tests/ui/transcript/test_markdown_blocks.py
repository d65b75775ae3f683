"""Markdown as the page draws it."""

from __future__ import annotations

import html
import re

import pytest

from assistant.ui.transcript.markdown_blocks import MAX_INLINE_CHARS, MAX_TEXT_CHARS, linked_words, render_markdown

LINK = 'target="_blank" rel="noopener noreferrer"'


def drawn(text: str) -> str:
    """The HTML of all blocks."""
    return "".join(block.html for block in render_markdown(text))


def words_of(made: str) -> str:
    """What a reader sees of HTML."""
    return html.unescape(re.sub(r"<[^>]*>", "", made))


@pytest.mark.parametrize(
    ("text", "made"),
    [
        pytest.param("# Title", "<h3>Title</h3>", id="heading"),
        pytest.param("###### Small", "<h6>Small</h6>", id="smallest-heading"),
        pytest.param("a **b** *c* ~~d~~", "<p>a <strong>b</strong> <em>c</em> <s>d</s></p>\n", id="emphasis"),
        pytest.param("one\ntwo", "<p>one<br>\ntwo</p>\n", id="line-break"),
        pytest.param("`List<String>`", "<p><code>List&lt;String&gt;</code></p>\n", id="inline-code"),
        pytest.param("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>\n", id="html-is-text"),
        pytest.param("<div onclick=x>\ny", "<p>&lt;div onclick=x&gt;<br>\ny</p>\n", id="html-block-is-text"),
        pytest.param("3. c\n4. d", '<ol start="3">\n<li>c</li>\n<li>d</li>\n</ol>\n', id="numbered-from-three"),
        pytest.param("[a](https://x.org/b)", f'<p><a href="https://x.org/b" {LINK}>a</a></p>\n', id="link"),
        pytest.param("[a](USER.md)", "<p><span>a</span></p>\n", id="link-to-nowhere-outside"),
        pytest.param("[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>\n", id="script-link"),
        pytest.param(
            "see https://x.org/a_(b).",
            f'<p>see <a href="https://x.org/a_(b)" {LINK}>https://x.org/a_(b)</a>.</p>\n',
            id="address",
        ),
        pytest.param(
            "![cat](https://x.org/c.png)",
            f'<p><a href="https://x.org/c.png" {LINK}>[image: cat — x.org]</a></p>\n',
            id="image-is-a-link",
        ),
        pytest.param("![cat](data:image/png;base64,x)", "<p>[image: cat]</p>\n", id="image-of-no-address"),
        pytest.param(
            "- [ ] a\n- [x] b",
            '<ul>\n<li class="m-task"><span class="m-box" role="img" aria-label="to do"></span> a</li>\n'
            '<li class="m-task"><span class="m-box m-done" role="img" aria-label="done"></span> b</li>\n</ul>\n',
            id="task-boxes",
        ),
        pytest.param(
            "$e^{2}$",
            "<p>"
            + '<math display="inline"><mrow><msup><mi>e</mi><mrow><mn>2</mn></mrow></msup></mrow></math>'
            + "</p>\n",
            id="formula",
        ),
        pytest.param(
            r"$\frac{1}$", '<p><code class="m-source">$\\frac{1}$</code></p>\n', id="formula-that-cannot-be-drawn"
        ),
        pytest.param("$5 and $10", "<p>$5 and $10</p>\n", id="prices"),
    ],
)
def test_text_is_drawn(text: str, made: str) -> None:
    assert drawn(text) == made


def test_a_table_keeps_its_alignment_and_scrolls_by_itself() -> None:
    made = drawn("| a | b | c |\n|:--|--:|:-:|\n| 1 | 2 | 3 |")
    assert made.startswith('<div class="m-table" tabindex="0" role="region" aria-label="Table"><table>')
    assert re.findall(r"<td([^>]*)>(\d)</td>", made) == [
        (' align="left"', "1"),
        (' align="right"', "2"),
        (' align="center"', "3"),
    ]


@pytest.mark.parametrize("language", ["cpp", "c++", "mermaid", "", "no-such-language", "<b>", "python"])
@pytest.mark.parametrize("code", ["int x;", "<div class='a'>\n\t<b>\n\n  x", "graph TD", "  indented\n"], ids=repr)
def test_code_is_exactly_what_was_written(language: str, code: str) -> None:
    made = drawn(f"before\n\n```{language}\n{code}\n```\n\nafter")
    body = re.search(r"<code>(.*)</code></pre></figure>", made, re.DOTALL)
    assert body is not None
    assert words_of(body[1]) == code
    assert words_of(made).startswith("before")
    assert words_of(made).endswith("after\n")


@pytest.mark.parametrize(
    "text",
    [
        '1. Make:\n   ```html\n   <div class="a"><b>\n   ```',
        '> ~~~html\n> <div class="a"><b>\n> ~~~',
        '$$x^2$$\n\n```html\n<div class="a"><b>\n```',
    ],
    ids=["in-a-list", "in-a-quote", "beside-a-formula"],
)
def test_code_anywhere_holds_no_character_that_was_not_written(text: str) -> None:
    made = drawn(text)
    assert '<div class="a"><b>' in words_of(made)
    assert "\u200b" not in made


def test_blocks_say_which_lines_they_are() -> None:
    blocks = render_markdown("# a\n\nb\nb\n\n- c\n")
    assert [(block.start, block.end) for block in blocks] == [(0, 1), (2, 4), (5, 6)]


@pytest.mark.parametrize(
    "text",
    [
        "> " * 500 + "deep",
        "\n".join("  " * depth + "- item" for depth in range(300)),
        "[" * 20_000,
        "[a](" * 10_000,
        "![[]()" * 10_000,
        "**a *b " * 8_000,
        "`a``b" * 8_000,
        "|" * (MAX_INLINE_CHARS + 1) + "\n|-|",
        "x" * (MAX_TEXT_CHARS + 1),
        "\\[" * 9_000,
        "$a " * 9_000,
        "<a " * 9_000,
    ],
    ids=lambda text: text[:12],
)
@pytest.mark.timeout(20)
def test_a_knot_is_shown_as_it_was_written(text: str) -> None:
    letters = re.sub(r"[\s>*`\\-]", "", text)
    assert re.sub(r"[\s>*`\\-]", "", words_of(drawn(text))) == letters


def test_a_table_of_200_columns_is_a_table() -> None:
    row = "|" + "|".join(str(number) for number in range(200)) + "|"
    assert drawn(f"{row}\n{'|-' * 200}|\n{row}").count("<td>") == 200


def test_ten_thousand_lines_of_code_are_code() -> None:
    code = "\n".join(f"line {number}" for number in range(10_000))
    assert drawn(f"```python\n{code}\n```").count("\n") == 9_999


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("plain <b>", "plain &lt;b&gt;"),
        ("(https://x.org)", f'(<a href="https://x.org" {LINK[:15]}>https://x.org</a>)'),
        ("https://", "https://"),
        ("https://[x", "https://[x"),
        ("中文https://x.org。后面", f'中文<a href="https://x.org" {LINK[:15]}>https://x.org</a>。后面'),
    ],
)
def test_addresses_in_plain_words_are_links(text: str, made: str) -> None:
    assert linked_words(text) == made
