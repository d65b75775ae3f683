"""AgentScope's messages for Ollama in the form that its chat takes (pure)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

from agentscope.formatter import OllamaChatFormatter

from assistant.config.prompts import language_of, render
from assistant.messages.blocks import Msg
from assistant.text.json_values import JsonObject, is_list, is_object


class TidyOllamaFormatter(OllamaChatFormatter):
    """AgentScope's messages for Ollama, tidied."""

    async def format(self, msgs: list[Msg]) -> list[JsonObject]:
        """The messages as the library gets them."""
        return tidy_rows(await super().format(msgs))


def tidy_rows(messages: Sequence[JsonObject]) -> list[JsonObject]:
    """The same conversation with the calls of one step in one message, and without messages that say nothing.

    Ollama joins the texts of neighbours of one role, and loses the calls of all but the first. Pictures go as bytes:
    a text that is the path of a file would be read from disk by the library. The last words are not the assistant's.
    """
    tidied: list[JsonObject] = []
    for message in messages:
        one = _tidy(message)
        last = tidied[-1] if tidied else None
        if last and last["role"] == "assistant" and one["role"] == "assistant" and last.get("tool_calls"):
            calls = [*_list(last["tool_calls"]), *_list(one.get("tool_calls"))]
            tidied[-1] = {**last, "content": _joined(last["content"], one["content"]), "tool_calls": calls}
        elif one["content"] or one.get("tool_calls") or one.get("images"):
            tidied.append(one)
    if tidied and tidied[-1]["role"] == "assistant" and not tidied[-1].get("tool_calls"):
        language = language_of(str(tidied[-1]["content"]))
        tidied.append({"role": "user", "content": render("go_on", language)})
    return tidied


def _tidy(message: JsonObject) -> JsonObject:
    content = str(message.get("content") or "")
    content = content if content.strip() else ""
    if message["role"] == "tool":
        content = content or render("empty_result", "en")
    tidied = {**message, "content": content}
    if calls := _list(message.get("tool_calls")):
        tidied["tool_calls"] = [_tidy_call(call) for call in calls if is_object(call)]
    if pictures := [picture for value in _list(message.get("images")) if (picture := _bytes_of(value))]:
        tidied["images"] = pictures
    else:
        tidied.pop("images", None)
    return tidied


def _tidy_call(call: JsonObject) -> JsonObject:
    function = call.get("function")
    if not is_object(function):
        return call
    arguments = function.get("arguments")
    return {**call, "function": {**function, "arguments": arguments if is_object(arguments) else {}}}


def _bytes_of(picture: object) -> bytes:
    try:
        return base64.b64decode(str(picture), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _joined(first: object, second: object) -> str:
    return "\n".join(str(text) for text in (first, second) if text)


def _list(value: object) -> list[object]:
    return value if is_list(value) else []
