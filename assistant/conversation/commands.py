"""Slash commands, and `submit`: the one front door of page, terminal and notebook for what a person types."""

from __future__ import annotations

import difflib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from assistant.agent.attachments.file_reading import GivenFile
from assistant.config.plain_reasons import plain_reason
from assistant.config.profiles import MAIN, shown_name
from assistant.config.words import say
from assistant.conversation.conversation import Conversation
from assistant.conversation.conversations import Conversations
from assistant.conversation.event_log import NumberedEvent
from assistant.errors import PalimpsestError, SessionNotFoundError
from assistant.memory.consolidation import CONSOLIDATE_WRITER
from assistant.memory.forget.forgetter import Forgetter, chosen_items, preview_lines, receipt_text
from assistant.memory.notes import OWNER_WRITER
from assistant.memory.waiting import WaitingLine
from assistant.messages.events import ContextCompressed, Notice, TurnStarted
from assistant.text.visible_text import as_it_runs

_HISTORY_LINES = 20
_PREVIEW_CHARS = 100
_HIT_CHARS = 200
_MEMORY_HITS = 10
_FORGET_ITEMS = 20
_MAX_DIGITS = 9


Consolidate = Callable[[], Awaitable[str]]
"""Reads the notes and lets lines wait for the person; says what came of it."""


@dataclass(frozen=True, slots=True)
class Call:
    """A command as it was typed, and where."""

    conversations: Conversations
    conversation: Conversation
    argument: str
    forgetter: Forgetter
    commands: Mapping[str, Command]
    consolidate: Consolidate


@dataclass(frozen=True, slots=True)
class Command:
    """One slash command; `run` returns the conversation the person is in afterwards."""

    name: str
    run: Callable[[Call], Awaitable[Conversation]]

    @property
    def usage(self) -> str:
        """How it is typed."""
        return say("commands", f"{self.name}_usage")

    @property
    def help(self) -> str:
        """What it does."""
        return say("commands", f"{self.name}_help")


@dataclass(frozen=True, slots=True)
class Submitted:
    """What came of a message or command: the conversation the person is in now, and what is emitted in it.

    The events end when nothing runs any more. Of another conversation than before they are all that can be followed.
    """

    conversation: Conversation
    events: AsyncGenerator[NumberedEvent]
    is_taken: bool = True
    """False where a message could not be written down."""


async def submit(
    conversations: Conversations,
    conversation: Conversation,
    text: str,
    forgetter: Forgetter,
    commands: Mapping[str, Command],
    consolidate: Consolidate,
    files: Sequence[GivenFile] = (),
) -> Submitted:
    """Run one of the commands or queue a message with its files; what a command has to say comes as `Notice` events.

    A command takes no files.
    """
    # Before anything runs, so that no event of it can be missed.
    events = conversation.follow_until_idle(conversation.next_number)
    typed = text.strip()
    if is_command(typed):
        name, _, argument = typed.partition(" ")
        call = Call(conversations, conversation, argument.strip(), forgetter, commands, consolidate)
        current = await _run(name, call)
        if current is not conversation:
            return Submitted(current, current.follow_until_idle(0))
    elif typed or files:
        try:
            conversation.ask(text, files)
        except OSError as error:
            reason = plain_reason(error)
            conversation.emit(Notice(say("commands", "not_sent", reason=reason, text=text)))
            return Submitted(conversation, events, is_taken=False)
    return Submitted(conversation, events)


def is_command(typed: str) -> bool:
    """Whether this is a slash command and no message; a path is none."""
    name = typed.partition(" ")[0]
    return name.startswith("/") and "/" not in name[1:]


async def _run(name: str, call: Call) -> Conversation:
    command = call.commands.get(name[1:].lower())
    if command is None:
        nearest = difflib.get_close_matches(name[1:].lower(), call.commands, n=1)
        hint = say("commands", "did_you_mean", nearest=nearest[0]) if nearest else say("commands", "see_help")
        call.conversation.emit(Notice(say("commands", "no_command", name=name, hint=hint)))
        return call.conversation
    try:
        return await command.run(call)
    except PalimpsestError as error:
        call.conversation.emit(Notice(str(error)))
    except OSError as error:
        call.conversation.emit(Notice(say("commands", "not_written", name=name[1:], reason=plain_reason(error))))
    return call.conversation


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
    call.conversation.emit(
        Notice(say("commands", "saved", title=call.conversation.title, session_id=call.conversation.session_id), "info")
    )
    return call.conversation


async def _load(call: Call) -> Conversation:
    summaries = call.conversations.summaries()
    if not call.argument:
        lines = [f"{summary.session_id}  {summary.title}" for summary in summaries[:_HISTORY_LINES]]
        call.conversation.emit(Notice("\n".join([say("commands", "load_one"), *lines]), "info"))
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
    head = say("commands", "history_head", count=len(turns), compactions=compactions)
    call.conversation.emit(Notice("\n".join([head, *lines]), "info"))
    return call.conversation


