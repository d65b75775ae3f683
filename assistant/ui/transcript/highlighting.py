"""Code in colours: a closed list of classes, and text that stays exactly as it was written."""

from __future__ import annotations

import html
from collections.abc import Iterator
from functools import cache, lru_cache

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name  # pyright: ignore[reportUnknownVariableType]
from pygments.token import Token
from pygments.util import ClassNotFound

MAX_HIGHLIGHTED_CHARS = 40_000
"""Longer code is drawn in one colour: reading it would hold up everything else."""

# The token types of pygments that get a colour, and the class of each; what is below a type has its class.
_CLASS_OF = {
    Token.Comment: "t-c",
    Token.Comment.Preproc: "t-k",
    Token.Keyword: "t-k",
    Token.Operator.Word: "t-k",
    Token.Literal.String: "t-s",
    Token.Literal.Number: "t-n",
    Token.Name.Function: "t-f",
    Token.Name.Class: "t-f",
    Token.Name.Namespace: "t-f",
    Token.Name.Decorator: "t-b",
    Token.Name.Builtin: "t-b",
    Token.Name.Exception: "t-b",
    Token.Name.Constant: "t-b",
    Token.Name.Attribute: "t-b",
    Token.Name.Tag: "t-k",
    Token.Generic.Deleted: "t-d",
    Token.Generic.Inserted: "t-i",
    Token.Generic.Heading: "t-k",
    Token.Generic.Subheading: "t-k",
    Token.Generic.Prompt: "t-c",
}
CODE_CLASSES = frozenset(_CLASS_OF.values())


def highlighted(code: str, language: str) -> str:
    """The code as HTML whose text is the code; in one colour where the language is unknown or the code is long."""
    if len(code) > MAX_HIGHLIGHTED_CHARS or (lexer := _lexer_of(language.lower())) is None:
        return html.escape(code, quote=False)
    pieces = [(_class_of(kind), text) for kind, text in lexer.get_tokens(code)]
    # A lexer may drop or add characters; what is copied must be what was written.
    if "".join(text for _, text in pieces) != code:
        return html.escape(code, quote=False)
    return "".join(_spans(pieces))


def _spans(pieces: list[tuple[str, str]]) -> Iterator[str]:
    pending, pending_class = "", ""
    for css_class, text in [*pieces, ("end", "")]:
        if css_class == pending_class:
            pending += text
            continue
        escaped = html.escape(pending, quote=False)
        yield f'<span class="{pending_class}">{escaped}</span>' if pending_class and escaped.strip() else escaped
        pending, pending_class = text, css_class


@cache
def _class_of(kind: object) -> str:
    while kind is not None:
        if css_class := _CLASS_OF.get(kind):  # type: ignore[call-overload]
            return css_class
        kind = kind.parent  # type: ignore[attr-defined]
    return ""


@lru_cache(maxsize=128)
def _lexer_of(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False) if language else None
    except ClassNotFound:
        return None
