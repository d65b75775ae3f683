"""Where in a text that a model writes calls may stand: marks that open them, JSON at the end, whole answers (pure).

A call counts only where its tool is on offer and its arguments fit; anything else is text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from assistant.models.wire.call_forms import (
    PREFIXES,
    Schemas,
    WrittenCall,
    call_by_name,
    calls_in_json,
    calls_in_python,
    calls_in_section,
)
from assistant.text.json_values import is_object

_TAGS = ("tool_call", "tool_calls", "toolcall", "tools", "tool_use", "tool_code", "function_call", "function_calls")
SECTIONS: Mapping[str, tuple[str, ...]] = {
    **{f"<{prefix}{tag}>".lower(): (f"</{prefix}{tag}>".lower(),) for prefix in PREFIXES for tag in _TAGS},
    **{f"<{prefix}invoke name=".lower(): (f"</{prefix}invoke>".lower(),) for prefix in PREFIXES},
    "<tool_call name=": ("</tool_call>",),
    "<function=": ("</function>",),
    "<function(": ("</function>",),
    "<|python_tag|>": ("<|eom_id|>", "<|eot_id|>"),
    "[tool_calls]": ("</s>",),
    "<|tool_call|>": ("<|/tool_call|>", "<|end|>"),
    "<|tool_call_start|>": ("<|tool_call_end|>",),
    "<|tool_calls_section_begin|>": ("<|tool_calls_section_end|>",),
    "<|tool_call_begin|>": ("<|tool_call_end|>",),
    "<｜tool▁calls▁begin｜>": ("<｜tool▁calls▁end｜>",),
    "<｜tool▁call▁begin｜>": ("<｜tool▁call▁end｜>",),
    "<｜tool_calls_begin｜>": ("<｜tool_calls_end｜>",),
    "<tool_call_begin>": ("<tool_call_end>",),
    "<start_function_call>": ("<end_function_call>",),
    "<|start_action|>": ("<|end_action|>",),
    "<|action_start|>": ("<|action_end|>",),
    "<|tools_prefix|>": ("<|tools_suffix|>",),
    "<|channel|>commentary to=": ("<|call|>", "<|end|>"),
    "<|channel|>analysis to=": ("<|call|>", "<|end|>"),
    "<|start|>assistant to=": ("<|call|>", "<|end|>"),
    "<|start|>assistant<|channel|>commentary to=": ("<|call|>", "<|end|>"),
    "<|start|>assistant<|channel|>analysis to=": ("<|call|>", "<|end|>"),
    "✿function✿": ("✿result✿", "✿return✿"),
    "functools[": (),
}
"""What opens a call written as text, and what ends it, in small letters; the end of the answer ends each too."""

_LAST_FENCE = re.compile(
    r"(?:^|\n)(?:Action:[ \t]*)?```(?:json|tool_calls?|tool_code|tool|python|py)?[ \t]*\n((?:(?!\n```).)*?)\n?```\s*$",
    re.DOTALL,
)
_LAST_LINES = re.compile(
    r"(?:^|\n)Action:[ \t]*`?([\w.:-]+)`?[ \t]*\nAction Input:[ \t]*(\{.*?\})\s*(?:\nObservation:.*)?$", re.DOTALL
)
_CLOSING = re.compile(r"\s*</(?:tool_call|tool_calls|function_call|function)>\s*$")
_HEADER = re.compile(r"[ \t]*(?:```(?:json|tool_calls?|tool_code|tool)?[ \t]*(?:\n|$))?\s*\[?\s*")
_PYTHONIC = re.compile(r"\[\s*[A-Za-z_]\w*(?:\(.*)?", re.DOTALL)
_TOOL_CODE = re.compile(r"```tool_code[ \t]*\n.*", re.DOTALL)
_FENCES = ("```json", "```tool_call", "```tool_code")
_KEYS = (
    '"name"',
    '"tool"',
    '"tool_name"',
    '"function"',
    '"type"',
    '"id"',
    '"arguments"',
    '"parameters"',
    '"action"',
    '"tool_calls"',
    '"tool_call_id"',
)
_GOES_ON = re.compile(r"[)}]\s*\n\s*\w")
_LONGEST_ACTION = 200


def schemas_of(tools: Sequence[object]) -> dict[str, Mapping[str, object]]:
    """The parameters of each tool as a request offers them."""
    found: dict[str, Mapping[str, object]] = {}
    for tool in tools:
        function = tool.get("function") if is_object(tool) else None
        if is_object(function):
            parameters = function.get("parameters")
            found[str(function.get("name"))] = parameters if is_object(parameters) else {}
    return found


def sections_of(schemas: Schemas) -> Mapping[str, tuple[str, ...]]:
    """What opens a call and what ends it where these tools are on offer: some models make a tag of a tool's name."""
    # A name of one word could be that of any element.
    return {**SECTIONS, **{f"<{name.lower()}>": (f"</{name.lower()}>",) for name in schemas if "_" in name}}


