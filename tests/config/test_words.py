"""The tables of sentences: in the language that is set, each used, each filled in with what it needs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from string import Formatter

import pytest

from assistant.config.words import LANGUAGES, Language, read_table, say, sentence, speak, spoken_language
from tests.source_files import ROOT, SourceFile, python_files

ASSETS = ROOT / "assistant" / "ui" / "assets"
TEMPLATES = sorted(file.name for file in ASSETS.glob("*.html"))
SCRIPTS = sorted(file.name for file in ASSETS.glob("*.js"))

PACKAGE = python_files("assistant")
TABLES = sorted(path.stem for path in (ROOT / "prompts" / "en").glob("*.toml"))
# Records, not sentences: whole tables are read into values.
READ_WHOLE = {"calibration", "offline", "show_story"}


def test_the_program_speaks_english_until_it_is_told_otherwise() -> None:
    assert (spoken_language(), say("memory", "lines", count=3)) == ("en", "3 lines")
    speak("zh")
    assert (spoken_language(), say("memory", "lines", count=3)) == ("zh", " 3 行")


def test_a_sentence_is_filled_in_and_a_missing_value_is_an_error() -> None:
    assert sentence("openclaw_report", "en", "lines_removed", lines=3) == "3 lines removed"
    with pytest.raises(KeyError, match="lines"):
        sentence("openclaw_report", "en", "lines_removed")


def test_both_languages_of_a_table_have_the_same_texts_with_the_same_values() -> None:
    for name in TABLES:
        english, chinese = (read_table(name, language) for language in LANGUAGES)
        assert english.keys() == chinese.keys(), name
        for key, text in english.items():
            if isinstance(text, str):
                assert values_of(text) == values_of(str(chinese[key])), f"{name}.{key}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_that_is_said_stands_in_its_table_and_gets_its_values(language: Language) -> None:
    wrong = [
        f"{file.name}:{line} {table}.{key}"
        for file in PACKAGE
        for line, table, key, given in said(file)
        if key not in read_table(table, language)
        or (given is not None and not values_of(str(read_table(table, language)[key])) <= given)
    ]
    assert wrong == []


def test_every_sentence_of_a_table_is_used() -> None:
    text = "\n".join(file.text for file in PACKAGE)
    text += "\n".join(asset(name) for name in (*TEMPLATES, *SCRIPTS))
    words = set(re.findall(r"\w+", text))
    patterns = [(table, pattern) for file in PACKAGE for table, pattern in built_keys(file)]
    patterns += [("cards", rf"{start}\w+") for start in re.findall(r'say\("(\w+)" ~', asset("cards.html"))]
    unused = [
        f"{name}.{key}"
        for name in TABLES
        if name not in READ_WHOLE
        for key in read_table(name, "en")
        if key not in words and not any(table == name and re.fullmatch(pattern, key) for table, pattern in patterns)
    ]
    assert unused == []


def test_every_word_of_the_page_stands_in_its_table() -> None:
    spoken = re.findall(r'say\(((?!"page")[^()]*?)[,)]', asset("cards.html"))
    cards = {key for first in spoken for key in re.findall(r'"(\w+)"(?! ~)', first)}
    scripts = set(re.findall(r"WORDS\.(\w+)", "".join(map(asset, SCRIPTS))))
    signing_in = set(re.findall(r'say\("page", "(\w+)"', asset("sign_in.html")))
    assert (cards - read_table("cards", "en").keys(), scripts - read_table("page_script", "en").keys()) == (
        set(),
        set(),
    )
    assert signing_in - read_table("page", "en").keys() == set()


def asset(name: str) -> str:
    """A file of the page as it is in the package."""
    return (ASSETS / name).read_text("utf-8")


def values_of(text: str) -> set[str]:
    """The names of what is filled in."""
    return {re.split(r"[.\[]", name)[0] for _, name, _, _ in Formatter().parse(text) if name}


def built_keys(file: SourceFile) -> Iterator[tuple[str, str]]:
    """Table and pattern of each key that is put together, such as `f"kind_{kind}"`."""
    for node in ast.walk(file.tree):
        match node:
            case ast.Call(
                func=ast.Name(id="say"), args=[ast.Constant(value=str() as table), ast.JoinedStr(values=parts)]
            ):
                yield table, "".join(str(part.value) if isinstance(part, ast.Constant) else r"\w+" for part in parts)
            case _:
                pass


def said(file: SourceFile) -> Iterator[tuple[int, str, str, set[str] | None]]:
    """Line, table, key and values of each call with a literal table and key; None where the values are not named."""
    for node in ast.walk(file.tree):
        if (
            not isinstance(node, ast.Call)
            or not isinstance(node.func, ast.Name)
            or node.func.id not in ("say", "sentence")
        ):
            continue
        place = 1 if node.func.id == "say" else 2
        if len(node.args) <= place or not isinstance(node.args[0], ast.Constant):
            continue
        key = node.args[place]
        keys = [key.body, key.orelse] if isinstance(key, ast.IfExp) else [key]
        names = {keyword.arg for keyword in node.keywords}
        given = None if None in names else {name for name in names if name}
        for one in keys:
            if isinstance(one, ast.Constant):
                yield node.lineno, str(node.args[0].value), str(one.value), given
