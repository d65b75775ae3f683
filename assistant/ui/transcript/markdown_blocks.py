"""Markdown of a model as clean HTML, one piece for each block of the top level.

The parser knows no HTML: a tag in the text is text. Images and links that lead nowhere outside are shown as words.
"""

from __future__ import annotations

import html
import re
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from assistant.config.words import say
from assistant.text.encoding import storable
from assistant.ui.transcript.cleaning import LINK_SCHEMES, cleaned
from assistant.ui.transcript.formulas import add_formulas, formula_html
from assistant.ui.transcript.highlighting import highlighted

MAX_TEXT_CHARS = 400_000
"""A longer text is shown as it was written: to parse it would hold up everything else."""
MAX_INLINE_CHARS = 30_000
"""So is a paragraph or the line of a table that is longer."""
_MAX_BRACKETS = 400
"""Each may begin a link, so the parser looks for the end of each."""
_MAX_NESTING = 60
_LANGUAGE = re.compile(r"[\w+#.\-]{1,30}")
_URL = re.compile(r"https?://[^\s<>\"'`\u3000-\u303f\uff00-\uffef]+")
_TRAILING = ".,;:!?*_~"
_TASK = re.compile(r"\[([ xX])\](?=\s)")

Environment = MutableMapping[str, Any]


@dataclass(frozen=True, slots=True)
class Block:
    """A block of the top level: its lines in the text (the last one not included), and its HTML."""

    start: int
    end: int
    html: str


def readable(text: str) -> str:
    """The text with plain line ends, and without halves of characters that no page can show."""
    return storable(text.replace("\r\n", "\n").replace("\r", "\n"))


def render_markdown(text: str, environment: Environment | None = None, is_growing: bool = False) -> list[Block]:
    """The blocks of a text that is `readable`.

    `environment` carries link definitions from one part of a text to the next. Code of a text that is growing gets
    its colours once it is whole.
    """
    lines = text.count("\n") + 1
    if len(text) > MAX_TEXT_CHARS:
        return [Block(0, lines, _plain(text))]
    environment = {} if environment is None else environment
    environment["is_growing"] = is_growing
    tokens = _PARSER.parse(text, environment)
    if any(token.level >= _MAX_NESTING - 2 for token in tokens):
        # Deeper than this the parser drops what it finds.
        return [Block(0, lines, _plain(text))]
    return [_block(group, environment) for group in _groups(tokens)]


def link_html(address: str, words: str) -> str:
    """A link that opens in a tab of its own; the words alone where the address is none of the web."""
    if not is_outside(address):
        return html.escape(words)
    return f'<a href="{html.escape(address)}" target="_blank">{html.escape(words)}</a>'


