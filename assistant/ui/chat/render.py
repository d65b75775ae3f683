"""Entries of a conversation as cards: every word of a model or a file is escaped."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal, assert_never

from markupsafe import Markup

from assistant.config.words import say
from assistant.messages.events import AllowedBy, ApprovalRequested, ContextCompressed, MemoryChanged, Spent
from assistant.text.json_parsing import parse_json
from assistant.text.json_values import is_object
from assistant.text.visible_text import as_it_runs, split_for_reading
from assistant.ui.cards import card, short_tokens
from assistant.ui.chat.entries import (
    ApprovalEntry,
    CompactionEntry,
    EndEntry,
    MemoryEntry,
    NoticeEntry,
    RecalledWorkRow,
    Row,
    TextEntry,
    ThinkingRow,
    ToolRow,
    Transcript,
    UserEntry,
    WorkEntry,
)
from assistant.ui.diff_card import DiffKind, added_and_removed, diff_html, diff_lines, whole_diff_html
from assistant.ui.memory.writers import writer_label
from assistant.ui.safe_text import one_line
from assistant.ui.times import day_text, short_time

CardEntry = WorkEntry | ApprovalEntry | CompactionEntry | MemoryEntry | NoticeEntry | EndEntry
"""What is drawn as a card of ours; the words of a model and of the person are not."""
_SHOWN_CHARS = 6_000
_WHY_CHARS = 200
_LEAST_DOLLARS = 0.0001
_DIFF_TOOLS = {"Write", "Edit"}
# What tells most about a call, first found wins.
_ARGUMENT_NAMES = ("command", "file_path", "path", "query", "pattern", "url", "name", "content", "text")


def render_entry(entry: CardEntry, is_last_end: bool = False, undoable: str | None = None) -> Markup:
    """One entry as a card; buttons are only where the server would act on them."""
    match entry:
        case WorkEntry(rows=rows):
            return card("work", rows=[_render_row(row) for row in rows])
        case ApprovalEntry():
            return _render_approval(entry)
        case CompactionEntry(event=event):
            return _render_compaction(event, can_undo=event.compaction_id == undoable)
        case MemoryEntry(changes=changes):
            return card("memory", changes=[_ShownChange.of(change) for change in changes])
        case NoticeEntry(text=text, level=level):
            return card("notice", text=text, level=level)
        case EndEntry():
            return _render_end(entry, is_last_end)
        case _:
            assert_never(entry)


@dataclass(frozen=True, slots=True)
class _ShownChange:
    path: str
    writer: str
    change_id: str
    preview: str
    added: int
    removed: int
    diff: Markup

    @classmethod
    def of(cls, change: MemoryChanged) -> _ShownChange:
        added, removed = added_and_removed(change.diff)
        written, gone = _first_line(change.diff, "plus"), _first_line(change.diff, "minus")
        preview = one_line(written or (f"without: {gone}" if gone else ""), 90)
        return cls(
            change.path, writer_label(change.writer), change.change_id, preview, added, removed, diff_html(change.diff)
        )


def _first_line(diff: str, kind: DiffKind) -> str:
    lines = (line.text.strip() for line in diff_lines(diff) if line.kind == kind)
    return next((line for line in lines if line and not line.startswith("#")), "")


def _render_row(row: Row) -> Markup:
    match row:
        case ThinkingRow(block_id=block_id, text=text):
            return card("thinking_row", block_id=block_id, text=shown_text(text), preview=one_line(text, 110))
        case RecalledWorkRow(lines=lines):
            fold_id = f"recalled:{lines[0].path}:{lines[0].line}"
            return card("recalled_row", fold_id=fold_id, lines=lines, tokens=row.tokens, refused=row.refused)
        case ToolRow():
            return card(
                "tool_row",
                call_id=row.call_id,
                name=row.name,
                argument=one_line(main_argument(row.input), 90),
                state=row.state,
                state_text=say("page", f"state_{row.state}"),
                allowed=_allowed_text(row.allowed),
                input=shown_text(pretty_input(row.input)),
                output=shown_text(row.output),
                artifact_id=row.artifact_id or "",
                diff=diff_html(row.diff) if row.diff else "",
            )
        case _:
            assert_never(row)


def _render_approval(entry: ApprovalEntry) -> Markup:
    request = entry.request
    # By the tool and not by the text: a command may begin like a diff, and all of it must be read.
    if request.name in _DIFF_TOOLS:
        body = whole_diff_html(request.preview, f"rest:{request.call_id}")
    else:
        body = _command(request)
    name = request.name if entry.state == "pending" else f"{request.name}  {one_line(main_argument(request.input), 90)}"
    return card(
        "approval",
        call_id=request.call_id,
        name=name,
        reason=request.reason,
        body=body,
        state=entry.state,
        answer=_answer_text(entry),
        scopes=request.scopes,
        extent=request.extent,
    )


def _answer_text(entry: ApprovalEntry) -> str:
    if entry.state == "pending":
        return ""
    told = say("cards", f"approval_{entry.state}")
    if entry.scope:
        told = say("cards", f"approval_allowed_{entry.scope}")
    return say("cards", "approval_why", told=told, why=one_line(entry.why, _WHY_CHARS)) if entry.why else told


def _allowed_text(allowed: AllowedBy | None) -> str:
    if allowed is None:
        return ""
    return say("page", f"allowed_{allowed.scope}", day=day_text(allowed.since))


def _command(request: ApprovalRequested) -> Markup:
    part = split_for_reading(as_it_runs(request.preview))
    head = card("command", text="\n".join(part.head)) if part.head else Markup("")
    if not part.rest:
        return head
    rest = card("command", text="\n".join(part.rest))
    return head + card(
        "rest", body=rest, lines=len(part.rest), chars=part.rest_chars, fold_id=f"rest:{request.call_id}"
    )


def _render_compaction(event: ContextCompressed, can_undo: bool) -> Markup:
    saved = 100 - round(100 * event.after_tokens / max(event.previous_tokens, 1))
    return card(
        "compaction",
        event=event,
        summary=summary_lines(event.summary),
        saved_percent=saved,
        before_width=_share(event.previous_tokens, event.context_limit),
        after_width=_share(event.after_tokens, event.context_limit),
        when=short_time(event.at),
        can_undo=can_undo,
    )


def _render_end(entry: EndEntry, is_last: bool) -> Markup:
    return card(
        "end",
        reason=entry.reason,
        error=entry.error,
        turn_id=entry.turn_id,
        tokens_text=_spent_text(entry.spent),
        output_tokens=entry.output_tokens,
        when=short_time(entry.at),
        is_last=is_last,
    )


def _spent_text(spent: Spent) -> str:
    """What the turn took: tokens of each kind, and the price where one is known."""
    if not spent.input_tokens:
        return ""
    read = short_tokens(spent.input_tokens)
    if spent.cached_tokens:
        read = say("page", "tokens_and_cached", tokens=read, cached=short_tokens(spent.cached_tokens))
    told = say("page", "tokens_in_out", tokens_in=read, tokens_out=short_tokens(spent.output_tokens))
    return told if spent.usd is None else say("page", "tokens_and_price", tokens=told, price=_dollars(spent.usd))


def _dollars(amount: float) -> str:
    """Dollars as people read them: $1.25, $0.031, < $0.0001, $0."""
    if 0 < amount < _LEAST_DOLLARS:
        return f"< ${_LEAST_DOLLARS}"
    return f"${amount:.2f}" if amount >= 1 else f"${amount:.4f}".rstrip("0").rstrip(".")


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """A line of a summary: a heading without its marks, or unchanged text."""

    kind: Literal["heading", "text"]
    text: str


def summary_lines(summary: str) -> list[SummaryLine]:
    """A summary's lines, so that its headings show as headings without any Markdown."""
    return [
        SummaryLine("heading", line.lstrip("#").strip()) if line.startswith("#") else SummaryLine("text", line)
        for line in summary.strip().splitlines()
    ]


