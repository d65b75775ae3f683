"""AgentScope's messages for Anthropic in the form that its API takes, with the places to cache up to (pure)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentscope.formatter import AnthropicChatFormatter

from assistant.config.prompts import language_of, render
from assistant.messages.blocks import Msg
from assistant.models.providers.request_form import is_blank_text
from assistant.text.json_values import JsonObject, is_object, objects_in

_NOT_IN_ID = re.compile(r"[^a-zA-Z0-9_-]")
_CACHED = {"cache_control": {"type": "ephemeral"}}
_THOUGHTS = ("thinking", "redacted_thinking")


class TidyAnthropicFormatter(AnthropicChatFormatter):
    """AgentScope's messages for Anthropic, tidied."""

    async def format(self, msgs: list[Msg]) -> list[JsonObject]:
        """The messages as the server gets them."""
        return with_cache_places(tidy_blocks(await super().format(msgs)))


def tidy_blocks(messages: Sequence[JsonObject]) -> list[JsonObject]:
    """The same conversation without what the API refuses.

    Neighbours of one role become one message; no text is blank; ids of calls have the letters that are allowed;
    arguments are an object; an assistant's message holds more than thoughts. Only the first message is the system's.
    The last words are the user's: newer models refuse to go on from words of their own.
    """
    merged: list[JsonObject] = []
    for place, message in enumerate(messages):
        role = "user" if place and message["role"] == "system" else message["role"]
        blocks = _tidy_content(message.get("content"))
        if role == "assistant" and all(block.get("type") in _THOUGHTS for block in blocks):
            continue
        if not blocks:
            continue
        if merged and merged[-1]["role"] == role:
            merged[-1] = {"role": role, "content": [*objects_in(merged[-1]["content"]), *blocks]}
        else:
            merged.append({"role": role, "content": blocks})
    if merged and merged[-1]["role"] == "assistant":
        words = " ".join(str(block.get("text", "")) for block in objects_in(merged[-1]["content"]))
        merged.append({"role": "user", "content": [{"type": "text", "text": render("go_on", language_of(words))}]})
    return merged


def with_cache_places(messages: Sequence[JsonObject]) -> list[JsonObject]:
    """The same messages with marks up to which the server keeps what it has read.

    Behind the prompt, before which the tools stand; behind the newest message; and behind the user's one before it,
    from where this request reads what the last one wrote. The API takes four marks.
    https://platform.claude.com/docs/en/build-with-claude/prompt-caching
    """
    users = [place for place, message in enumerate(messages) if message["role"] == "user"]
    marked = {*users[-2:], *(place for place, message in enumerate(messages) if message["role"] == "system")}
    return [_marked(message) if place in marked else message for place, message in enumerate(messages)]


def _marked(message: JsonObject) -> JsonObject:
    *before, last = objects_in(message["content"])
    return {**message, "content": [*before, {**last, **_CACHED}]}


def _tidy_content(content: object) -> list[JsonObject]:
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    return [_tidy_block(block) for block in objects_in(content) if not is_blank_text(block)]


def _tidy_block(block: JsonObject) -> JsonObject:
    match block.get("type"):
        case "tool_use":
            arguments = block.get("input")
            return {**block, "id": _plain_id(block.get("id")), "input": arguments if is_object(arguments) else {}}
        case "tool_result":
            content = [part for part in objects_in(block.get("content")) if not is_blank_text(part)]
            said = content or [{"type": "text", "text": render("empty_result", "en")}]
            return {**block, "tool_use_id": _plain_id(block.get("tool_use_id")), "content": said}
        case _:
            return block


def _plain_id(call_id: object) -> str:
    """Other providers have ids with dots and colons; the same letters take their place wherever the id stands."""
    return _NOT_IN_ID.sub("_", str(call_id))
