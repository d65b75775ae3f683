"""Which lines a loader would walk: the path from the last entry to the root, and the part of it a model sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from assistant.errors import TranscriptError
from assistant.openclaw.entries import EntryKind
from assistant.openclaw.lines import Line

Form = Literal[
    "tree",  # header with version 2 or 3: entries with id and parentId
    "chain",  # header without version: one line follows the other
    "plain",  # no header: role/content lines
]
CONTEXT_KINDS: frozenset[EntryKind] = frozenset(
    {"user", "assistant", "result", "bash", "injected", "system", "spoken_summary"}
)


@dataclass(frozen=True, slots=True)
class Walk:
    """Line indexes in the order a loader goes through them.

    `path` is root to leaf without the header. `boundary` is the newest summary or reset on it, as a position
    in `path`; `context` are the lines whose messages reach a model, the summary first.
    """

    path: tuple[int, ...]
    boundary: int | None
    context: tuple[int, ...]


def walk(lines: Sequence[Line], form: Form) -> Walk:
    """The walk over a session's lines. Raises `TranscriptError` when the parents go round in a circle."""
    path = _tree_path(lines) if form == "tree" else _file_order(lines)
    boundary = next((at for at in reversed(range(len(path))) if _is_boundary(lines[path[at]])), None)
    return Walk(path, boundary, _context(lines, path, boundary))


def parent_of(lines: Sequence[Line], by_id: Mapping[str, int], index: int) -> int | None:
    """The line index of an entry's parent, or None for a root.

    A marker without an id hides its successor's parent: the loader took it as the leaf, so the next entry was
    written without `parentId`. Such an entry hangs below the entry before the marker.
    """
    line = lines[index]
    if line.parent_id is not None:
        return by_id.get(line.parent_id)
    if line.has_parent_key or index == 0 or not _is_bare_marker(lines[index - 1]):
        return None
    before = (at for at in reversed(range(index - 1)) if lines[at].id is not None and lines[at].kind != "header")
    return next(before, None)


def index_by_id(lines: Sequence[Line]) -> dict[str, int]:
    """Line index of each entry id; of two lines with one id the later counts, as in the loader's own map."""
    return {line.id: at for at, line in enumerate(lines) if line.id is not None and line.kind != "header"}


def _tree_path(lines: Sequence[Line]) -> tuple[int, ...]:
    by_id = index_by_id(lines)
    leaf = max(by_id.values(), default=None)
    path: list[int] = []
    seen: set[int] = set()
    current = leaf
    while current is not None:
        if current in seen:
            raise TranscriptError(f"The entries round line {current + 1} are each other's parents; left as it is.")
        seen.add(current)
        path.append(current)
        current = parent_of(lines, by_id, current)
    return tuple(reversed(path))


def _file_order(lines: Sequence[Line]) -> tuple[int, ...]:
    return tuple(at for at, line in enumerate(lines) if line.kind not in ("blank", "unparsable", "header"))


def _is_boundary(line: Line) -> bool:
    return line.kind in ("summary", "reset")


def _is_bare_marker(line: Line) -> bool:
    return line.kind == "marker" and line.id is None


def _context(lines: Sequence[Line], path: tuple[int, ...], boundary: int | None) -> tuple[int, ...]:
    if boundary is None:
        return tuple(at for at in path if _is_seen(lines[at]))
    edge = lines[path[boundary]]
    first = first_kept_position(lines, path, boundary)
    kept = [at for at in path[first:boundary] if _is_seen(lines[at])]
    after = [at for at in path[boundary + 1 :] if _is_seen(lines[at])]
    return (*([path[boundary]] if edge.kind == "summary" else []), *kept, *after)


def first_kept_position(lines: Sequence[Line], path: tuple[int, ...], boundary: int) -> int:
    """Where in `path` the entries that a summary or reset keeps begin; `boundary` itself when it keeps none."""
    wanted = lines[path[boundary]].first_kept
    if isinstance(wanted, int):
        counted = [at for at, line in enumerate(lines) if line.kind not in ("blank", "unparsable")]
        target = counted[wanted] if 0 <= wanted < len(counted) else None
        return next((at for at in range(boundary) if path[at] == target), boundary)
    return next((at for at in range(boundary) if wanted is not None and lines[path[at]].id == wanted), boundary)


def _is_seen(line: Line) -> bool:
    return line.kind in CONTEXT_KINDS
