"""The allow-list: what HTML made from the words of a model or a person may hold.

There is no `id`, no `style`, no form and no button, and a class only out of the closed list of our own below: text
cannot become a card, a control or a piece of the page, whatever the parser before this one made of it.
"""

from __future__ import annotations

import nh3

from assistant.ui.transcript.highlighting import CODE_CLASSES

LINK_SCHEMES = frozenset({"http", "https", "mailto"})
MATH_TAGS = frozenset(
    [
        "math",
        "mrow",
        "mi",
        "mn",
        "mo",
        "mtext",
        "mspace",
        "msup",
        "msub",
        "msubsup",
        "mfrac",
        "msqrt",
        "mroot",
        "mover",
        "munder",
        "munderover",
        "mtable",
        "mtr",
        "mtd",
        "mstyle",
        "menclose",
        "mpadded",
        "mphantom",
        "mmultiscripts",
        "mprescripts",
        "none",
    ]
)
MATH_ATTRIBUTES = frozenset(
    [
        "display",
        "mathvariant",
        "stretchy",
        "fence",
        "form",
        "accent",
        "accentunder",
        "columnalign",
        "linethickness",
        "notation",
        "width",
        "height",
        "depth",
        "lspace",
        "rspace",
        "minsize",
        "maxsize",
        "movablelimits",
        "separator",
        "symmetric",
    ]
)
_TAGS = frozenset(
    [
        "p",
        "br",
        "hr",
        "h3",
        "h4",
        "h5",
        "h6",
        "strong",
        "em",
        "s",
        "a",
        "code",
        "pre",
        "blockquote",
        "ul",
        "ol",
        "li",
        "figure",
        "div",
        "span",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    ]
)
_CLASSES = {
    "div": {"m-table", "m-plain", "m-typed"},
    "span": {"m-box", "m-done", "m-formula", *CODE_CLASSES},
    "code": {"m-source"},
    "li": {"m-task"},
}
_ATTRIBUTES = {
    "a": {"href", "target"},
    "ol": {"start"},
    "th": {"align"},
    "td": {"align"},
    "figure": {"data-language"},
    "div": {"tabindex", "role", "aria-label"},
    "span": {"tabindex", "role", "aria-label"},
    **{tag: set(MATH_ATTRIBUTES) for tag in MATH_TAGS},
}
_CLEANER = nh3.Cleaner(
    tags=set(_TAGS | MATH_TAGS),
    clean_content_tags={"script", "style"},
    attributes=_ATTRIBUTES,
    allowed_classes=_CLASSES,
    url_schemes=set(LINK_SCHEMES),
    link_rel="noopener noreferrer",
)


def cleaned(html: str) -> str:
    """The HTML with all taken out that is not on the list."""
    return _CLEANER.clean(html)
