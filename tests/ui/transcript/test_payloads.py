"""Hostile texts through every place where text is shown: none becomes a card, a control, a style or a request."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.messages.events import ApprovalRequested, MemoryChanged
from assistant.ui.cards import TOKEN
from assistant.ui.chat.entries import (
    ApprovalEntry,
    CompactionEntry,
    EndEntry,
    MemoryEntry,
    NoticeEntry,
    ThinkingRow,
    ToolRow,
    WorkEntry,
)
from assistant.ui.chat.render import CardEntry, render_entry
from assistant.ui.transcript.growing_text import GrowingText, grown, whole
from assistant.ui.transcript.highlighting import CODE_CLASSES
from assistant.ui.transcript.typed_text import typed_html
from tests.ui.sample_events import compaction

ATTACKS = (
    "<script>x()</script>",
    "<img src=x onerror=y()>",
    "<svg/onload=y()>",
    "<iframe src='//e.org'></iframe>",
    "<form action='//e.org'><button>Sign in</button></form>",
    f"<div class='{TOKEN} p-card'><button class='{TOKEN} {TOKEN}-do--allow--YQ'>Allow once</button></div>",
    "<p style='position:fixed' id='chat' class='m-node'>x</p>",
    "<style>*{display:none}</style>",
    "<a href='javascript:y()'>x</a>",
    "<details open ontoggle=y()>",
    "<math><mtext><img src=x onerror=y()></mtext></math>",
    "<!--><img src=x onerror=y()>-->",
    "</code></pre></figure><button>x</button>",
    "![a](//e.org/x.png)",
    '![a](https://e.org/x.png "\'><img src=x>")',
    "[a](javascript:y())",
    "[a](data:text/html,<script>y()</script>)",
    "[a](https://e.org/'onmouseover='y())",
    "$\\text{<img src=x onerror=y()>}$",
    "$\\href{javascript:y()}{x}\\style{color:red}{y}\\class{p-card}{z}$",
    "&lt;img src=x onerror=y()&gt;",
    "{{constructor}} ${y()} <%= y %>",
    "\u202e<b>\u0000\ud800",
    'https://e.org/"onmouseover="y()<b>',
)
WRAPPERS = ("{}", "```html\n{}\n```", "```{}\nx\n```", "- [ ] > {}", "| {} |\n|---|\n| {} |")
TAGS = set(
    re.findall(
        r"\w+",
        "p br hr h3 h4 h5 h6 strong em s a code pre blockquote ul ol li figure div span table thead tbody tr th td "
        "math mrow mi mn mo mtext mspace mstyle msup msub mfrac mtable mtr mtd mover munder msqrt mpadded",
    )
)
CLASSES = {
    "m-table",
    "m-formula",
    "m-plain",
    "m-typed",
    "m-long",
    "m-box",
    "m-done",
    "m-source",
    "m-task",
    *CODE_CLASSES,
}
REQUEST = ApprovalRequested("c1", "Bash", "{}", "x", "y")
PLAIN = "harmless"


class Elements(HTMLParser):
    """Every element of a piece of HTML, as a browser finds them."""

    def __init__(self, made: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(made)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))


def faults_in(made: str) -> list[str]:
    """What words of a model or of a person must not become."""
    faults: list[str] = []
    for tag, attributes in Elements(made).found:
        names = set(attributes)
        if (
            tag not in TAGS
            or names & {"id", "style", "src", "srcset", "action"}
            or any(name[:2] == "on" for name in names)
        ):
            faults.append(f"{tag} {sorted(names)}")
        faults += [f"class {name}" for name in attributes.get("class", "").split() if name not in CLASSES]
        if not attributes.get("href", "https://").startswith(("https://", "http://", "mailto:")):
            faults.append(attributes["href"])
    return faults


def cards_of(text: str) -> tuple[CardEntry, ...]:
    """Each card with this text in all its places."""
    return (
        WorkEntry((ThinkingRow("b", text), ToolRow("c", text, text, "success", text, text, "a"))),
        ApprovalEntry(replace(REQUEST, preview=text, reason=text, name=text)),
        CompactionEntry(replace(compaction("k"), summary=text, carried_over=(text,))),
        MemoryEntry((MemoryChanged(text, text, f"+{text}", text),)),
        NoticeEntry(text, "warning"),
        EndEntry("t", "failed", error=text),
    )


def controls_of(made: str) -> list[str]:
    """The elements of a card that can do something."""
    inert = {"span", "div", "p", "i", "b", "code", "pre", "ul", "li"}
    return [tag for tag, attributes in Elements(made).found if tag not in inert or "style" in attributes]


def check(text: str) -> None:
    """Show the text everywhere."""
    for made in (*whole(text).blocks, *grown(GrowingText(), text).blocks, typed_html(text)):
        assert faults_in(made) == []
    for hostile, plain in zip(cards_of(text), cards_of(PLAIN), strict=True):
        shown, expected = render_entry(hostile, True, "k"), render_entry(plain, True, "k")
        assert controls_of(shown) == controls_of(expected)


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_becomes_anything_but_words(attack: str, wrapper: str) -> None:
    check(wrapper.replace("{}", attack))


@settings(max_examples=1_000, deadline=None)
@given(
    st.lists(st.sampled_from((*ATTACKS, *"\n`$|[]()<>!*_~\\", "\n\n", "```", "$$", "> ", "- ")), max_size=9).map(
        "".join
    )
)
def test_no_mixture_of_attacks_becomes_anything_but_words(text: str) -> None:
    check(text)
