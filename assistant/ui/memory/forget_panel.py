"""Forget with ticks: the words, every line and sentence with them under its place, and the receipt."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from assistant.config.words import say
from assistant.memory.log import MemoryChange
from assistant.ui.cards import card
from assistant.ui.form import MAX_CHARS

if TYPE_CHECKING:
    # They bring the agent library and the index with them, which the page does not wait for.
    from assistant.memory.forget.forgetter import ForgetItem, ForgetPreview, Receipt
    from assistant.memory.forget.places import ForgetPlace, Gone, PlaceKind

MAX_ITEMS = 200
_MAX_PLACES = 6
PLACE_KINDS: tuple[PlaceKind, ...] = (
    "memory",
    "memory log",
    "journal",
    "summary",
    "context",
    "title",
    "tool result",
    "failed summary",
    "saved message",
    "attached document",
    "program log",
)


@dataclass(frozen=True, slots=True)
class _ShownItem:
    value: str
    text: str
    places: list[str]
    is_ticked: bool


@dataclass(frozen=True, slots=True)
class _Group:
    label: str
    items: list[_ShownItem]


@dataclass(frozen=True, slots=True)
class _GoneGroup:
    label: str
    count: int
    names: list[str]


def words_html(text: str = "", problem: str = "") -> Markup:
    """The card on which the words are typed."""
    return card("forget", text=text, problem=problem, groups=None, mark="", hidden=0, found=0)


def preview_html(preview: ForgetPreview, problem: str = "") -> Markup:
    """Every sentence that was found, once, under the first kind of place that has it, with all its places.

    Those with the very words are ticked.
    """
    groups: dict[PlaceKind, list[_ShownItem]] = defaultdict(list)
    for number, item in enumerate(preview.items[:MAX_ITEMS]):
        kinds: list[PlaceKind] = [place.kind for place in item.places]
        first = min(kinds, key=_rank)
        shown = _ShownItem(str(number), item.text, _places(item.places), item.fit == "exact")
        groups[first].append(shown)
    shown_groups = [_Group(place_label(kind), groups[kind]) for kind in PLACE_KINDS if kind in groups]
    return card(
        "forget",
        text=preview.wanted,
        problem=problem,
        groups=shown_groups,
        mark=mark_of(preview),
        hidden=max(0, len(preview.items) - MAX_ITEMS),
        found=len(preview.items),
    )


def receipt_html(receipt: Receipt) -> Markup:
    """What went where."""
    gone: dict[PlaceKind, list[Gone]] = defaultdict(list)
    for place in receipt.gone:
        gone[place.kind].append(place)
    groups = [
        _GoneGroup(place_label(kind), sum(place.count for place in gone[kind]), [place.name for place in gone[kind]])
        for kind in PLACE_KINDS
        if kind in gone
    ]
    return card("receipt", passages=receipt.passages, groups=groups, notices=receipt.notices)


def ticked_items(preview: ForgetPreview, ticks: Iterable[str]) -> list[ForgetItem]:
    """The sentences that were ticked of those that are shown."""
    chosen = frozenset(ticks)
    return [item for number, item in enumerate(preview.items[:MAX_ITEMS]) if str(number) in chosen]


def mark_of(preview: ForgetPreview) -> str:
    """Names what is shown, so that ticks on a card that is no longer there forget nothing else."""
    keys = "\n".join(item.key for item in preview.items)
    return hashlib.sha256(keys.encode("utf-8", "replace")).hexdigest()[:16]


def words_of(change: MemoryChange) -> str:
    """What a memory change wrote, or where it only took away, what it took; a heading says nothing by itself."""
    taken = [line[1:].strip() for line in change.diff.split("\n")[2:] if line.startswith("-")]
    said = [[line for line in lines if line and not line.startswith("#")] for lines in (change.added_lines, taken)]
    return "\n".join(said[0] or said[1])[:MAX_CHARS]


def _places(places: Sequence[ForgetPlace]) -> list[str]:
    """Each file once, with its lines or how often; conversations and their contexts by what they are."""
    lines: dict[str, list[int]] = defaultdict(list)
    counts: Counter[str] = Counter()
    documents = sorted({place.name for place in places if place.kind == "attached document"})
    for place in sorted(places, key=lambda place: _rank(place.kind)):
        if place.kind in ("memory", "tool result", "saved message", "program log"):
            lines[place.name].append(place.line)
        elif place.kind != "attached document":
            counts[place_label(place.kind).lower()] += 1
    named = [f"{name}:{', '.join(str(line) for line in sorted(set(found))[:4])}" for name, found in lines.items()]
    named += [say("page", "document_goes", name=name) for name in documents]
    shown = [*named[:_MAX_PLACES], *(f"{label} × {count}" for label, count in counts.items())]
    return [*shown, say("page", "more_files", count=len(named) - _MAX_PLACES)] if len(named) > _MAX_PLACES else shown


def _rank(kind: PlaceKind) -> int:
    return PLACE_KINDS.index(kind)


def place_label(kind: PlaceKind) -> str:
    """What a kind of place is called on the page."""
    return say("page", f"place_{kind.replace(' ', '_')}")
