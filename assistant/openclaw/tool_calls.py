"""What a tool call was for and how it ended, read from its command and its output."""

from __future__ import annotations

import re
from typing import Literal

from assistant.openclaw.entry_contents import CallContent, ResultContent, call_command, is_cut, notes_failure
from assistant.openclaw.session_entries import Json, parse_object

CallShape = Literal["listing", "search", "other"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Looking round: worth nothing once the next step is taken.
_LISTING_COMMANDS = _words(
    "ls ll la dir pwd cd pushd popd tree which where whereis type whoami hostname stat file get-childitem gci"
    " get-location set-location test-path ps pgrep netstat ss lsof df du id date uname"
)
_SEARCH_COMMANDS = _words("grep egrep fgrep rg ag ack findstr select-string git-grep find fd locate mdfind")
# Commands that may share a line with them: it is still only a look.
_HARMLESS_COMMANDS = _words("head tail sort uniq wc echo true cat less more column cut tr sudo env time")
_LISTING_TOOLS = _words("ls list list_dir list_directory list_files listdir pwd tree")
_SEARCH_TOOLS = _words("grep glob find search search_files grep_search file_search codebase_search")
_WRITING_FIND = re.compile(r"\s-(?:exec(?:dir)?|ok(?:dir)?|delete|fprint\w*)\b")
_REDIRECT = re.compile(r"\d*>{1,2}\s*(?:&\d|/dev/null|\$null|nul\b)", re.IGNORECASE)
_SEPARATOR = re.compile(r"\|\||&&|[;|\n]")
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_ASSIGNMENT = re.compile(r"^\w+=\S*$")

_EXIT_NOTE = re.compile(r"\(?\b(?:command )?exit(?:ed)?(?: with)?(?: code| status)?[: ]+(\d+)\)?", re.IGNORECASE)
_EXIT_NOTE_ZH = re.compile(r"[(（]?(?:命令)?退出(?:码|状态|代码)\s*[:：为]?\s*(\d+)[)）]?")
_NOTHING = re.compile(
    r"\(?no (?:output|matches|match|results|result|files|hits)(?: were)?(?: found)?(?: for .*)?\)?"
    r"|(?:found )?0 (?:results|matches|files|hits|lines)(?: found)?(?: for .*)?"
    r"|nothing found|not found|no matching .*|no such results|\(empty\)|\[\]|null|none"
    r"|[(（]?(?:无输出|没有输出|空)[)）]?"
    r"|(?:未|没有?)(?:找到|匹配|发现|搜索到|查到)(?:到)?(?:任何)?(?:.{0,12})?"
    r"|没有(?:任何)?(?:匹配|结果|输出|文件)(?:.{0,12})?|无(?:匹配|结果|命中)(?:.{0,6})?"
    r"|(?:找到|共|匹配到?)?\s*0\s*(?:个|条|处|项)(?:.{0,6})?",
    re.IGNORECASE,
)
_FAILURE_START = re.compile(
    r"\s*(?:error\b|exception\b|traceback \(most recent call last\)|fatal:|failed\b|permission denied"
    r"|command not found|错误|失败|异常|无法)",
    re.IGNORECASE,
)
_SHORT_CHARS = 400
# Nobody looks round with a script of this length.
_COMMAND_CHARS = 2_000


def call_shape(call: CallContent) -> CallShape:
    """`listing` for a look at names and places, `search` for one that counts only by what it found."""
    name = call.name.lower().rsplit(".", 1)[-1].rsplit("__", 1)[-1]
    if name in _LISTING_TOOLS:
        return "listing"
    command = call_command(call)
    if not command:
        return "search" if name in _SEARCH_TOOLS else "other"
    return _command_shape(command)


def is_empty_handed(result: ResultContent) -> bool:
    """True when a search brought nothing: no output, an exit code of 1 without output, or words that say so."""
    text = _without_exit_note(result.text).strip()
    if not text:
        return result.image_chars == 0
    if len(text) > _SHORT_CHARS:
        return False
    listed = parse_object(text)
    if listed is not None:
        return any(_is_nothing(listed.get(key)) for key in ("matches", "results", "count", "total", "files"))
    return all(_NOTHING.fullmatch(line.strip().rstrip(".。!！")) for line in text.splitlines() if line.strip())


def has_failed(result: ResultContent) -> bool:
    """True when the tool says it failed: its flag, an exit code, a status field or the first word."""
    if result.is_error or (result.exit_code is not None and result.exit_code != 0):
        return True
    return says_failed(result.text)


def says_failed(output: str) -> bool:
    """True when the words of an output say that the call failed."""
    if notes_failure(output):
        return True
    head = output[:_SHORT_CHARS]
    noted = _exit_code_noted(output[-_SHORT_CHARS:])
    if noted is not None:
        return noted != 0
    if head.lstrip().startswith("{"):
        return _status_is_error(head)
    return _FAILURE_START.match(head) is not None


def _command_shape(command: str) -> CallShape:
    if len(command) > _COMMAND_CHARS or is_cut(command) or (" -" in command and _WRITING_FIND.search(command)):
        return "other"
    plain = _QUOTED.sub("q", command) if "'" in command or '"' in command else command
    plain = _REDIRECT.sub(" ", plain) if ">" in plain else plain
    if ">" in plain or "$(" in plain or "`" in plain:
        return "other"
    shape: CallShape | None = None
    for part in _SEPARATOR.split(plain):
        word = _first_word(part)
        if word in _SEARCH_COMMANDS:
            shape = "search"
        elif word in _LISTING_COMMANDS:
            shape = shape or "listing"
        elif word and word not in _HARMLESS_COMMANDS:
            return "other"
    return shape or "other"


def _first_word(part: str) -> str:
    words = part.split(maxsplit=8)
    at = 0
    while at < len(words) and (words[at] in ("sudo", "env", "time") or _ASSIGNMENT.match(words[at])):
        at += 1
    if words[at : at + 2] == ["git", "grep"]:
        return "git-grep"
    word = words[at] if at < len(words) else ""
    return word.replace("\\", "/").rsplit("/", 1)[-1].lower().removesuffix(".exe")


def _exit_code_noted(tail: str) -> int | None:
    if "exit" not in tail.lower() and "退出" not in tail:
        return None
    found = [*_EXIT_NOTE.finditer(tail), *_EXIT_NOTE_ZH.finditer(tail)]
    return int(found[-1].group(1)) if found else None


def _without_exit_note(text: str) -> str:
    return _EXIT_NOTE_ZH.sub("", _EXIT_NOTE.sub("", text)) if len(text) <= _SHORT_CHARS else text


def _is_nothing(value: Json) -> bool:
    return value == 0 or value == []


def _status_is_error(head: str) -> bool:
    return re.search(r'"status"\s*:\s*"(?:error|failed|failure)"|"(?:is_?error|isError)"\s*:\s*true', head) is not None
