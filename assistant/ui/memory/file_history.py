"""The history of a memory file: each change with its time, writer and diff, and the version it left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from assistant.memory.log import MemoryChange
from assistant.ui.cards import card
from assistant.ui.diff_card import added_and_removed, diff_html
from assistant.ui.memory.writers import writer_label
from assistant.ui.times import full_time

_MAX_SHOWN = 40


@dataclass(frozen=True, slots=True)
class _ShownVersion:
    change_id: str
    when: str
    writer: str
    added: int
    removed: int
    diff: Markup
    is_current: bool


def history_html(
    name: str, changes: Sequence[MemoryChange], digest: str, writer: Callable[[MemoryChange], str]
) -> Markup:
    """The changes of a file (given oldest first), newest first; `digest` is that of the file as it is now."""
    newest_first = list(reversed(changes))
    versions = [_shown(change, writer(change), change.digest == digest) for change in newest_first[:_MAX_SHOWN]]
    return card("history", name=name, versions=versions, hidden=max(0, len(newest_first) - _MAX_SHOWN))


def _shown(change: MemoryChange, writer: str, is_current: bool) -> _ShownVersion:
    added, removed = added_and_removed(change.diff)
    return _ShownVersion(
        change.change_id, full_time(change.at), writer_label(writer), added, removed, diff_html(change.diff), is_current
    )
