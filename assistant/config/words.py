"""The sentences a model or a person reads: the tables `prompts/{language}/{name}.toml`, one sentence a line."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Literal

from assistant.config.resources import resource_folder

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")
_program: dict[Literal["language"], Language] = {"language": "en"}


def say(name: str, key: str, /, **values: object) -> str:
    """The sentence `key` of the table `name` in the language of the program, filled in by `str.format`.

    Raises `KeyError` when there is no such sentence or a value it uses is missing.
    """
    return sentence(name, _program["language"], key, **values)


def sentence(name: str, language: Language, key: str, /, **values: object) -> str:
    """The sentence `key` of the table `name` in `language`, filled in by `str.format`.

    Raises `KeyError` when there is no such sentence or a value it uses is missing.
    """
    return str(read_table(name, language)[key]).format(**values)


def speak(language: Language) -> None:
    """Set the language of the program: of its page, its terminal, its notices and errors. A process has one."""
    _program["language"] = language


def spoken_language() -> Language:
    """The language of the program; English until `speak` sets another."""
    return _program["language"]


@cache
def read_table(name: str, language: Language) -> Mapping[str, object]:
    """The table `name` in `language`."""
    path = resource_folder("prompts") / language / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))
