"""What is a formula, what is money, and what is drawn."""

from __future__ import annotations

import pytest

from assistant.ui.transcript.formulas import MAX_FORMULA_CHARS, formula_html
from assistant.ui.transcript.markdown_blocks import render_markdown


def formulas_in(text: str) -> int:
    """How many formulas are found, drawn or shown as source."""
    made = "".join(block.html for block in render_markdown(text))
    return made.count("<math") + made.count("m-source")


@pytest.mark.parametrize(
    "text",
    [
        r"$e^{i\pi}$",
        r"$x$",
        r"so $a+b$, and",
        r"\(a^2\)",
        r"\[ x = \frac{1}{2} \]",
        "$$x^2$$",
        "$$\na\n\n+ b\n$$",
        "\\[\na\n- b\n\\]",
        "- item\n\n  $$\n  x\n  $$",
        r"text $$y$$ text",
        r"$\text{speed} = v$",
    ],
)
def test_each_way_of_writing_a_formula_is_found(text: str) -> None:
    assert formulas_in(text) == 1


@pytest.mark.parametrize(
    "text",
    [
        "$5 and $10",
        "from $5 to 10$ each",
        "US$5 and US$6",
        "it costs $5, not $ 6",
        "$20k-$30k",
        "$HOME and $PATH",
        "`$x$`",
        r"\$x\$",
        "$",
        "$$",
        "$ x $",
        "a$b$c",
        r"\\(a\\)",
        "```\n$x$\n```",
    ],
)
def test_money_names_and_code_are_no_formulas(text: str) -> None:
    assert formulas_in(text) == 0


@pytest.mark.parametrize(
    "source",
    [
        r"\frac",
        r"\frac{1}",
        "x^",
        "x_1_2",
        "{",
        "}",
        r"\foo",
        r"\left(",
        r"\begin{nothing}x\end{nothing}",
        r"\newcommand{\a}{\a\a}\a",
        "{" * 100 + "x" + "}" * 100,
        "x" * (MAX_FORMULA_CHARS + 1),
        "",
        "\\",
    ],
    ids=lambda source: source[:20],
)
def test_what_cannot_be_drawn_is_not(source: str) -> None:
    assert formula_html(source, is_block=True) is None


@pytest.mark.parametrize(
    ("source", "part"),
    [
        (r"\sqrt[3]{x}", "<mroot>"),
        (r"\begin{pmatrix}a&b\\c&d\end{pmatrix}", "<mtable>"),
        (r"\begin{aligned}a&=b\\c&=d\end{aligned}", "<mtable"),
        (r"\begin{cases}1&x\\2&y\end{cases}", "<mtable"),
        (r"\sum_{i=1}^{n} i", "<munderover>"),
        (r"\{a\}", "{"),
        (r"a < b", "&lt;"),
        (r"\text{<img src=x>}", "&lt;img"),
        ("漢字", "漢"),
    ],
)
def test_what_can_be_drawn_is_mathml(source: str, part: str) -> None:
    made = formula_html(source, is_block=True)
    assert made is not None
    assert made.startswith('<math display="block">')
    assert part in made
