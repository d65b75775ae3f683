"""Which lines a loader would walk: the path from the last entry to the root, and the part of it a model sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from assistant.errors import TranscriptError
from assistant.openclaw.entries import EntryKind

Form = Literal[
    "tree",  # header with version 2 or 3: entries with id and parentId
    "chain",  # header without version: one line follows the other
    "plain",  # no header: role/content lines
]
CONTEXT_KINDS: frozenset[EntryKind] = frozenset(
    {"user", "assistant", "result", "bash", "injected", "system", "spoken_summary"}
)


class Node(Protocol):
    """What the walk needs to know of a line: `Line` in a survey, something smaller in a test."""

    @property
    def kind(self) -> EntryKind: ...
    @property
    def id(self) -> str | None: ...
    @property
    def parent_id(self) -> str | None: ...
    @property
    def has_parent_key(self) -> bool: ...
    @property
    def first_kept(self) -> str | int | None: ...


@dataclass(frozen=True, slots=True)
class Walk:
    """Line indexes in the order a loader goes through them.

    `path` is root to leaf without the header. `boundary` is the newest summary or reset on it, as a position
    in `path`; `context` are the lines whose messages reach a model, the summary first.
    """

    path: tuple[int, ...]
    boundary: int | None
    context: tuple[int, ...]


def walk(nodes: Sequence[Node], form: Form) -> Walk:
    """The walk over a session's lines. Raises `TranscriptError` when the parents go round in a circle."""
    path = _tree_path(nodes) if form == "tree" else _file_order(nodes)
    boundary = next((at for at in reversed(range(len(path))) if _is_boundary(nodes[path[at]])), None)
    return Walk(path, boundary, _context(nodes, path, boundary))


def parent_of(nodes: Sequence[Node], by_id: Mapping[str, int], index: int) -> int | None:
    """The line index of an entry's parent, or None for a root.

    A marker without an id hides its successor's parent: the loader took it as the leaf, so the next entry was
    written without `parentId`. Such an entry hangs below the entry before the marker.
    """
    node = nodes[index]
    if node.parent_id is not None:
        return by_id.get(node.parent_id)
    if node.has_parent_key or index == 0 or not _is_bare_marker(nodes[index - 1]):
        return None
    before = (at for at in reversed(range(index - 1)) if nodes[at].id is not None and nodes[at].kind != "header")
    return next(before, None)


def index_by_id(nodes: Sequence[Node]) -> dict[str, int]:
    """Line index of each entry id; of two lines with one id the later counts, as in the loader's own map."""
    return {node.id: at for at, node in enumerate(nodes) if node.id is not None and node.kind != "header"}


def _tree_path(nodes: Sequence[Node]) -> tuple[int, ...]:
    by_id = index_by_id(nodes)
    leaf = max(by_id.values(), default=None)
    path: list[int] = []
    seen: set[int] = set()
    current = leaf
    while current is not None:
        if current in seen:
            raise TranscriptError(f"The entries round line {current + 1} are each other's parents; left as it is.")
        seen.add(current)
        path.append(current)
        current = parent_of(nodes, by_id, current)
    return tuple(reversed(path))


def _file_order(nodes: Sequence[Node]) -> tuple[int, ...]:
    return tuple(at for at, node in enumerate(nodes) if node.kind not in ("blank", "unparsable", "header"))


def _is_boundary(node: Node) -> bool:
    return node.kind in ("summary", "reset")


def _is_bare_marker(node: Node) -> bool:
    return node.kind == "marker" and node.id is None


def _context(nodes: Sequence[Node], path: tuple[int, ...], boundary: int | None) -> tuple[int, ...]:
    if boundary is None:
        return tuple(at for at in path if _is_seen(nodes[at]))
    edge = nodes[path[boundary]]
    first = first_kept_position(nodes, path, boundary)
    kept = [at for at in path[first:boundary] if _is_seen(nodes[at])]
    after = [at for at in path[boundary + 1 :] if _is_seen(nodes[at])]
    return (*([path[boundary]] if edge.kind == "summary" else []), *kept, *after)


def first_kept_position(nodes: Sequence[Node], path: tuple[int, ...], boundary: int) -> int:
    """Where in `path` the entries that a summary or reset keeps begin; `boundary` itself when it keeps none."""
    wanted = nodes[path[boundary]].first_kept
    if isinstance(wanted, int):
        counted = [at for at, node in enumerate(nodes) if node.kind not in ("blank", "unparsable")]
        target = counted[wanted] if 0 <= wanted < len(counted) else None
        return next((at for at in range(boundary) if path[at] == target), boundary)
    return next((at for at in range(boundary) if wanted is not None and nodes[path[at]].id == wanted), boundary)


def _is_seen(node: Node) -> bool:
    return node.kind in CONTEXT_KINDS
