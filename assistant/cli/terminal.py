"""Events as lines of a terminal (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from assistant.config.words import say
from assistant.messages.events import (
    ApprovalRequested,
    CompactionUndone,
    ContextCompressed,
    Event,
    MemoryChanged,
    Notice,
    Recalled,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    VersionShown,
)
from assistant.text.visible_text import as_it_runs, split_for_reading, with_visible_controls

if TYPE_CHECKING:
    # What works on a home without a model starts without the agent: it is most of the time of a start.
    from assistant.agent.compactor import CompactionPreview

_SHOWN_CHARS = 300


def terminal_text(event: Event) -> str:  # noqa: C901 - one match over the union
    """What is printed for an event; empty for events a terminal does not show. Control characters are taken out."""
    match event:
        case TextDelta():
            return printable(event.text)
        case ToolStarted():
            return f"\n· {_short(event.name)} {_short(event.input)}\n"
        case ToolFinished():
            note = say("cli", "full_text_at", artifact_id=event.artifact_id) if event.artifact_id else ""
            allowed = (
                say("cli", f"allowed_{event.allowed.scope}", day=event.allowed.since[:10]) if event.allowed else ""
            )
            return f"  {event.state}{allowed}{note}: {_short(event.output)}\n"
        case ApprovalRequested():
            extent = say("cli", "allows_for_longer", extent=_short(event.extent)) if event.scopes else ""
            return f"\n? {_short(event.reason)}\n{_whole(event)}\n{extent}"
        case ContextCompressed():
            how = say("cli", "by_digest") if event.fallback else ""
            return say(
                "cli",
                "compressed",
                how=how,
                before=event.previous_tokens,
                after=event.after_tokens,
                folded=event.folded_messages,
            )
        case CompactionUndone():
            return say("cli", "taken_back", count=event.restored_messages)
        case MemoryChanged():
            return say("cli", "file_changed", path=event.path, writer=event.writer)
        case Recalled():
            return "".join(f"  ↺ {line.path}:{line.line} {_short(line.text)}\n" for line in event.lines)
        case Notice():
            return f"\n{'!' if event.level == 'warning' else 'i'} {printable(event.text)}\n"
        case TurnFailed():
            return f"\n! {printable(event.error)}\n"
        case TurnFinished():
            return _end_text(event)
        case VersionShown():
            told = say("cli", "version_shown", shown=event.shown, count=event.count)
            return f"{told}{printable(event.text)}\n"
        case _:
            return ""


def _end_text(event: TurnFinished) -> str:
    match event.reason:
        case "completed":
            return "\n"
        case "awaiting_approval":
            return ""
        case "output_limit":
            limit = say("cli", "of_tokens", tokens=event.output_tokens) if event.output_tokens else ""
            return say("cli", "stopped_at_limit", limit=limit)
        case "interrupted" | "max_steps":
            return f"\n[{event.reason}]\n"
        case _:
            assert_never(event.reason)


def said_text(event: TurnStarted) -> str:
    """A message of the person, as if it were typed."""
    return f"\n> {printable(event.text)}\n\n" if event.text else ""


def preview_text(preview: CompactionPreview) -> str:
    """What a compaction would do, in lines."""
    if preview.reason:
        return preview.reason
    head = say("cli", "preview", folded=preview.folded_tokens, before=preview.previous_tokens, turns=preview.kept_turns)
    return "\n".join([head, *(f"{item.tokens:>7,}  {item.label}: {_short(item.text)}" for item in preview.folded)])


def _whole(event: ApprovalRequested) -> str:
    """All that is to be allowed; where it is long, how long it is comes last, beside the question."""
    is_diff = event.name in ("Write", "Edit")
    lines = with_visible_controls(event.preview).split("\n") if is_diff else as_it_runs(event.preview)
    shown = printable("\n".join(lines))
    is_long = bool(split_for_reading(lines).rest)
    return shown + say("cli", "how_long", lines=len(lines), chars=len(event.preview)) if is_long else shown


def _short(text: str) -> str:
    line = " ".join(printable(text).split())
    return line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}…"


def printable(text: str) -> str:
    """Without escape sequences or other control characters: what a model says must not drive the terminal."""
    if text.isprintable():
        return text
    return "".join(character for character in text if character in "\n\t" or character.isprintable())
