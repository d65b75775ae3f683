"""What a server refuses in a request, read from its words, and the same request without it (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Literal, get_args

from assistant.config.prompts import language_of, render
from assistant.text.json_values import is_list, is_object, objects_in

RequestPart = Literal[
    "stream_options",
    "parallel_tool_calls",
    "tool_choice",
    "tools",
    "system_role",
    "pictures",
    "thoughts",
    "missing_thoughts",
    "alternating_roles",
]
"""What can be left out or changed. `thoughts`: reasoning that went back with its calls and is not wanted;
`missing_thoughts`: a server that wants the field with every call, also where the model gave no reasoning."""

REQUEST_PARTS: tuple[RequestPart, ...] = get_args(RequestPart)
NOTED_PARTS: tuple[RequestPart, ...] = ("tools", "pictures", "system_role")
"""Those whose loss a person would notice."""

_NO = (
    r"not (?:be |currently |yet )?(?:supported|support|allowed|permitted|enabled|available|accepted|accept|take|valid)"
    r"|n't (?:support|accept|take|allow|have)|unsupported|extra inputs|unexpected|unrecogni[sz]ed|unknown|invalid"
    r"|cannot|no endpoints found that support|not a (?:multimodal|vision)"
)


def _refusing(names: str, more: str = "") -> re.Pattern[str]:
    """Words that name a thing and say no to it, in either order within a sentence or two; or `more`."""
    either = rf"(?:{names}).{{0,100}}?(?:{_NO})|(?:{_NO}).{{0,60}}?(?:{names})"
    return re.compile(f"{either}|{more}" if more else either, re.IGNORECASE | re.DOTALL)


_SCHEMA = re.compile(r"schema|tool_use_failed", re.IGNORECASE)
_REFUSALS: Mapping[RequestPart, re.Pattern[str]] = {
    "alternating_roles": re.compile(r"roles? (?:must|should|need to) alternate|alternating roles", re.IGNORECASE),
    "missing_thoughts": re.compile(
        r"reasoning_content.{0,80}(?:must be|missing|required|passed back|not found)|missing.{0,40}reasoning_content",
        re.IGNORECASE | re.DOTALL,
    ),
    "thoughts": _refusing(r"reasoning_content|reasoning_details|\breasoning\b"),
    "stream_options": re.compile(r"stream_options|include_usage", re.IGNORECASE),
    "parallel_tool_calls": re.compile(r"parallel[_ ]tool[_ ]calls", re.IGNORECASE),
    "tools": _refusing(
        r"\btools?\b(?!_choice)|\bfunctions?\b|function[- _]call(?:s|ing)?|tool[- _](?:use|calls?|calling)",
        r"enable-auto-tool-choice|tool-call-parser|tools? param requires",
    ),
    "tool_choice": re.compile(r"tool_choice", re.IGNORECASE),
    "system_role": _refusing(r"\bsystem\b|developer (?:role|message|instruction)"),
    "pictures": _refusing(
        r"image|vision|multi-?modal|audio|content\b.{0,20}type",
        r"missing mmproj|content\b.{0,40}(?:must|should) be a (?:valid )?string",
    ),
}


def refused_part(message: str, sent: Mapping[str, object]) -> RequestPart | None:
    """The part of the request that these words refuse; None where they speak of none that was in it."""
    for part, words in _REFUSALS.items():
        # A tool's schema that is refused says nothing against tools.
        if part == "tools" and _SCHEMA.search(message):
            continue
        if words.search(message) and _has(sent, part):
            return part
    return None


def without_parts(body: Mapping[str, object], parts: Collection[RequestPart]) -> dict[str, object]:
    """The request without these parts; what is left is what was said, in words where it had another form."""
    adapted = dict(body)
    for field in ("stream_options", "parallel_tool_calls", "tool_choice"):
        if field in parts:
            adapted.pop(field, None)
    messages = [dict(message) for message in objects_in(body.get("messages"))]
    if "tools" in parts:
        for field in ("tools", "tool_choice", "parallel_tool_calls"):
            adapted.pop(field, None)
        messages = [_without_calls(message) for message in messages]
    if "thoughts" in parts:
        messages = [_without_thoughts(message) for message in messages]
    if "missing_thoughts" in parts:
        messages = [
            {"reasoning_content": "", **message} if message.get("tool_calls") else message for message in messages
        ]
    if "pictures" in parts:
        messages = [{**message, "content": _in_words(message.get("content"))} for message in messages]
    if "system_role" in parts:
        messages = [
            {**message, "role": "user"} if message.get("role") in ("system", "developer") else message
            for message in messages
        ]
    if {"alternating_roles", "system_role", "tools"} & set(parts):
        messages = merge_roles(messages)
    adapted["messages"] = messages
    return adapted


def merge_roles(messages: list[dict[str, object]]) -> list[dict[str, object]]:
    """The same words with neighbours of the user, and of the assistant without calls, in one message."""
    merged: list[dict[str, object]] = []
    for message in messages:
        last = merged[-1] if merged else None
        if last is not None and _is_plain(last) and _is_plain(message) and last["role"] == message["role"]:
            merged[-1] = {**last, "content": f"{last['content']}\n\n{message['content']}"}
        else:
            merged.append(message)
    return merged


def _is_plain(message: Mapping[str, object]) -> bool:
    return (
        message["role"] in ("user", "assistant")
        and isinstance(message.get("content"), str)
        and "tool_calls" not in message
    )


def _has(body: Mapping[str, object], part: RequestPart) -> bool:
    messages = objects_in(body.get("messages"))
    match part:
        case "stream_options" | "parallel_tool_calls" | "tool_choice" | "tools":
            return part in body
        case "system_role":
            return any(message.get("role") in ("system", "developer") for message in messages)
        case "thoughts":
            return any(message.get("reasoning_content") or message.get("reasoning") for message in messages)
        case "missing_thoughts":
            return any(message.get("tool_calls") and "reasoning_content" not in message for message in messages)
        case "pictures":
            return any(is_list(message.get("content")) for message in messages)
        case "alternating_roles":
            return True


def _without_thoughts(message: Mapping[str, object]) -> dict[str, object]:
    fields = ("reasoning_content", "reasoning", "reasoning_details")
    return {name: value for name, value in message.items() if name not in fields}


def _without_calls(message: Mapping[str, object]) -> dict[str, object]:
    """The message in words: calls and results become text, so that no field is left that only tools have."""
    content = message.get("content")
    if message.get("role") == "tool":
        return {"role": "user", "content": _rendered("tool_result_in_words", str(content), name=message.get("name"))}
    calls = message.get("tool_calls")
    if not is_list(calls):
        return dict(message)
    functions = [function for call in calls if is_object(call) and is_object(function := call.get("function"))]
    lines = [f"{function.get('name')}({function.get('arguments')})" for function in functions]
    rest = {name: value for name, value in message.items() if name not in ("tool_calls", "content")}
    return {**rest, "content": "\n".join([*([content] if isinstance(content, str) and content else []), *lines])}


def _in_words(content: object) -> object:
    """The text of the parts, each other part as a sentence that says what was there."""
    if not is_list(content):
        return content
    texts: list[str] = []
    for part in content:
        if is_object(part):
            text, kind = part.get("text"), str(part.get("type"))
            texts.append(text if isinstance(text, str) else _rendered("part_in_words", "", kind=_kind(kind)))
    return "\n".join(texts)


def _kind(part_type: str) -> str:
    return "picture" if "image" in part_type else "sound" if "audio" in part_type else "file"


def _rendered(template: str, text: str, **values: object) -> str:
    return render(template, language_of(text), text=text, **values)
