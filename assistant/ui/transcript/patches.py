"""The difference between what a tab shows and what it is to show, as operations on keyed nodes (pure).

Each patch carries the version it builds on: a tab that has another one asks for everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assistant.ui.transcript.nodes import Node

Operation = list[object]
"""Its name and its arguments, as `assets/transcript.js` reads them."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a tab shows, and the version of it; before the first patch there is none."""

    version: int = 0
    nodes: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Patch:
    """Operations that lead from the version `base` to `version`; without a base they begin with an empty page."""

    version: int
    base: int | None
    operations: tuple[Operation, ...]


def patch_between(before: Shown | None, nodes: Sequence[Node]) -> tuple[Patch, Shown]:
    """The patch after which a tab shows these nodes, and what it shows then; from nothing where nothing is known."""
    known = Shown() if before is None else before
    version = known.version + 1
    operations = tuple(_operations(known.nodes if before else (), nodes))
    return Patch(version, known.version if before else None, operations), Shown(version, tuple(nodes))


def everything(before: Shown | None, nodes: Sequence[Node]) -> tuple[Patch, Shown]:
    """The patch that draws these nodes in an empty page, whatever the tab shows."""
    version = 1 if before is None else before.version + 1
    return Patch(version, None, tuple(_operations((), nodes))), Shown(version, tuple(nodes))


def _operations(before: Sequence[Node], after: Sequence[Node]) -> Iterator[Operation]:
    known = {node.key: node for node in before}
    wanted = {node.key for node in after}
    # A node that changes who speaks is another one.
    changed_roles = {node.key for node in after if node.key in known and known[node.key].role != node.role}
    gone = [node.key for node in before if node.key not in wanted or node.key in changed_roles]
    for key in gone:
        yield ["remove", key]
    left = [node.key for node in before if node.key not in set(gone)]
    place = 0
    for node in after:
        is_known = node.key in known and node.key not in changed_roles
        if is_known and place < len(left) and left[place] == node.key:
            place += 1
            yield from _changes(known[node.key], node)
            continue
        if is_known:
            # What moved is drawn again at its new place.
            left.remove(node.key)
            yield ["remove", node.key]
        following = left[place] if place < len(left) else ""
        yield ["insert", node.key, node.role, following, list(node.blocks), node.is_growing]


def _changes(before: Node, after: Node) -> Iterator[Operation]:
    if before is after or before == after:
        return
    same = 0
    for old, new in zip(before.blocks, after.blocks, strict=False):
        if old != new:
            break
        same += 1
    old_rest, new_rest = before.blocks[same:], after.blocks[same:]
    if old_rest and new_rest:
        kept, ending = _difference(old_rest[0], new_rest[0])
        yield ["change", after.key, same, kept, ending]
        same, old_rest, new_rest = same + 1, old_rest[1:], new_rest[1:]
    if old_rest or new_rest:
        yield ["blocks", after.key, same, list(new_rest)]
    if before.is_growing and not after.is_growing:
        yield ["settle", after.key]


def _difference(old: str, new: str) -> tuple[int, str]:
    """How much of the beginning is the same, in the units that JavaScript counts, and what follows it."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old.startswith(new[low:middle], low):
            low = middle
        else:
            high = middle - 1
    same = new[:low]
    return len(same) if same.isascii() else len(same.encode("utf-16-le")) // 2, new[low:]
