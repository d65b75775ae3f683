"""Slash commands, and `respond`: the one front door for whatever a person types."""

from __future__ import annotations

import difflib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

from assistant.conversation import Conversation
from assistant.conversations import Conversations
from assistant.errors import PalimpsestError, SessionNotFoundError
from assistant.events import ContextCompressed, Event, Notice, TurnStarted

_HISTORY_LINES = 20
_PREVIEW_CHARS = 100


@dataclass(frozen=True, slots=True)
class Call:
    """A command as it was typed, and where."""

    conversations: Conversations
    conversation: Conversation
    argument: str


@dataclass(frozen=True, slots=True)
class Command:
    """One slash command; `run` returns the conversation the person is in afterwards."""

    usage: str
    help: str
    run: Callable[[Call], Awaitable[Conversation]]


async def submit(conversations: Conversations, conversation: Conversation, text: str) -> Conversation:
    """Run a command or queue a message; returns the conversation the person is in then.

    What a command has to say comes as `Notice` events of that conversation.
    """
    typed = text.strip()
    name, _, argument = typed.partition(" ")
    if not typed.startswith("/") or "/" in name[1:]:
        if typed:
            _ask(conversation, text)
        return conversation
    command = COMMANDS.get(name[1:].lower())
    if command is None:
        nearest = difflib.get_close_matches(name[1:].lower(), COMMANDS, n=1)
        hint = f"Did you mean /{nearest[0]}?" if nearest else "/help lists the commands."
        conversation.emit(Notice(f"There is no command {name}. {hint}"))
        return conversation
    try:
        return await command.run(Call(conversations, conversation, argument.strip()))
    except PalimpsestError as error:
        conversation.emit(Notice(str(error)))
        return conversation
    except OSError as error:
        conversation.emit(Notice(f"/{name[1:]} could not be written to disk ({error.strerror or error})."))
        return conversation


def _ask(conversation: Conversation, text: str) -> None:
    try:
        conversation.ask(text)
    except OSError as error:
        reason = error.strerror or str(error)
        conversation.emit(Notice(f"The message could not be written to disk ({reason}), so it was not sent: {text}"))


async def respond(conversations: Conversations, conversation: Conversation, text: str) -> AsyncGenerator[Event]:
    """Submit and yield the events up to the end of what it started."""
    # Before anything runs, so that nothing of it can be missed.
    told = conversation.follow_until_idle(conversation.next_number)
    current = await submit(conversations, conversation, text)
    if current is not conversation:
        told = current.follow_until_idle(current.next_number)
    async with aclosing(told):
        async for numbered in told:
            yield numbered.event


async def _compact(call: Call) -> Conversation:
    call.conversation.compact(call.argument)
    return call.conversation


async def _undo(call: Call) -> Conversation:
    call.conversation.undo()
    return call.conversation


async def _new(call: Call) -> Conversation:
    return call.conversations.create(call.argument)


async def _clear(call: Call) -> Conversation:
    await call.conversation.stop()
    call.conversation.clear()
    return call.conversation


async def _save(call: Call) -> Conversation:
    if call.argument:
        call.conversation.rename(call.argument)
    call.conversation.emit(Notice(f"Saved as “{call.conversation.title}” ({call.conversation.session_id}).", "info"))
    return call.conversation


async def _load(call: Call) -> Conversation:
    summaries = call.conversations.summaries()
    if not call.argument:
        lines = [f"{summary.session_id}  {summary.title}" for summary in summaries[:_HISTORY_LINES]]
        call.conversation.emit(Notice("\n".join(["/load ID opens one of these:", *lines]), "info"))
        return call.conversation
    wanted = call.argument.lower()
    for summary in summaries:
        if summary.session_id == call.argument or wanted in summary.title.lower():
            return call.conversations.open(summary.session_id)
    raise SessionNotFoundError(call.argument)


async def _history(call: Call) -> Conversation:
    events = call.conversation.attach().history
    turns = [event for event in events if isinstance(event, TurnStarted) and event.text]
    compactions = sum(isinstance(event, ContextCompressed) for event in events)
    lines = [f"{event.at[:16]}  {event.text[:_PREVIEW_CHARS]}" for event in turns[-_HISTORY_LINES:]]
    head = f"{len(turns)} messages of yours, {compactions} compactions. The newest:"
    call.conversation.emit(Notice("\n".join([head, *lines]), "info"))
    return call.conversation


async def _context(call: Call) -> Conversation:
    items = call.conversation.context_items()
    lines = [f"{item.tokens:>7,}  {item.label}: {item.text[:_PREVIEW_CHARS]}".replace("\n", " ") for item in items]
    total = sum(item.tokens for item in items)
    call.conversation.emit(Notice("\n".join([*lines, f"{total:>7,}  tokens in all"]), "info"))
    return call.conversation


async def _pin(call: Call) -> Conversation:
    """Pins the newest message of the person, or the newest one that contains the argument."""
    for item in reversed(call.conversation.context_items()):
        if item.key and item.is_user and call.argument.lower() in item.text.lower():
            call.conversation.pin(item.key)
            text = item.text[:_PREVIEW_CHARS]
            call.conversation.emit(Notice(f"Pinned, it will survive every compaction verbatim: {text}", "info"))
            return call.conversation
    raise PalimpsestError("No message in the context contains that text.")


async def _stop(call: Call) -> Conversation:
    await call.conversation.stop()
    return call.conversation


async def _model(call: Call) -> Conversation:
    call.conversation.emit(Notice(call.conversations.model_line, "info"))
    return call.conversation


async def _help(call: Call) -> Conversation:
    lines = [f"{command.usage}: {command.help}" for command in COMMANDS.values()]
    call.conversation.emit(Notice("\n".join(lines), "info"))
    return call.conversation


COMMANDS: dict[str, Command] = {
    "compact": Command("/compact [hint]", "compress the context now; the hint says what matters", _compact),
    "undo": Command("/undo", "take the newest compaction back", _undo),
    "new": Command("/new [title]", "begin a new conversation", _new),
    "clear": Command("/clear", "empty the context; the journal keeps every word", _clear),
    "save": Command("/save [title]", "give this conversation a title", _save),
    "load": Command("/load [id or title]", "open another conversation", _load),
    "history": Command("/history", "your newest messages here", _history),
    "context": Command("/context", "what the model sees, with tokens", _context),
    "pin": Command("/pin [text]", "keep a message of yours verbatim through every compaction", _pin),
    "stop": Command("/stop", "end the running turn", _stop),
    "model": Command("/model", "which model answers, and how it was found", _model),
    "help": Command("/help", "this list", _help),
}
