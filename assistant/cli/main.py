"""The command line: the same assistant without a browser."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from dataclasses import asdict
from getpass import getpass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

from assistant.cli.streams import open_streams
from assistant.config.own_process import forbid_inspection
from assistant.config.plain_reasons import plain_reason
from assistant.config.settings import Settings, hide_keys, load_settings, set_language
from assistant.config.words import say, speak
from assistant.errors import AttachmentError, PalimpsestError, SessionNotFoundError, WrongUseError
from assistant.messages.events import (
    ApprovalRequested,
    CompactionUndone,
    Event,
    Notice,
    TurnFailed,
    TurnStarted,
    event_line,
)
from assistant.openclaw import session_commands as openclaw
from assistant.storage.workspace import Workspace

if TYPE_CHECKING:
    from assistant.agent.allowances import Decision
    from assistant.agent.attachments.file_reading import GivenFile
    from assistant.assembly.assistant import Assistant
    from assistant.assembly.sample.sample import Pace
    from assistant.config.prompts import Language
    from assistant.conversation.conversation import Conversation
    from assistant.conversation.event_log import NumberedEvent

_MAX_HITS = 1000
_WITHOUT_HOME_OPEN = ("sessions", "export", "import", "doctor")
"""Commands that read or write the files of a home without opening it, so that nothing of a kill is finished by them."""
DONE, FAILED, WRONG_USE, AWAITING_APPROVAL = 0, 1, 2, 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0 done, 1 failed, 2 wrong use, 3 waiting for an approval."""
    open_streams()
    forbid_inspection()
    hide_keys()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _end_politely)
    speak(set_language())
    parser = build_parser()
    options = parser.parse_args(arguments)
    try:
        code = _run(options)
        # What nobody takes must not fail only when the interpreter ends.
        if _has_output():
            sys.stdout.flush()
        return code
    except PalimpsestError as error:
        print(f"palimpsest: {error}", file=sys.stderr)
        return WRONG_USE if isinstance(error, WrongUseError) else FAILED
    except KeyboardInterrupt:
        return FAILED
    except BrokenPipeError:
        # The reader of our output is gone; nothing is left to print.
        _drop_output()
        return FAILED
    except OSError as error:
        which = f"{error.filename}: " if error.filename else ""
        print(f"palimpsest: {which}{plain_reason(error)}", file=sys.stderr)
        _drop_output()
        return FAILED


def _end_politely(number: int, frame: object) -> NoReturn:
    """What ends a service ends this program as Ctrl-C does: what is thrown away at the end is."""
    raise KeyboardInterrupt


def _has_output() -> bool:
    # Python has none where the descriptor was closed.
    stream: TextIO | None = sys.stdout
    return stream is not None


