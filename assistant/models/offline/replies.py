"""What the offline assistant does next: a tool call, or the text that shows what the last one brought."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import assert_never

from assistant.config.words import Language
from assistant.messages.blocks import ToolResultState
from assistant.models.offline.offline_memory import ask_name, memory_call, memory_reply
from assistant.models.offline.offline_requests import (
    AskAboutPerson,
    AskMemory,
    AskName,
    FindFiles,
    Introduce,
    ListFiles,
    OfflineRequest,
    ReadFile,
    Remember,
    RunCommand,
    SearchFiles,
    Speak,
    TellName,
    Unclear,
    Whose,
)
from assistant.models.offline.offline_tools import SHOWN_CHARS, OfferedTool, PlannedCall, ToolOutcome
from assistant.models.offline.texts import OfflineTexts, count_files, offline_texts
from assistant.models.offline.topics import Topic
from assistant.text.markdown import with_fence

SHOWN_LINES = 40
_READ_LINES = 2_000
_NUMBERED = re.compile(r"^ *\d+\t", re.MULTILINE)
_NOTHING = re.compile(r"^(?:no (?:files?|match|result|hit|memor)|nothing|没有|未找到)", re.IGNORECASE)


def next_move(
    request: OfflineRequest,
    outcomes: Sequence[ToolOutcome],
    tools: Sequence[OfferedTool],
    home: Path,
    language: Language,
    nameless: frozenset[Whose] = frozenset(),
    today: str = "",
) -> PlannedCall | str:
    """The next call for the request, or the reply once `outcomes` (oldest first) hold what was to be looked up.

    `nameless` says who has no name yet in a first conversation; it is asked for. `today` is the date if it is known.
    """
    texts = offline_texts(language)
    if outcomes and (problem := _problem(outcomes[-1], texts)):
        return problem
    move = _call_or_none(request, outcomes, tools, home, language)
    if move is None:
        is_speech = isinstance(request, Speak)
        shown = _speak(request.topic, today, texts) if is_speech else _show(request, outcomes, texts, language)
        return "\n\n".join(filter(None, [shown, ask_name(request, nameless, texts)]))
    if move.tool in {tool.name for tool in tools}:
        return move
    match move.tool:
        case "memory_save":
            return texts.cannot_save
        case "memory_search" | "memory_get":
            return texts.no_memory_search
        case name:
            return texts.tools_off.format(tool=name)


def _call_or_none(
    request: OfflineRequest,
    outcomes: Sequence[ToolOutcome],
    tools: Sequence[OfferedTool],
    home: Path,
    language: Language,
) -> PlannedCall | None:
    if isinstance(request, Remember | AskMemory | TellName | AskName | AskAboutPerson):
        return memory_call(request, outcomes, tools, language)
    if outcomes:
        return _second_call(request, outcomes)
    match request:
        case ListFiles(folder):
            return PlannedCall("Glob", {"pattern": "**/*", **_place(folder, home)})
        case FindFiles(name):
            return PlannedCall("Glob", {"pattern": name if "*" in name else f"**/*{name}*"})
        case ReadFile(path):
            return _read_call(path, home)
        case SearchFiles(text, place):
            arguments = {"pattern": re.escape(text), "output_mode": "content", "i": True}
            return PlannedCall("Grep", {**arguments, **_place(place, home)})
        case RunCommand(command):
            return PlannedCall("Bash", {"command": command})
        case Introduce() | Speak() | Unclear():
            return None
        case _:
            assert_never(request)


def _second_call(request: OfflineRequest, outcomes: Sequence[ToolOutcome]) -> PlannedCall | None:
    """A file that was found by name is read next, when it is the only one."""
    if isinstance(request, ReadFile) and outcomes[-1].tool == "Glob":
        paths = _paths(outcomes[-1].text)
        if len(paths) == 1:
            return PlannedCall("Read", {"file_path": paths[0], "limit": _READ_LINES})
    return None


def _read_call(path: str, home: Path) -> PlannedCall:
    if Path(path).is_absolute():
        return PlannedCall("Read", {"file_path": path, "limit": _READ_LINES})
    # Memory files stand in the home itself, all else in its files folder.
    in_home = home / path
    if in_home.suffix == ".md" and (in_home.parent == home or in_home.parent == home / "memory") and in_home.is_file():
        return PlannedCall("Read", {"file_path": str(in_home), "limit": _READ_LINES})
    return PlannedCall("Glob", {"pattern": f"**/{path.removeprefix('./')}"})


def _place(folder: str, home: Path) -> dict[str, str]:
    return {"path": str(home / "files" / folder)} if folder else {}


def _problem(outcome: ToolOutcome, texts: OfflineTexts) -> str | None:
    match outcome.state:
        case ToolResultState.DENIED:
            return texts.denied
        case ToolResultState.INTERRUPTED:
            return texts.interrupted
        case ToolResultState.ERROR:
            return texts.failed.format(result=with_fence(outcome.shown)) if outcome.shown else texts.failed_silently
        case _:
            return None


def _speak(topic: Topic, today: str, texts: OfflineTexts) -> str:
    match topic:
        case "courtesy":
            return texts.courtesy
        case "setup":
            return texts.setup
        case "talk":
            return texts.talk
        case "forget":
            return texts.forget
        case "today":
            return texts.today.format(today=today) if today else texts.unclear
        case _:
            assert_never(topic)


def _show(request: OfflineRequest, outcomes: Sequence[ToolOutcome], texts: OfflineTexts, language: Language) -> str:
    if isinstance(request, Remember | AskMemory | TellName | AskName | AskAboutPerson):
        return memory_reply(request, outcomes, texts)
    result = outcomes[-1].text.strip() if outcomes else ""
    is_nothing = not result or bool(_NOTHING.match(result))
    match request:
        case Introduce():
            return texts.introduction
        case Speak() | Unclear():
            return texts.unclear
        case RunCommand() if not result:
            return texts.silent_command
        case RunCommand():
            return texts.command.format(result=with_fence(outcomes[-1].shown))
        case SearchFiles(text):
            shown = texts.no_hits if is_nothing else texts.hits
            return shown.format(text=text, result=with_fence(_first_lines(result.splitlines(), texts)))
        case ListFiles() | FindFiles():
            name = request.name if isinstance(request, FindFiles) else request.folder
            return _show_paths(_paths(result), name, texts, language)
        case ReadFile(path):
            return _show_file(path, outcomes[-1], texts)
        case _:
            assert_never(request)


def _show_paths(paths: Sequence[str], name: str, texts: OfflineTexts, language: Language) -> str:
    if not paths:
        return texts.no_files.format(name=name) if name else texts.empty_folder
    return texts.files.format(count=count_files(len(paths), language), result=_path_list(paths, texts))


def _show_file(path: str, outcome: ToolOutcome, texts: OfflineTexts) -> str:
    if outcome.tool == "Glob":
        paths = _paths(outcome.text)
        if not paths:
            return texts.no_such_file.format(name=path)
        return texts.several_files.format(result=_path_list(paths, texts))
    content = _NUMBERED.sub("", outcome.text).rstrip()
    if not content.strip():
        return texts.empty_file.format(name=path)
    if len(content) <= SHOWN_CHARS:
        return texts.file.format(name=path, result=with_fence(content))
    start = content[:SHOWN_CHARS]
    return texts.file_start.format(name=path, shown=len(start), total=len(content), result=with_fence(start))


def _paths(result: str) -> list[str]:
    return [line for line in result.splitlines() if PurePath(line).is_absolute()]


def _path_list(paths: Sequence[str], texts: OfflineTexts) -> str:
    return _first_lines([f"- `{path}`" for path in paths], texts)


def _first_lines(lines: Sequence[str], texts: OfflineTexts) -> str:
    rest = len(lines) - SHOWN_LINES
    return "\n".join([*lines[:SHOWN_LINES], *([texts.more.format(count=rest)] if rest > 0 else [])])
