"""Files that a stretch of messages read and changed, merged with those named by the previous summary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assistant.messages.blocks import Msg, ToolCallBlock, ToolResultBlock, call_arguments, result_text
from assistant.text.json_parsing import parse_json
from assistant.text.json_values import is_list, is_object

MAX_PATHS = 200
"""Newest paths kept of each list."""

_READ_TOOLS = {"read", "read_file", "read_text_file", "view", "cat", "memory_get", "get_file"}
_SEARCH_TOOLS = {"glob", "grep"}
_WRITE_TOOLS = {
    "write", "write_file", "edit", "edit_file", "append_file", "create_file", "str_replace", "multiedit", "apply_patch",
}  # fmt: skip
_PATH_NAMES = ("file_path", "path", "filename", "file", "filepath")
_LISTS = re.compile(
    r"^<(read|modified)-files>\n((?:(?!</?(?:read|modified)-files>).*\n)*)</\1-files>[ \t]*$", re.MULTILINE
)
_FAILED = ("error", "denied", "interrupted")


@dataclass(frozen=True, slots=True)
class FileLists:
    """Paths in the order of their last use, oldest first."""

    read: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()


def files_of(messages: Sequence[Msg]) -> FileLists:
    """The files that the tool calls of these messages read and changed; calls that failed count for nothing."""
    read: list[str] = []
    modified: list[str] = []
    for message in messages:
        failed = {
            block.id for block in message.content if isinstance(block, ToolResultBlock) and block.state in _FAILED
        }
        for block in message.content:
            if isinstance(block, ToolCallBlock) and block.id not in failed:
                _add_call(block, read, modified)
            elif isinstance(block, ToolResultBlock):
                modified.extend(_new_files(result_text(block)))
    return FileLists(_newest(read), _newest(modified))


def merge_files(earlier: FileLists, later: FileLists) -> FileLists:
    """Both together, each path once."""
    return FileLists(_newest([*earlier.read, *later.read]), _newest([*earlier.modified, *later.modified]))


def write_file_lists(files: FileLists) -> str:
    """The lists as they stand at the end of a summary; empty when there is no path."""
    parts = [
        f"<{name}-files>\n" + "\n".join(paths) + f"\n</{name}-files>"
        for name, paths in (("read", files.read), ("modified", files.modified))
        if paths
    ]
    return "\n".join(parts)


def read_file_lists(summary: str) -> FileLists:
    """The lists that stand in a summary."""
    found: dict[str, list[str]] = {"read": [], "modified": []}
    for match in _LISTS.finditer(summary):
        found[match[1]].extend(line.strip() for line in match[2].split("\n"))
    return FileLists(_newest(found["read"]), _newest(found["modified"]))


def without_file_lists(text: str) -> str:
    """The text without any file list, such as one that a model copied."""
    return _LISTS.sub("", text).strip()


def _add_call(call: ToolCallBlock, read: list[str], modified: list[str]) -> None:
    name = call.name.rpartition("__")[2].lower()
    arguments = call_arguments(call)
    path = next((value for key in _PATH_NAMES if isinstance(value := arguments.get(key), str) and value), None)
    if name in _SEARCH_TOOLS:
        pattern = arguments.get("pattern")
        is_named_by_pattern = name == "glob" and isinstance(pattern, str)
        read.extend([f"{path}/{pattern}" if path else str(pattern)] if is_named_by_pattern else [path] if path else [])
    elif path and name in _WRITE_TOOLS:
        modified.append(path)
    elif path and name in _READ_TOOLS:
        read.append(path)


def _new_files(text: str) -> Iterable[str]:
    # Only a result that is a JSON object can name new files; the test is cheap and spares parsing megabytes.
    if not text.lstrip().startswith("{") or '"new_files"' not in text:
        return
    try:
        value = parse_json(text)
    except ValueError:
        return
    listed = value.get("new_files") if is_object(value) else None
    for entry in listed if is_list(listed) else []:
        name = entry.get("filename") if is_object(entry) else None
        if isinstance(name, str):
            yield name


def _newest(paths: Iterable[str]) -> tuple[str, ...]:
    legal = [path for path in paths if path and "\n" not in path and "-files>" not in path]
    ordered = dict.fromkeys(reversed(legal))
    return tuple(reversed([path for path, _ in zip(ordered, range(MAX_PATHS), strict=False)]))