def _drop_output() -> None:
    """What is still in the buffer would fail once more when the interpreter ends."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def build_parser() -> argparse.ArgumentParser:
    """All commands and their flags."""
    home = argparse.ArgumentParser(add_help=False)
    home.add_argument("--home", type=_home, help=say("cli", "help_home"))
    common = argparse.ArgumentParser(add_help=False, parents=[home])
    common.add_argument("--verbose", action="store_true", help=say("cli", "help_verbose"))
    parser = argparse.ArgumentParser(prog="palimpsest", description=say("cli", "help_palimpsest"))
    commands = parser.add_subparsers(dest="command", required=True)

    chat = commands.add_parser("chat", parents=[common], help=say("cli", "help_chat"))
    chat.add_argument("--once", metavar="TEXT", help=say("cli", "help_once"))
    chat.add_argument(
        "--attach", metavar="FILE", type=Path, action="append", default=[], help=say("cli", "help_attach")
    )
    chat.add_argument("--session", metavar="ID", help=say("cli", "help_session"))
    chat.add_argument("--profile", metavar="NAME", help=say("cli", "help_profile"))
    chat.add_argument("--json", action="store_true", help=say("cli", "help_json_events"))
    chat.add_argument("--yes", action="store_true", help=say("cli", "help_yes_calls"))

    serve = commands.add_parser("serve", parents=[common], help=say("cli", "help_serve"))
    serve.add_argument("--host", help=say("cli", "help_host"))
    serve.add_argument("--port", type=int, help=say("cli", "help_port"))

    _add_session_parsers(commands, common)

    compact = commands.add_parser("compact", parents=[common], help=say("cli", "help_compact"))
    compact.add_argument("--session", metavar="ID", required=True)
    compact.add_argument("--hint", default="", help=say("cli", "help_hint"))
    compact.add_argument("--preview", action="store_true", help=say("cli", "help_preview"))
    compact.add_argument("--json", action="store_true")

    undo = commands.add_parser("undo", parents=[common], help=say("cli", "help_undo"))
    undo.add_argument("--session", metavar="ID", required=True)
    undo.add_argument("--json", action="store_true")

    show = commands.add_parser("show", parents=[common], help=say("cli", "help_show"))
    show.add_argument("--language", choices=("en", "zh"), help=say("cli", "help_show_language"))
    show.add_argument("--json", action="store_true", help=say("cli", "help_json_events"))

    _add_home_parsers(commands, common)

    openclaw.add_parsers(commands, [home])

    commands.add_parser(
        "hash-password",
        help=say("cli", "help_hash"),
        description=say("cli", "help_hash_long"),
    )

    pull = commands.add_parser("pull", parents=[common], help=say("cli", "help_pull"))
    pull.add_argument("model", metavar="MODEL")

    doctor = commands.add_parser("doctor", parents=[common], help=say("cli", "help_doctor"))
    doctor.add_argument("--json", action="store_true")
    return parser


def _add_session_parsers(commands: openclaw.Subparsers, common: argparse.ArgumentParser) -> None:
    sessions = commands.add_parser(
        "sessions",
        parents=[common],
        help=say("cli", "help_sessions"),
        description=say("cli", "help_sessions_long"),
    )
    sessions.add_argument("--trash", action="store_true", help=say("cli", "help_trashed"))
    sessions.add_argument("--json", action="store_true")
    actions = sessions.add_subparsers(dest="action", metavar="ACTION")
    # An option before the action must not be undone by the default of the same option after it.
    home = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    home.add_argument("--home", type=_home, help=say("cli", "help_home"))
    rename = actions.add_parser("rename", parents=[home], help=say("cli", "help_rename"))
    rename.add_argument("session", metavar="ID")
    rename.add_argument("title", metavar="TITLE")
    for name in ("pin", "unpin", "trash", "restore"):
        action = actions.add_parser(name, parents=[home], help=say("cli", f"help_{name}"))
        action.add_argument("session", metavar="ID")
    empty = actions.add_parser("empty-trash", parents=[home], help=say("cli", "help_empty_trash"))
    empty.add_argument("--yes", action="store_true", help=say("cli", "help_yes"))


def _add_home_parsers(commands: openclaw.Subparsers, common: argparse.ArgumentParser) -> None:
    index = commands.add_parser(
        "index",
        parents=[common],
        help=say("cli", "help_index"),
        description=say("cli", "help_index_long"),
    )
    index.add_argument("--rebuild", action="store_true", help=say("cli", "help_rebuild"))
    index.add_argument("--json", action="store_true")

    search = commands.add_parser(
        "search",
        parents=[common],
        help=say("cli", "help_search"),
        description=say("cli", "help_search_long"),
    )
    search.add_argument("query", nargs="?", help=say("cli", "help_query"))
    search.add_argument("-k", type=_count, default=5, metavar="N", help=say("cli", "help_k"))
    search.add_argument("--batch", type=Path, metavar="FILE", help=say("cli", "help_batch"))
    search.add_argument("--json", action="store_true", help=say("cli", "help_json_queries"))

    forget = commands.add_parser(
        "forget",
        parents=[common],
        help=say("cli", "help_forget"),
        description=say("cli", "help_forget_long"),
    )
    forget.add_argument("text", metavar="TEXT", help=say("cli", "help_forget_text"))
    forget.add_argument("--yes", action="store_true", help=say("cli", "help_forget_yes"))
    forget.add_argument("--json", action="store_true", help=say("cli", "help_forget_json"))

    export = commands.add_parser(
        "export",
        parents=[common],
        help=say("cli", "help_export"),
        description=say("cli", "help_export_long"),
    )
    export.add_argument("--session", metavar="ID")
    export.add_argument("--all", action="store_true")
    export.add_argument("--markdown", action="store_true", help=say("cli", "help_markdown"))
    export.add_argument("--out", type=Path, metavar="FILE", help=say("cli", "help_out"))

    import_ = commands.add_parser(
        "import",
        parents=[common],
        help=say("cli", "help_import"),
        description=say("cli", "help_import_long"),
    )
    import_.add_argument("file", type=Path, metavar="FILE")


def _count(text: str) -> int:
    number = int(text)
    if not 1 <= number <= _MAX_HITS:
        raise ValueError(text)
    return number


def _run(options: argparse.Namespace) -> int:
    if options.command == "hash-password":
        # Also where PALIMPSEST_USERS is what is wrong with the settings.
        return _print_hash()
    settings = load_settings(options.home)
    speak(settings.program_language)
    from assistant.cli.program_log import ProgramLog

    # A command in a terminal says what there is to say itself.
    is_verbose = options.command not in openclaw.COMMANDS and options.verbose
    with ProgramLog(settings, is_verbose=is_verbose):
        return _carry_out(settings, options)
    return FAILED


def _carry_out(settings: Settings, options: argparse.Namespace) -> int:
    if options.command in ("serve", "show"):
        from assistant.storage.temporary_homes import remove_left_homes

        remove_left_homes(time.time())
    if options.command in _WITHOUT_HOME_OPEN:
        _finish_forget(settings)
    match options.command:
        case "serve":
            from assistant.ui.page import serve

            chosen = {name: value for name in ("host", "port") if (value := getattr(options, name)) is not None}
            return serve(settings.model_copy(update=chosen))
        case "sessions":
            from assistant.cli.home_commands import run_sessions

            return run_sessions(settings, options)
        case name if name in openclaw.COMMANDS:
            from assistant.text.redaction import mask_secrets

            return openclaw.run(options, mask=lambda text: mask_secrets(text).text)
        case "index" | "search" | "forget" | "export" | "import" as name:
            from assistant.cli import home_commands

            run = {
                "index": home_commands.run_index,
                "search": home_commands.run_search,
                "forget": home_commands.run_forget,
                "export": home_commands.run_export,
                "import": home_commands.run_import,
            }[name]
            return run(settings, options)
        case "pull":
            from assistant.cli.pull_command import pull

            return asyncio.run(pull(settings, options.model))
        case "doctor":
            return _examine(settings, options.json)
        case "show":
            return asyncio.run(_show(settings, options))
        case _:
            return asyncio.run(_with_assistant(settings, options))


def _finish_forget(settings: Settings) -> None:
    if not Workspace(settings.home).forget_path.exists():
        return
    from assistant.assembly.home import finish_forget

    asyncio.run(finish_forget(settings))


def _print_hash() -> int:
    from assistant.config.accounts import hash_password

    in_terminal = sys.stdin.isatty()
    typed = getpass(say("cli", "password")) if in_terminal else sys.stdin.readline().rstrip("\r\n")
    if in_terminal and getpass(say("cli", "once_more")) != typed:
        print(say("cli", "not_the_same"), file=sys.stderr)
        return FAILED
    try:
        print(hash_password(typed))
    except ValueError as error:
        print(f"palimpsest: {error}", file=sys.stderr)
        return FAILED
    return DONE


def _examine(settings: Settings, as_json: bool) -> int:
    from assistant.cli.doctor import examine, findings_json, findings_text

    findings = asyncio.run(examine(settings))
    print(findings_json(findings) if as_json else findings_text(findings))
    return FAILED if any(finding.state == "error" for finding in findings) else DONE


async def _show(settings: Settings, options: argparse.Namespace) -> int:
    from assistant.assembly.sample.sample import READING_PACE, Pace

    language = options.language or settings.program_language
    # Somebody who watches wants to read along; a pipe does not.
    is_watched = sys.stdout.isatty() and not options.json
    await _play_sample(settings, language, READING_PACE if is_watched else Pace(), as_json=options.json)
    return DONE


async def _play_sample(settings: Settings, language: Language, pace: Pace, *, as_json: bool) -> None:
    from assistant.assembly.sample.sample_home import open_sample
    from assistant.cli.terminal import said_text

    async with open_sample(settings, language, pace) as sample:
        playing = asyncio.create_task(sample.play())
        async for event in sample.follow():
            if isinstance(event, TurnStarted) and not as_json:
                # Nobody has typed it.
                print(said_text(event), end="", flush=True)
            else:
                _print_event(event, as_json)
        await playing


async def _with_assistant(settings: Settings, options: argparse.Namespace) -> int:
    from assistant.assembly.assistant import open_assistant
    from assistant.assembly.sample.sample import READING_PACE
    from assistant.assembly.sample.show_command import show_command
    from assistant.cli.terminal import preview_text
    from assistant.models.chat_model import connect_model, connect_or_stand_in

    async def play(language: Language) -> None:
        await _play_sample(settings, language, READING_PACE, as_json=options.json)

    # What only a model can do fails without one; a person who talks has conversations, memory and search meanwhile.
    if options.command == "chat" and options.attach and options.once is None:
        raise WrongUseError(say("cli", "attach_needs_once"))
    is_question = options.command == "chat" and options.once is not None
    needs_model = options.command == "compact" or (is_question and not options.profile)
    connect = connect_model if needs_model else connect_or_stand_in
    async with open_assistant(settings, connect=connect, may_be_owned=options.command == "chat") as assistant:
        assistant.commands["show"] = show_command(play)
        if assistant.other_owner:
            print(say("cli", "goes_on_beside", whose=assistant.other_owner.whose), file=sys.stderr)
        if options.command == "chat":
            conversation = await _chosen(assistant, options)
            for event in conversation.kept:
                _print_event(event, options.json)
            if options.once is not None:
                return await _once(assistant, conversation, options)
            return await _talk(assistant, conversation, options)
        conversation = assistant.conversations.open(options.session)
        if options.command == "compact" and options.preview:
            preview = await conversation.preview_compaction()
            print(json.dumps(asdict(preview), ensure_ascii=False) if options.json else preview_text(preview))
            return DONE
        if options.command == "undo":
            return await _undo(assistant, conversation, as_json=options.json)
        return await _print(assistant, conversation, f"/compact {options.hint}", as_json=options.json)


async def _chosen(assistant: Assistant, options: argparse.Namespace) -> Conversation:
    conversations = assistant.conversations
    conversation = conversations.open(options.session) if options.session else conversations.create()
    if options.profile:
        if options.once is not None:
            # One question is not answered by a stand-in.
            await assistant.connect_profile(options.profile)
        conversation.choose_profile(options.profile)
    return conversation


async def _once(assistant: Assistant, conversation: Conversation, options: argparse.Namespace) -> int:
    from assistant.agent.allowances import Decision

    files = [await _attached(assistant, path) for path in options.attach]
    code = await _print(assistant, conversation, options.once, files, as_json=options.json)
    while code == AWAITING_APPROVAL and options.yes:
        code = await _answer_all(conversation, Decision(True), as_json=options.json)
    assistant.left.leave(conversation.session_id)
    # Nobody may come back for what a slow model has not written yet.
    await assistant.flushes.finish()
    return code


async def _attached(assistant: Assistant, path: Path) -> GivenFile:
    try:
        return await assistant.read_attached(path.name, path)
    except OSError as error:
        raise AttachmentError(say("attachments", "not_opened", name=path, reason=plain_reason(error))) from None


async def _talk(assistant: Assistant, conversation: Conversation, options: argparse.Namespace) -> int:
    from assistant.cli.approval_answers import terminal_answer

    told = assistant.model.who_answers
    print(say("cli", "terminal_start", who=(await conversation.model_found()).who_answers))
    while (text := await _input("\n> ")) is not None:
        if told != assistant.model.who_answers:
            told = assistant.model.who_answers
            print(told)
            conversation = _opened_again(assistant, conversation)
        submitted = await assistant.submit(conversation, text)
        if submitted.conversation is not conversation:
            conversation = submitted.conversation
            print(f"— {conversation.title or conversation.session_id}")
        code = await _print_events(conversation, submitted.events, options.json)
        while code == AWAITING_APPROVAL:
            typed = "y" if options.yes else await _input(say("cli", "allow_which")) or ""
            code = await _answer_all(conversation, terminal_answer(typed), as_json=options.json)
    assistant.left.leave(conversation.session_id)
    return DONE


def _opened_again(assistant: Assistant, conversation: Conversation) -> Conversation:
    """The conversation with the model that answers now."""
    try:
        return assistant.conversations.open(conversation.session_id)
    except SessionNotFoundError:
        # Nothing had been said in it.
        return assistant.conversations.create()


async def _print(
    assistant: Assistant, conversation: Conversation, text: str, files: Sequence[GivenFile] = (), *, as_json: bool
) -> int:
    submitted = await assistant.submit(conversation, text, files)
    is_question = not text.lstrip().startswith("/")
    return await _print_events(submitted.conversation, submitted.events, as_json, is_question=is_question)


async def _undo(assistant: Assistant, conversation: Conversation, *, as_json: bool) -> int:
    """Failed where nothing was taken back; why is a line on standard error."""
    submitted = await assistant.submit(conversation, "/undo")
    is_undone = False
    async for numbered in submitted.events:
        event = numbered.event
        is_undone = is_undone or isinstance(event, CompactionUndone)
        if isinstance(event, Notice) and not as_json:
            print(f"palimpsest: {event.text}", file=sys.stderr)
        else:
            _print_event(event, as_json)
    return DONE if is_undone else FAILED


async def _answer_all(conversation: Conversation, decision: Decision, *, as_json: bool) -> int:
    """Answer every call that waits; one that cannot be allowed for longer is allowed once."""
    events = conversation.follow_until_idle(conversation.next_number)
    for approval in conversation.approvals():
        scope = decision.scope if decision.scope in approval.scopes else None
        conversation.answer(approval.call_id, decision.is_allowed, scope, decision.why)
    return await _print_events(conversation, events, as_json)


async def _print_events(
    conversation: Conversation, events: AsyncGenerator[NumberedEvent], as_json: bool, *, is_question: bool = False
) -> int:
    """Print each event; failed where the turn failed, or where a question never became one, as on a full disk."""
    code, refusal = DONE, ""
    async for numbered in events:
        event = numbered.event
        _print_event(event, as_json)
        if isinstance(event, TurnStarted):
            is_question = False
        elif isinstance(event, Notice):
            refusal = event.text
        if isinstance(event, TurnFailed):
            code = FAILED
            _print_failure(event.error)
        elif isinstance(event, ApprovalRequested):
            code = AWAITING_APPROVAL
    if is_question and refusal:
        _print_failure(refusal)
        return FAILED
    return AWAITING_APPROVAL if conversation.approvals() else DONE if code == AWAITING_APPROVAL else code


def _print_failure(reason: str) -> None:
    """One line on standard error, where a script looks for it; a person at a terminal has read it already."""
    # Python has none where the descriptor was closed.
    streams: tuple[TextIO | None, ...] = (sys.stdout, sys.stderr)
    if not all(stream is not None and stream.isatty() for stream in streams):
        print(f"palimpsest: {' '.join(reason.split())}", file=sys.stderr)


def _print_event(event: Event, as_json: bool) -> None:
    from assistant.cli.terminal import terminal_text

    print(f"{event_line(event)}\n" if as_json else terminal_text(event), end="", flush=True)


async def _input(prompt: str) -> str | None:
    # Python has none where the descriptor was closed.
    stdin: TextIO | None = sys.stdin
    if stdin is None:
        return None
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str | None] = loop.create_future()

    def read() -> None:
        try:
            line = input(prompt)
        except EOFError:
            line = None
        # After Ctrl-C nobody waits any more, and the loop may be closed.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(lambda: None if answer.done() else answer.set_result(line))

    # A worker of the loop's pool would be waited for when the program ends: Ctrl-C would do nothing until Enter.
    threading.Thread(target=read, name="terminal", daemon=True).start()
    return await answer


def _home(text: str) -> Path:
    # An unset variable of a script would make the current folder the home.
    if not text.strip():
        raise argparse.ArgumentTypeError(say("cli", "no_empty_folder"))
    return Path(text)
