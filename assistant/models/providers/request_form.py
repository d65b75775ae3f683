"""The form of a request that every OpenAI-compatible server takes, from the strictest to the most minimal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentscope.formatter import DashScopeChatFormatter, OpenAIChatFormatter

from assistant.config.prompts import language_of, render
from assistant.messages.blocks import Msg, parse_object
from assistant.models.providers.links import with_links_as_words
from assistant.text.json_values import is_list, is_object

WireMessage = dict[str, object]
"""A message as JSON, as AgentScope's formatters make it."""


class TidyOpenAIFormatter(OpenAIChatFormatter):
    """AgentScope's messages for OpenAI, tidied."""

    async def format(self, msgs: list[Msg]) -> list[WireMessage]:
        """The messages as the server gets them."""
        return tidy_messages(await super().format(with_links_as_words(msgs)))


class TidyDashScopeFormatter(DashScopeChatFormatter):
    """AgentScope's messages for DashScope, tidied."""

    async def format(self, msgs: list[Msg]) -> list[WireMessage]:
        """The messages as the server gets them."""
        return tidy_messages(await super().format(with_links_as_words(msgs)))


def tidy_messages(messages: Sequence[WireMessage]) -> list[WireMessage]:
    """The same conversation without what some provider refuses.

    Text goes as a string and not as parts, names only with tool results (OpenAI refuses names with spaces, small
    servers any), empty messages not at all. Arguments that are no JSON object (a call that was cut off while it
    streamed) go as an empty one; their result says what happened. A turn that was stopped within an answer ends with
    the assistant's own words, so that going on with it needs a request.
    """
    tidied = [one for message in messages if (one := _tidy(message)) is not None]
    if tidied and tidied[-1]["role"] == "assistant" and not tidied[-1].get("tool_calls"):
        language = language_of(str(tidied[-1]["content"]))
        tidied.append({"role": "user", "content": render("go_on", language)})
    return tidied


def with_messages(arguments: Mapping[str, object], messages: Sequence[WireMessage]) -> dict[str, object]:
    """The arguments of a request with its messages in `extra_body`, which takes the place of the `messages` beside it.

    The client compares every value of `messages` with their types before it sends them: most of what a call costs in a
    long conversation, and for nothing, since they are of that form. What is sent is the same, byte for byte.
    """
    given = arguments.get("extra_body")
    body = given if is_object(given) else {}
    return {**arguments, "extra_body": {**body, "messages": list(messages)}}


def is_blank_text(part: Mapping[str, object]) -> bool:
    """True for a part of a message that is text and says nothing."""
    return part.get("type") == "text" and not str(part.get("text") or "").strip()


def _tidy(message: WireMessage) -> WireMessage | None:
    tidied = dict(message)
    content = _tidy_content(tidied.get("content"))
    if tidied["role"] == "tool":
        tidied["content"] = content or render("empty_result", "en")
        return tidied
    tidied.pop("name", None)
    tidied["content"] = content
    calls = tidied.get("tool_calls")
    if is_list(calls) and calls:
        tidied["tool_calls"] = [_tidy_call(call) for call in calls if is_object(call)]
        return tidied
    return tidied if content else None


def _tidy_content(content: object) -> object:
    """A string where there is only text, None where there is nothing."""
    if isinstance(content, str):
        return content if content.strip() else None
    if not is_list(content):
        return None
    parts = [part for part in content if is_object(part) and not is_blank_text(part)]
    if all(part.get("type") == "text" for part in parts):
        return "\n".join(str(part.get("text")) for part in parts) or None
    return parts


def _tidy_call(call: dict[str, object]) -> dict[str, object]:
    function = call.get("function")
    if not is_object(function):
        return call
    is_readable = parse_object(str(function.get("arguments") or "")) is not None
    return call if is_readable else {**call, "function": {**function, "arguments": "{}"}}