async def _context(call: Call) -> Conversation:
    call.conversation.measure()
    await call.conversation.wait()
    items = call.conversation.context_items()
    lines = [f"{item.tokens:>7,}  {item.label}: {item.text[:_PREVIEW_CHARS]}".replace("\n", " ") for item in items]
    total = sum(item.tokens for item in items)
    call.conversation.emit(Notice("\n".join([*lines, say("commands", "tokens_in_all", total=total)]), "info"))
    return call.conversation


async def _pin(call: Call) -> Conversation:
    """Pins the newest message of the person, or the newest one that contains the argument."""
    for item in reversed(call.conversation.context_items()):
        if item.key and item.is_user and call.argument.lower() in item.text.lower():
            call.conversation.pin(item.key)
            text = item.text[:_PREVIEW_CHARS]
            call.conversation.emit(Notice(say("commands", "pinned", text=text), "info"))
            return call.conversation
    raise PalimpsestError(say("commands", "nothing_to_pin"))


async def _top(call: Call) -> Conversation:
    """Keeps the conversation above the others in the list, or no longer."""
    is_on_top = not call.conversation.is_on_top
    call.conversation.put_on_top(is_on_top)
    call.conversation.emit(Notice(say("commands", "on_top" if is_on_top else "not_on_top"), "info"))
    return call.conversation


async def _remember(call: Call) -> Conversation:
    if not call.argument:
        raise PalimpsestError(say("commands", "remember_how"))
    change = call.conversation.memory.save(call.argument, writer=OWNER_WRITER).change
    text = say("commands", "remembered", path=change.path) if change else say("commands", "known_already")
    call.conversation.emit(Notice(text, "info"))
    return call.conversation


async def _pending(call: Call) -> Conversation:
    """Lists the lines that wait, or keeps or drops one."""
    admission = call.conversation.memory.admission
    verb, _, line_id = call.argument.partition(" ")
    match verb:
        case "keep":
            change = admission.keep(line_id.strip())
            told = say("commands", "written", path=change.path) if change else say("commands", "no_line_or_known")
        case "drop":
            told = say("commands", "dropped") if admission.drop(line_id.strip()) else say("commands", "no_line_waits")
        case _:
            told = "\n".join(map(waiting_text, admission.waiting.all())) or say("commands", "nothing_waits")
    call.conversation.emit(Notice(told, "info"))
    return call.conversation


async def _consolidate(call: Call) -> Conversation:
    """Reads the notes and lists what is proposed, or decides about one line or all."""
    admission = call.conversation.memory.admission
    verb, _, rest = call.argument.partition(" ")
    chosen, _, text = rest.strip().partition(" ")
    proposed = [line for line in admission.waiting.all() if line.writer == CONSOLIDATE_WRITER]
    if verb in ("accept", "decline", "edit"):
        ids = [line.line_id for line in proposed if chosen in (line.line_id, "all")]
        for line_id in ids:
            if verb == "decline":
                admission.drop(line_id)
            else:
                admission.keep(line_id, text.strip() if verb == "edit" else "")
        call.conversation.emit(Notice(say("commands", "decided", count=len(ids)), "info"))
        return call.conversation
    if not proposed:
        call.conversation.emit(Notice(await call.consolidate(), "info"))
        proposed = [line for line in admission.waiting.all() if line.writer == CONSOLIDATE_WRITER]
    if proposed:
        lines = map(_proposed_text, proposed)
        call.conversation.emit(Notice("\n".join([*lines, say("commands", "consolidate_how")]), "info"))
    return call.conversation


def _proposed_text(line: WaitingLine) -> str:
    place = say("commands", "in_place_of", path=line.path, old=line.replaces.strip()) if line.replaces else line.path
    return say("commands", "proposed", line_id=line.line_id, place=place, text=line.text, source=line.source)


async def _memory(call: Call) -> Conversation:
    if not call.argument:
        raise PalimpsestError(say("commands", "memory_how"))
    answer = await call.conversation.memory.index.search(call.argument, _MEMORY_HITS)
    lines = [f"{hit.path}:{hit.first_line}  {_short(hit.snippet)}" for hit in answer.hits]
    notices = [f"({notice})" for notice in answer.notices]
    call.conversation.emit(Notice("\n".join([*(lines or [say("commands", "nothing_found")]), *notices]), "info"))
    return call.conversation


async def _forget(call: Call) -> Conversation:
    """Shows what can be forgotten, numbered; then forgets the numbers that are answered."""
    session_id = call.conversation.session_id
    offered = call.forgetter.offered(session_id)
    if offered and (chosen := chosen_items(offered, call.argument, _FORGET_ITEMS)):
        try:
            notice = Notice(receipt_text(await call.forgetter.forget(chosen)), "info")
        except PalimpsestError as error:
            notice = Notice(str(error))
        # It was closed for this and is read again, and so do its readers.
        conversation = _read_again(call.conversations, session_id)
        conversation.emit_kept(notice)
        return conversation
    preview = await call.forgetter.find(call.argument)
    call.forgetter.offer(session_id, preview)
    if not preview.items:
        call.conversation.emit(Notice(say("commands", "stands_nowhere"), "info"))
        return call.conversation
    lines = preview_lines(preview, _FORGET_ITEMS)
    how = say("commands", "forget_how")
    call.conversation.emit(Notice("\n".join([*lines, how]), "info"))
    return call.conversation


