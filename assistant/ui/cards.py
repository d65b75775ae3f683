"""Our own HTML: templates in `assets/`, every value escaped, every button under a name nobody else knows."""

from __future__ import annotations

import base64
import json
import re
import secrets
from functools import cache, partial
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from assistant.config.words import read_table, say, spoken_language
from assistant.text.encoding import encode, storable

ASSETS = Path(__file__).parent / "assets"
TEMPLATES = ("cards.html", "setup.html")
TOKEN = f"pal{secrets.token_hex(6)}"
"""New in each process. Styles and the click listener know cards by it, so that no text can pose as one."""

# Beside HTML: what Gradio's templates, its Markdown parser or its math finder would give a meaning to.
_ENTITIES = {character: f"&#{ord(character)};" for character in "\n$`{}%\\[]*_~|"}
_SPECIAL = re.compile("|".join(re.escape(character) for character in _ENTITIES))


def card(name: str, /, **values: object) -> Markup:
    """The macro `name` of the card templates with these values, as one line of HTML."""
    modules = [_environment().get_template(file).module.__dict__ for file in TEMPLATES]
    return _joined(str(next(module[name] for module in modules if name in module)(**values)))


def action(name: str, target: str = "") -> str:
    """The class that makes a button mean `name` on `target`; attributes other than class do not survive the page."""
    coded = base64.urlsafe_b64encode(encode(target)).decode().rstrip("=")
    return f"{TOKEN} {TOKEN}-do--{name}--{coded}"


def fold_name(target: str) -> str:
    """The class by which a fold is remembered as open while its message is drawn again."""
    coded = base64.urlsafe_b64encode(encode(target)).decode().rstrip("=")
    return f"{TOKEN}-fold--{coded}"


def words(key: str, /, *, table: str = "cards", **values: object) -> Markup:
    """The words `key` of the cards in the language of the program, as HTML; values are escaped."""
    shown = {name: _escaped(value) if isinstance(value, str) else value for name, value in values.items()}
    return Markup(say(table, key, **shown))


def asset(name: str) -> str:
    """A file of `assets/` with this process's token in place of `__TOKEN__`, and its words in place of `__WORDS__`."""
    # Inside a script element a tag would end it.
    spoken = json.dumps(read_table("page_script", spoken_language()), ensure_ascii=False).replace("<", "\\u003c")
    return (ASSETS / name).read_text("utf-8").replace("__TOKEN__", TOKEN).replace("__WORDS__", spoken)


def short_tokens(tokens: int) -> str:
    """Tokens as people read them: 930, 12.4k, 128k."""
    if tokens < 1000:
        return str(tokens)
    thousands = tokens / 1000
    return f"{thousands:.0f}k" if thousands >= 100 or thousands == int(thousands) else f"{thousands:.1f}k"


def short_bytes(size: int) -> str:
    """Bytes as people read them: 930 B, 12 KB, 2.4 MB."""
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.0f} KB" if size < 999_500 else f"{size / 1_000_000:.1f} MB"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_escaped,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    names: dict[str, object] = {
        "token": TOKEN,
        "action": action,
        "fold": fold_name,
        "say": words,
        "say_setup": partial(words, table="page_setup"),
    }
    environment.globals.update(names)  # type: ignore[arg-type]
    environment.filters.update({"tokens": short_tokens, "thousands": _thousands, "bytes": short_bytes})
    return environment


def _escaped(value: object) -> Markup:
    if isinstance(value, Markup):
        return value
    return Markup(_SPECIAL.sub(lambda match: _ENTITIES[match.group()], str(escape(storable(str(value))))))


def _thousands(number: int) -> str:
    return f"{number:,}"


def _joined(html: str) -> Markup:
    # A blank line would end the HTML block for a Markdown parser.
    return Markup("".join(line.strip() for line in html.split("\n")))
