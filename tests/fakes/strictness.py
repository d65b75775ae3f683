"""What a real provider refuses: every rule that a request must keep, with the words real providers use."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal

from tests.fakes.wire import text_of

Dialect = Literal["openai", "dashscope", "llama.cpp", "vllm", "ollama", "lmstudio"]

_TOOL_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is refused, as a provider's error body says it."""

    message: str
    code: str | None = None
    type: str = "invalid_request_error"
    status: int = 400


def refuse_malformed(body: dict[str, object]) -> Refusal | None:
    """The first rule the request breaks, or None."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return Refusal("[] is too short - 'messages'")
    if not isinstance(body.get("model"), str) or not body["model"]:
        return Refusal("you must provide a model parameter")
    return _refuse_tools(body) or _refuse_order(messages) or _refuse_content(messages) or _refuse_pairs(messages)


def refuse_neighbours(body: dict[str, object]) -> Refusal | None:
    """What the templates of Gemma and Mistral refuse: two messages of the user, or of the assistant, in a row."""
    messages = body["messages"]
    assert isinstance(messages, list)
    roles = [message["role"] for message in messages if not message.get("tool_calls")]
    if any(one == other and one != "tool" for one, other in zip(roles, roles[1:], strict=False)):
        return Refusal(
            "Conversation roles must alternate user/assistant/user/assistant/...", type="server_error", status=500
        )
    return None


def refuse_too_long(tokens: int, window_tokens: int, dialect: Dialect) -> Refusal | None:
    """A refusal in the dialect's own words when the request does not fit, or None."""
    if tokens <= window_tokens:
        return None
    match dialect:
        case "openai":
            text = (
                f"This model's maximum context length is {window_tokens} tokens. However, your messages resulted in "
                f"{tokens} tokens. Please reduce the length of the messages."
            )
            return Refusal(text, "context_length_exceeded")
        case "dashscope":
            text = f"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, {window_tokens}]"
            return Refusal(text, "invalid_parameter_error")
        case "llama.cpp":
            text = (
                f"request ({tokens} tokens) exceeds the available context size ({window_tokens} tokens), "
                "try increasing it"
            )
            return Refusal(text, None, "exceed_context_size_error")
        case "vllm":
            text = (
                f"This model's maximum context length is {window_tokens} tokens. However, you requested {tokens} "
                "tokens in the messages, Please reduce the length of the messages."
            )
            return Refusal(text, None, "BadRequestError")
        case "ollama":
            over = tokens - window_tokens
            return Refusal(f"prompt too long; exceeded max context length by {over} tokens", None, "api_error")
        case "lmstudio":
            text = (
                f"Trying to keep the first {tokens} tokens when context the overflows. However, the model is loaded "
                f"with context length of only {window_tokens} tokens, which is not enough."
            )
            return Refusal(text, None, "lmstudio_error")


def _refuse_tools(body: dict[str, object]) -> Refusal | None:
    if "tools" not in body:
        if "tool_choice" in body:
            return Refusal("'tool_choice' is only allowed when 'tools' are specified.")
        return None
    tools = body["tools"]
    if not isinstance(tools, list) or not tools:
        return Refusal("[] is too short - 'tools'")
    names = [str(tool.get("function", {}).get("name", "")) for tool in tools]
    for index, name in enumerate(names):
        if not _TOOL_NAME.match(name):
            return Refusal(f"Invalid 'tools[{index}].function.name': {name!r} does not match '{_TOOL_NAME.pattern}'.")
    if len(set(names)) != len(names):
        return Refusal("Tool names must be unique.")
    return None


def _refuse_order(messages: list[dict[str, object]]) -> Refusal | None:
    for index, message in enumerate(messages):
        role = message.get("role")
        if role not in ("system", "developer", "user", "assistant", "tool"):
            return Refusal(f"Invalid value: {role!r}. Supported values are: 'system', 'assistant', 'user', 'tool'.")
        if role in ("system", "developer") and index:
            return Refusal("System message must be at the beginning.")
    if not any(message["role"] == "user" for message in messages):
        return Refusal("No user query found in messages.")
    if messages[-1]["role"] == "assistant" and not messages[-1].get("tool_calls"):
        return Refusal("Expected last role User or Tool for serving but got assistant")
    return None


def _refuse_content(messages: list[dict[str, object]]) -> Refusal | None:
    for index, message in enumerate(messages):
        content = message.get("content")
        if content is None and message["role"] == "assistant" and message.get("tool_calls"):
            continue
        if content is None:
            return Refusal(f"Invalid value for 'content' of messages[{index}]: expected a string, got null.")
        if isinstance(content, list):
            for part in content:
                if part.get("type") == "text" and not str(part.get("text", "")).strip():
                    return Refusal(f"messages[{index}]: text content blocks must be non-empty")
            has_media = any(part.get("type") != "text" for part in content)
        else:
            has_media = False
        if not has_media and not text_of(content).strip():
            return Refusal(f"messages[{index}]: all messages must have non-empty content")
    return None


def _refuse_pairs(messages: list[dict[str, object]]) -> Refusal | None:
    seen: set[str] = set()
    open_ids: list[str] = []
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            call_id = message.get("tool_call_id")
            if call_id not in open_ids:
                return Refusal(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
                    f"'tool_calls'. (messages[{index}], tool_call_id {call_id!r})"
                )
            open_ids.remove(str(call_id))
            continue
        if open_ids:
            return _unanswered(open_ids)
        calls = message.get("tool_calls") or []
        if not isinstance(calls, list):
            return Refusal(f"messages[{index}]: 'tool_calls' must be a list")
        for call in calls:
            if refusal := _refuse_call(call, seen, index):
                return refusal
            seen.add(call["id"])
            open_ids.append(call["id"])
    return _unanswered(open_ids) if open_ids else None


def _refuse_call(call: dict[str, dict[str, str]], seen: set[str], index: int) -> Refusal | None:
    call_id = call.get("id")
    if not isinstance(call_id, str) or not call_id:
        return Refusal(f"messages[{index}]: every tool call needs an id")
    if call_id in seen:
        return Refusal(f"Duplicate value for 'tool_call_id' of {call_id!r} in messages[{index}].")
    try:
        arguments = json.loads(call["function"]["arguments"])
    except (KeyError, ValueError):
        arguments = None
    if not isinstance(arguments, dict):
        return Refusal(
            'InternalError.Algo.InvalidParameter: The "function.arguments" parameter of the code model must be in '
            "JSON format."
        )
    return None


def _unanswered(open_ids: list[str]) -> Refusal:
    return Refusal(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        f"The following tool_call_ids did not have response messages: {', '.join(open_ids)}"
    )