async def _allowed(call: Call) -> Conversation:
    """Lists what runs without being asked about, or has one asked about again."""
    allowances = call.conversation.allowances
    verb, _, allowance_id = call.argument.partition(" ")
    if verb == "revoke":
        told = say("commands", "revoked" if allowances.revoke(allowance_id.strip()) else "nothing_revoked")
    else:
        lines = [
            say(
                "commands",
                f"allowed_{one.scope}",
                allowance_id=one.allowance.allowance_id,
                day=one.allowance.at[:10],
                what=one.allowance.extent.text,
                command=_on_one_line(one.allowance.extent.command),
            ).rstrip()
            for one in allowances.all()
        ]
        told = "\n".join([*lines, say("commands", "allowed_how")]) if lines else say("commands", "nothing_allowed")
    call.conversation.emit(Notice(told, "info"))
    return call.conversation


def _on_one_line(command: str) -> str:
    return "".join(as_it_runs(command))


async def _stop(call: Call) -> Conversation:
    await call.conversation.stop()
    return call.conversation


async def _continue(call: Call) -> Conversation:
    call.conversation.continue_turn()
    return call.conversation


async def _retry(call: Call) -> Conversation:
    call.conversation.retry()
    return call.conversation


async def _version(call: Call) -> Conversation:
    """Tells how many versions the newest place with several has, or lets one of them stand."""
    known = call.conversation.versions()
    if not known:
        raise PalimpsestError(say("conversation", "no_versions"))
    newest = known[-1]
    if call.argument.isdecimal() and len(call.argument) <= _MAX_DIGITS:
        call.conversation.show_version(newest.part, newest.message_id, int(call.argument))
        return call.conversation
    told = say("commands", f"versions_of_{newest.part}", count=newest.count, shown=newest.shown)
    call.conversation.emit(Notice(told, "info"))
    return call.conversation


async def _branch(call: Call) -> Conversation:
    """Begins a conversation with what stands here, or with what stands up to the turn that begins with the argument."""
    await call.conversation.stop()
    turns = [event for event in call.conversation.attach().history if isinstance(event, TurnStarted) and event.text]
    found = [turn for turn in turns if call.argument.lower() in turn.text.lower()]
    if not found:
        raise PalimpsestError(say("commands", "nothing_to_branch"))
    return call.conversations.open(call.conversations.branch(call.conversation.session_id, found[-1].message_id))


async def _model(call: Call) -> Conversation:
    """Says who answers, and who else could; or lets another profile answer."""
    conversation = call.conversation
    if call.argument:
        conversation.choose_profile(call.argument)
    lines = [(await conversation.model_found()).who_answers]
    profiles = conversation.profiles
    if profiles.names and not call.argument:
        lines += [_profile_line(name, name == conversation.profile) for name in (MAIN, *profiles.names)]
        lines.append(say("commands", "model_how"))
    conversation.emit(Notice("\n".join(filter(None, [*lines, profiles.problem])), "info"))
    return conversation


def _profile_line(name: str, is_chosen: bool) -> str:
    return f"{'●' if is_chosen else '○'} {shown_name(name)}"


async def _help(call: Call) -> Conversation:
    lines = [f"{command.usage}: {command.help}" for command in call.commands.values()]
    call.conversation.emit(Notice("\n".join(lines), "info"))
    return call.conversation


def _read_again(conversations: Conversations, session_id: str) -> Conversation:
    try:
        return conversations.open(session_id)
    except SessionNotFoundError:
        # Nothing was said in it yet.
        return conversations.create()


def waiting_text(line: WaitingLine) -> str:
    """A line that waits, where it comes from, and how it is kept or dropped."""
    source = say("commands", "from_source", source=line.source) if line.source else say("commands", "models_words")
    place = say("commands", "in_place_of", path=line.path, old=line.replaces.strip()) if line.replaces else line.path
    return say("commands", "waiting", place=place, text=line.text, source=source, line_id=line.line_id)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _HIT_CHARS else f"{line[:_HIT_CHARS]}…"


_RUN: Mapping[str, Callable[[Call], Awaitable[Conversation]]] = {
    "compact": _compact,
    "undo": _undo,
    "new": _new,
    "clear": _clear,
    "save": _save,
    "load": _load,
    "history": _history,
    "context": _context,
    "pin": _pin,
    "top": _top,
    "remember": _remember,
    "pending": _pending,
    "consolidate": _consolidate,
    "memory": _memory,
    "forget": _forget,
    "allowed": _allowed,
    "stop": _stop,
    "continue": _continue,
    "retry": _retry,
    "version": _version,
    "branch": _branch,
    "model": _model,
    "help": _help,
}
COMMANDS: Mapping[str, Command] = {name: Command(name, run) for name, run in _RUN.items()}
