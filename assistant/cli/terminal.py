"""Events as lines of a terminal (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

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
)

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
            note = f" (full text: {event.artifact_id})" if event.artifact_id else ""
            return f"  {event.state}{note}: {_short(event.output)}\n"
        case ApprovalRequested():
            return f"\n? {_short(event.reason)}\n{printable(event.preview)}\n"
        case ContextCompressed():
            how = " (digest)" if event.fallback else ""
            return (
                f"\n⚡ context compressed{how}: {event.previous_tokens:,} → {event.after_tokens:,} tokens, "
                f"{event.folded_messages} messages folded; /undo takes it back\n"
            )
        case CompactionUndone():
            return f"\n↶ compaction taken back: {event.restored_messages} messages are in the context again\n"
        case MemoryChanged():
            return f"\n✎ {event.path} changed by {event.writer}\n"
        case Recalled():
            return "".join(f"  ↺ {line.path}:{line.line} {_short(line.text)}\n" for line in event.lines)
        case Notice():
            return f"\n{'!' if event.level == 'warning' else 'i'} {printable(event.text)}\n"
        case TurnFailed():
            return f"\n! {printable(event.error)}\n"
        case TurnFinished():
            return _end_text(event)
        case _:
            return ""


def _end_text(event: TurnFinished) -> str:
    match event.reason:
        case "completed":
            return "\n"
        case "awaiting_approval":
            return ""
        case "output_limit":
            limit = f" of {event.output_tokens:,} tokens" if event.output_tokens else ""
            return f"\n[the model stopped at its output limit{limit}; /continue goes on]\n"
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
    head = (
        f"Compacting now would fold {preview.folded_tokens:,} of {preview.previous_tokens:,} tokens and keep "
        f"{preview.kept_turns} turns. Folded would be:"
    )
    return "\n".join([head, *(f"{item.tokens:>7,}  {item.label}: {_short(item.text)}" for item in preview.folded)])


def _short(text: str) -> str:
    line = " ".join(printable(text).split())
    return line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}…"


def printable(text: str) -> str:
    """Without escape sequences or other control characters: what a model says must not drive the terminal."""
    return "".join(character for character in text if character in "\n\t" or character.isprintable())
