"""The longer texts that a model reads: the templates `prompts/{language}/{name}.j2`."""

from __future__ import annotations

import re
from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from assistant.config.resources import resource_folder
from assistant.config.words import Language

_CHINESE = re.compile("[\u4e00-\u9fff]")


def render(name: str, language: Language, /, **values: object) -> str:
    """The prompt `name` in `language`, without surrounding blank space.

    Raises `jinja2.UndefinedError` when a value the template uses is missing.
    """
    return _template(name, language).render(values).strip()


def language_of(text: str) -> Language:
    """`zh` when Chinese characters make up a fifth or more of the letters, else `en`."""
    if text.isascii():
        return "en"
    letters = sum(map(str.isalpha, text))
    return "zh" if letters and len(_CHINESE.findall(text)) * 5 >= letters else "en"


@cache
def _template(name: str, language: Language) -> Template:
    template = _environment(language).get_template(f"{name}.j2")
    # Jinja chains its own names behind a template's, and to copy the chain costs more than the rest of a line.
    template.globals = dict(template.globals)
    return template


@cache
def _environment(language: Language) -> Environment:
    # Plain text for a model, not HTML: no escaping.
    return Environment(
        loader=FileSystemLoader(resource_folder("prompts") / language),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        # A template does not change while the program runs, and to look at its file costs more than to render it.
        auto_reload=False,
    )
