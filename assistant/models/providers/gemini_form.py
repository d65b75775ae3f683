"""AgentScope's messages for Gemini in the form that its API takes, signatures put back (pure)."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence

from agentscope.formatter import GeminiChatFormatter

from assistant.config.prompts import language_of, render
from assistant.messages.blocks import Block, Msg, ThinkingBlock, copy_with_blocks
from assistant.models.providers.carried import kept_call_extras
from assistant.models.wire.gemini_chunks import SIGNATURE
from assistant.text.json_values import JsonObject, is_object, objects_in

# What the API takes in place of a signature for a call of another model.
# https://ai.google.dev/gemini-api/docs/thought-signatures
_NO_SIGNATURE = b"skip_thought_signature_validator"
_WITHOUT_SIGNATURES = re.compile(r"gemini-[12]")


class TidyGeminiFormatter(GeminiChatFormatter):
    """AgentScope's messages for Gemini, tidied."""

    model_name: str = ""

    async def format(self, msgs: list[Msg]) -> list[JsonObject]:
        """The contents as the library gets them."""
        extras = kept_call_extras(msgs)
        spoken = [copy_with_blocks(message, filter(_is_spoken, message.content)) for message in msgs]
        signed = not _WITHOUT_SIGNATURES.match(self.model_name)
        return tidy_contents(await super().format(spoken), extras, needs_signatures=signed)


def tidy_contents(
    contents: Sequence[JsonObject], extras: Mapping[str, Mapping[str, object]], *, needs_signatures: bool
) -> list[JsonObject]:
    """The same conversation with neighbours of one role as one, no blank text, and each step's signature in place.

    `extras` holds what came with a call, by its id. The first call of a step needs a signature; one of another model
    has none and gets the mark that stands for it. The last words are the user's.
    """
    merged: list[JsonObject] = []
    for content in contents:
        parts = [_tidy_part(part, extras) for part in objects_in(content.get("parts")) if not _is_blank(part)]
        if not parts:
            continue
        if merged and merged[-1]["role"] == content["role"]:
            merged[-1] = {**merged[-1], "parts": [*objects_in(merged[-1].get("parts")), *parts]}
        else:
            merged.append({"role": content["role"], "parts": parts})
    if needs_signatures:
        merged = [_signed(content) for content in merged]
    if merged and merged[-1]["role"] == "model":
        words = " ".join(str(part.get("text", "")) for part in objects_in(merged[-1].get("parts")))
        merged.append({"role": "user", "parts": [{"text": render("go_on", language_of(words))}]})
    return merged


def _is_spoken(block: Block) -> bool:
    return not isinstance(block, ThinkingBlock)


def _tidy_part(part: JsonObject, extras: Mapping[str, Mapping[str, object]]) -> JsonObject:
    call, answer = part.get("function_call"), part.get("function_response")
    if is_object(call):
        arguments = call.get("args")
        tidied: JsonObject = {"function_call": {**call, "args": arguments if is_object(arguments) else {}}}
        signature = extras.get(str(call.get("id")), {}).get(SIGNATURE)
        return {**tidied, "thought_signature": base64.b64decode(str(signature))} if signature else tidied
    if is_object(answer):
        response = answer.get("response")
        said = response.get("output") if is_object(response) else ""
        return {"function_response": {**answer, "response": {"output": said or render("empty_result", "en")}}}
    return part


def _signed(content: JsonObject) -> JsonObject:
    """The content with a signature at the first of its calls."""
    parts = objects_in(content.get("parts"))
    first = next((place for place, part in enumerate(parts) if "function_call" in part), None)
    if first is None or "thought_signature" in parts[first]:
        return content
    parts[first] = {**parts[first], "thought_signature": _NO_SIGNATURE}
    return {**content, "parts": parts}


def _is_blank(part: Mapping[str, object]) -> bool:
    text = part.get("text")
    return isinstance(text, str) and not text.strip()