def is_outside(address: str) -> bool:
    """True for an address of the web or of mail."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in LINK_SCHEMES and bool(parts.netloc or parts.scheme == "mailto")


def linked_words(text: str) -> str:
    """The text as HTML in which each address of the web is a link."""
    return "".join(
        link_html(piece, piece) if is_link else html.escape(piece, quote=False)
        for is_link, piece in _with_addresses(text)
    )


def code_html(code: str, language: str, is_coloured: bool = True) -> str:
    """A block of code under the name of its language."""
    name = language if _LANGUAGE.fullmatch(language) else ""
    body = highlighted(code, name) if is_coloured else html.escape(code, quote=False)
    return f'<figure data-language="{html.escape(name)}"><pre><code>{body}</code></pre></figure>'


def _with_addresses(text: str) -> list[tuple[bool, str]]:
    pieces: list[tuple[bool, str]] = []
    at = 0
    for match in _URL.finditer(text):
        address = match.group()
        while address[-1] in _TRAILING or (address[-1] in ")]" and not _is_balanced(address)):
            address = address[:-1]
        if is_outside(address):
            pieces += [(False, text[at : match.start()]), (True, address)]
            at = match.start() + len(address)
    pieces.append((False, text[at:]))
    return [(is_link, piece) for is_link, piece in pieces if piece]


def _is_balanced(address: str) -> bool:
    return address.count("(") >= address.count(")") and address.count("[") >= address.count("]")


def _plain(text: str) -> str:
    return f'<div class="m-plain">{html.escape(text, quote=False)}</div>'


def _groups(tokens: Sequence[Token]) -> list[list[Token]]:
    groups: list[list[Token]] = []
    for token in tokens:
        if token.level == 0 and token.nesting >= 0:
            groups.append([])
        groups[-1].append(token)
    return groups


def _block(tokens: Sequence[Token], environment: Environment) -> Block:
    start, end = tokens[0].map or [0, 0]
    made = _PARSER.renderer.render(tokens, _PARSER.options, environment)
    return Block(start, end, cleaned(made))


class _Renderer(RendererHTML):
    """Renders what the page draws in its own way; the rest as the library does."""

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Environment) -> str:
        token = tokens[idx]
        words = token.info.split()
        # The line end before the closing fence belongs to the fence.
        return code_html(token.content.removesuffix("\n"), words[0] if words else "", not env["is_growing"])

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Environment) -> str:
        return code_html(tokens[idx].content.removesuffix("\n"), "")

    def heading_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Environment) -> str:
        return f"<{_heading(tokens[idx].tag)}>"

    def heading_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Environment) -> str:
        return f"</{_heading(tokens[idx].tag)}>"

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Environment) -> str:
        label = html.escape(say("page", "table"))
        return f'<div class="m-table" tabindex="0" role="region" aria-label="{label}"><table>'

    def table_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Environment) -> str:
        return "</table></div>"

    def th_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Environment) -> str:
        token = tokens[idx]
        align = str(token.attrGet("style") or "").removeprefix("text-align:")
        return f'<{token.tag} align="{align}">' if align else f"<{token.tag}>"

    td_open = th_open

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Environment) -> str:
        address = str(tokens[idx].attrGet("href") or "")
        return f'<a href="{html.escape(address)}" target="_blank">' if is_outside(address) else "<span>"

    def link_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Environment) -> str:
        # Links do not nest, so the nearest one before is the one that ends here.
        opened = next(token for token in reversed(tokens[:idx]) if token.type == "link_open")
        return "</a>" if is_outside(str(opened.attrGet("href") or "")) else "</span>"

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Environment) -> str:
        token = tokens[idx]
        address = str(token.attrGet("src") or "")
        label = token.content.strip() or say("page", "image")
        host = urlsplit(address).hostname if is_outside(address) else None
        return link_html(address, f"[{say('page', 'image')}: {label}{' — ' + host if host else ''}]")

    def literal(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Environment) -> str:
        return html.escape(tokens[idx].content, quote=False).replace("\n", "<br>")

    def task_box(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Environment) -> str:
        is_done = tokens[idx].info == "done"
        label = html.escape(say("page", "done" if is_done else "to_do"))
        return f'<span class="m-box{" m-done" if is_done else ""}" role="img" aria-label="{label}"></span>'

    def formula(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Environment) -> str:
        token = tokens[idx]
        drawn = formula_html(token.content, token.meta["is_block"])
        source = html.escape(f"{token.markup}{token.content}{token.meta['closing']}", quote=False)
        made = f'<code class="m-source">{source}</code>' if drawn is None else drawn
        if not token.meta["is_block"]:
            return made
        # Who has no pointer scrolls a wide one with the keys, so it takes the focus; a paragraph may hold no div.
        label = html.escape(say("page", "formula"))
        return f'<span class="m-formula" tabindex="0" role="group" aria-label="{label}">{made}</span>'

    def formula_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Environment) -> str:
        return f"<div>{self.formula(tokens, idx, options, env)}</div>"


def _heading(tag: str) -> str:
    # The page has headings of its own above these.
    return f"h{min(int(tag[1:]) + 2, 6)}"


def _leave_knots(state: StateCore) -> None:
    for token in state.tokens:
        if token.type == "inline" and _is_knot(token.content):
            token.type, token.children = "literal", []


def _is_knot(content: str) -> bool:
    return len(content) > MAX_INLINE_CHARS or content.count("[") > _MAX_BRACKETS


def _find_table(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    length = state.eMarks[start_line] - state.bMarks[start_line]
    return length <= MAX_INLINE_CHARS and table(state, start_line, end_line, silent)


def _mark_tasks(state: StateCore) -> None:
    for index, token in enumerate(state.tokens):
        if token.type != "inline" or index < 2 or state.tokens[index - 2].type != "list_item_open":
            continue
        first = token.children[0] if token.children else None
        if first is None or first.type != "text" or not (match := _TASK.match(first.content)):
            continue
        box = Token("task_box", "span", 0, info="open" if match[1] == " " else "done")
        first.content = first.content[match.end() :]
        token.children = [box, *(token.children or [])]
        state.tokens[index - 2].attrSet("class", "m-task")


def _link_addresses(state: StateCore) -> None:
    for token in state.tokens:
        if token.type != "inline" or "://" not in token.content:
            continue
        children: list[Token] = []
        links = 0
        for child in token.children or []:
            links += child.nesting if child.type in ("link_open", "link_close") else 0
            if child.type == "text" and not links and "://" in child.content:
                children += _address_tokens(child.content)
            else:
                children.append(child)
        token.children = children


def _address_tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    for is_link, piece in _with_addresses(text):
        words = Token("text", "", 0, content=piece)
        if is_link:
            tokens += [Token("link_open", "a", 1, attrs={"href": piece}), words, Token("link_close", "a", -1)]
        else:
            tokens.append(words)
    return tokens


def _parser() -> MarkdownIt:
    parser = MarkdownIt(
        "commonmark", {"html": False, "breaks": True, "maxNesting": _MAX_NESTING}, renderer_cls=_Renderer
    )
    parser.enable(["table", "strikethrough"])
    parser.disable(["html_block", "html_inline"])
    parser.block.ruler.at("table", _find_table, {"alt": ["paragraph", "reference"]})
    parser.core.ruler.before("inline", "knots", _leave_knots)
    add_formulas(parser)
    parser.core.ruler.push("tasks", _mark_tasks)
    parser.core.ruler.push("addresses", _link_addresses)
    return parser


_PARSER = _parser()