def main_argument(input_text: str) -> str:
    """The most telling of a call's JSON arguments: its command, path or query; else the arguments themselves."""
    try:
        arguments = parse_json(input_text or "{}")
    except ValueError:
        return input_text
    if not is_object(arguments):
        return input_text
    for name in _ARGUMENT_NAMES:
        if isinstance(value := arguments.get(name), str):
            return value
    return ", ".join(f"{name}: {value}" for name, value in arguments.items())


def pretty_input(input_text: str) -> str:
    """A call's JSON arguments, one `name: value` a line where they are an object."""
    try:
        arguments = parse_json(input_text or "{}")
    except ValueError:
        return input_text
    if not is_object(arguments):
        return input_text
    return "\n".join(
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in arguments.items()
    )


def shown_text(text: str) -> str:
    """Head and tail of a text that is too long for the page, with what lies between counted."""
    if len(text) <= _SHOWN_CHARS:
        return text
    head, tail = text[: _SHOWN_CHARS * 2 // 3], text[-_SHOWN_CHARS // 3 :]
    return say("page", "not_drawn", head=head, count=len(text) - len(head) - len(tail), tail=tail)


def answer_text(transcript: Transcript, turn_id: str) -> str:
    """The answer of a turn that ended, as its Markdown source."""
    texts: list[str] = []
    for entry in transcript.entries:
        match entry:
            case UserEntry():
                texts = []
            case TextEntry(text=text):
                texts.append(text)
            case EndEntry() if entry.turn_id == turn_id:
                return "\n\n".join(texts)
            case _:
                pass
    return ""


def _share(part: int, whole: int) -> float:
    return round(min(100.0, 100 * part / max(whole, 1)), 1)
