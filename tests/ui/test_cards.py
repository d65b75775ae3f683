"""Cards hold what they are given and nothing it could turn into."""

from __future__ import annotations

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.ui.cards import ASSETS, TOKEN, action, asset, card, fold_name, short_tokens


@given(st.text(max_size=60))
def test_a_value_makes_no_tag_no_new_line_and_no_template(text: str) -> None:
    html = card("notice", text=text, level="info")
    inside = html.removeprefix(card("notice", text="", level="info").removesuffix("</span></div>"))
    value = inside.removesuffix("</span></div>")
    assert not re.search(r"[<>\n$`{}\\]", value)


def test_a_card_is_one_line_even_around_a_long_value() -> None:
    assert "\n" not in card("command", text="a\n\nb\n")
    assert "a&#10;&#10;b" in card("command", text="a\n\nb\n")


def test_a_button_says_what_it_does_under_a_name_of_this_process_only() -> None:
    name, do = action("open-file", "memory/2026-11-30.md").split()
    assert name == TOKEN
    prefix, what, coded = do.split("--")
    assert (prefix, what) == (f"{TOKEN}-do", "open-file")
    assert base64.urlsafe_b64decode(coded + "=" * (-len(coded) % 4)).decode() == "memory/2026-11-30.md"


def test_a_name_of_anything_stays_one_class() -> None:
    assert len(fold_name('tool:" onclick=x <b> 税').split()) == 1


def test_assets_know_the_token_and_ask_nobody_outside() -> None:
    for path in (*ASSETS.glob("*.css"), *ASSETS.glob("*.js")):
        text = asset(path.name)
        assert (TOKEN in text) == ("__TOKEN__" in path.read_text("utf-8"))
        assert "__TOKEN__" not in text
        assert not re.search(r"(https?:)?//[a-z0-9.-]+\.[a-z]{2,}", text)


def test_type_space_and_colour_are_written_once() -> None:
    sizes = re.compile(r"font-size: (?!var\(--p-(?:tiny|small|read|title|display)\)|inherit|0|\.\d+em|1\.08em)[^;]+")
    spaces = re.compile(r"\b(?:padding|margin|gap)(?:-[a-z-]+)?: [^;]*?\b(?:[5-9]|[1-9]\d+)px[^;]*")
    colours = re.compile(r"#[0-9a-f]{6}\b|#[0-9a-f]{3}\b|rgb\(")
    for path in ASSETS.glob("*.css"):
        text = path.read_text("utf-8")
        if path.name != "tokens.css":
            assert [found for kind in (sizes, spaces, colours) for found in kind.findall(text)] == [], path.name


@pytest.mark.parametrize(
    ("tokens", "text"),
    [(0, "0"), (930, "930"), (1000, "1k"), (12_430, "12.4k"), (128_000, "128k"), (1_048_576, "1049k")],
)
def test_tokens_are_short(tokens: int, text: str) -> None:
    assert short_tokens(tokens) == text
