"""A conversation as nodes of the page; an entry that has not changed is drawn once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from assistant.config.words import say
from assistant.messages.events import VersionsKnown
from assistant.ui.cards import card
from assistant.ui.chat.entries import (
    CompactionEntry,
    EndEntry,
    Entry,
    TextEntry,
    ThinkingRow,
    ToolRow,
    Transcript,
    UserEntry,
    WorkEntry,
)
from assistant.ui.chat.render import render_entry
from assistant.ui.chat.transcript_window import Window
from assistant.ui.transcript.growing_text import GrowingText, grown, whole
from assistant.ui.transcript.nodes import Node, card_node
from assistant.ui.transcript.typed_text import typed_html


@dataclass(frozen=True, slots=True)
class _Look:
    """What the node of an entry depends on beside the entry."""

    is_last_end: bool
    undoable: str | None
    can_edit: bool
    is_growing: bool
    versions: VersionsKnown | None = None


@dataclass(frozen=True, slots=True)
class _DrawnEntry:
    entry: Entry
    look: _Look
    node: Node
    text: GrowingText | None


class TranscriptNodes:
    """Draws one conversation for every tab that shows it."""

    def __init__(self) -> None:
        self._drawn: dict[int, _DrawnEntry] = {}

    def draw(
        self,
        transcript: Transcript,
        window: Window,
        is_running: bool,
        queued: Sequence[str] = (),
        editable: Collection[str] = (),
    ) -> tuple[Node, ...]:
        """The nodes of the drawn part, with what leads to the parts that are not drawn.

        `editable` are the ids of the person's messages that can be written again.
        """
        entries = transcript.entries
        start, stop = window.bounds(len(entries))
        last_end, undoable = transcript.last_end, transcript.undoable
        nodes: list[Node] = []
        if start:
            nodes.append(card_node("top", card("window_top", hidden=start)))
        for index in range(start, stop):
            entry = entries[index]
            look = _Look(
                is_last_end=isinstance(entry, EndEntry) and entry is last_end,
                undoable=undoable if isinstance(entry, CompactionEntry) else None,
                can_edit=isinstance(entry, UserEntry) and entry.message_id in editable,
                is_growing=is_running and index == len(entries) - 1 and isinstance(entry, TextEntry),
                versions=None if is_running else _versions_at(transcript, entry),
            )
            nodes.append(self._node(index, entry, look))
        if stop < len(entries):
            return (*nodes, card_node("bottom", card("window_bottom", hidden=len(entries) - stop)))
        if is_running and (text := _working_text(transcript)):
            nodes.append(card_node("working", card("working", text=text)))
        waiting = (
            card_node(f"queued-{number}", card("queued", text=text), "person") for number, text in enumerate(queued)
        )
        return (*nodes, *waiting)

    def _node(self, index: int, entry: Entry, look: _Look) -> Node:
        known = self._drawn.get(index)
        if known is not None and known.entry is entry and known.look == look:
            return known.node
        text = None
        match entry:
            case TextEntry():
                before = known.text if known is not None and known.text is not None else GrowingText()
                text = grown(before, entry.text) if look.is_growing else whole(entry.text)
                node = Node(str(index), "own", text.blocks, look.is_growing)
            case UserEntry():
                own = str(card("own_message", message_id=entry.message_id, can_edit=look.can_edit))
                files = (str(card("attached_files", files=entry.attached)),) if entry.attached else ()
                blocks = (own, *_versions_card(look), typed_html(entry.text), *files)
                node = Node(str(index), "person", blocks)
            case _:
                drawn = str(render_entry(entry, look.is_last_end, look.undoable))
                node = Node(str(index), "own", (drawn, *_versions_card(look)))
        self._drawn[index] = _DrawnEntry(entry, look, node, text)
        return node


def _versions_at(transcript: Transcript, entry: Entry) -> VersionsKnown | None:
    """The versions that an entry lets one choose between: those of a message, or at its end those of an answer."""
    match entry:
        case UserEntry():
            return transcript.versions_of("message", entry.message_id)
        case EndEntry():
            return transcript.versions_of("answer", entry.turn_id)
        case _:
            return None


def _versions_card(look: _Look) -> tuple[str, ...]:
    return (str(card("versions", versions=look.versions)),) if look.versions else ()


def _working_text(transcript: Transcript) -> str:
    if transcript.pending_calls:
        return ""
    last = transcript.entries[-1] if transcript.entries else None
    match last:
        case TextEntry():
            return ""
        case WorkEntry(rows=rows) if isinstance(rows[-1], ToolRow) and rows[-1].state == "running":
            return say("page", "is_running", name=rows[-1].name)
        case WorkEntry(rows=rows) if isinstance(rows[-1], ThinkingRow):
            return say("page", "thinking")
        case _:
            return say("page", "working")