def read_section(text: str, schemas: Schemas) -> list[WrittenCall]:
    """The calls in a stretch of text that one of `SECTIONS` opened; empty unless all of it is calls."""
    return calls_in_section(text, schemas)


def read_whole(text: str, schemas: Schemas) -> list[WrittenCall]:
    """The calls that a whole answer without marks consists of: JSON, alone or in a fence, or Python; else empty."""
    stripped = _CLOSING.sub("", text.strip())
    for read in (calls_in_json, calls_in_python, call_by_name):
        if calls := read(stripped, schemas):
            return calls
    return []


def split_last(text: str, schemas: Schemas) -> tuple[str, list[WrittenCall]]:
    """The text before a call that ends the answer, and the call.

    The last fence, JSON from the start of a line, or the two lines *Action* and *Action Input*.
    """
    fence = _LAST_FENCE.search(text)
    if fence and (calls := calls_in_json(fence[1], schemas) or calls_in_python(fence[1], schemas)):
        return text[: fence.start()], calls
    lines = _LAST_LINES.search(text)
    if lines and (calls := call_by_name(f"{lines[1]} {lines[2]}", schemas)):
        return text[: lines.start()], calls
    for start in re.finditer(r"(?:^|\n)(?=[ \t]*[{\[])", text):
        if calls := calls_in_json(_CLOSING.sub("", text[start.end() :]), schemas):
            return text[: start.start()], calls
    return text, []


def may_become_call(text: str) -> bool:
    """True while a text that has begun with a line could still be a call without marks up to its end."""
    if _PYTHONIC.fullmatch(text.strip()) or _TOOL_CODE.fullmatch(text) or _may_become_action(text):
        return True
    header = _HEADER.match(text)
    rest = text[header.end() :] if header else text
    if not rest.startswith("{"):
        return bool(text) and (not rest or rest == "[" or any(fence.startswith(text.strip()) for fence in _FENCES))
    inner = rest[1:].lstrip()
    if inner and not any(inner.startswith(key) or key.startswith(inner) for key in _KEYS):
        return False
    try:
        _, end = json.JSONDecoder(strict=False).raw_decode(rest)
    except (ValueError, RecursionError):
        return True
    behind = rest[end:].strip()
    is_closing = any(f"</{tag}>".startswith(behind) for tag in _TAGS)
    return is_closing or not behind.strip("`]}{,; \n") or rest[end:].lstrip(" \n,;").startswith("{")


def may_become_named_call(text: str, schemas: Schemas) -> bool:
    """True while a whole answer could still be a call by the name of a tool: `name(…)`, `name {…}`, `print(…)`."""
    stripped = text.lstrip()
    for prefix in ("", "print(", "default_api.", "print(default_api.", "functions."):
        for name in schemas:
            opening = prefix + name
            if opening.startswith(stripped) or (
                stripped.startswith(opening)
                and re.match(r"\s*(?:[({]|$)", stripped[len(opening) :])
                and not _GOES_ON.search(stripped)
            ):
                return bool(stripped)
    return False


def _may_become_action(text: str) -> bool:
    """True while a text could still be the lines *Action* and *Action Input*, or an action in a fence."""
    first, is_ended, second = text.partition("\n")
    if not "Action:".startswith(first[: len("Action:")]) or not first or len(first) > _LONGEST_ACTION:
        return False
    if not is_ended or "```" in first:
        return len(first) >= len("Action:") or not is_ended
    return "Action Input:".startswith(second[: len("Action Input:")])
