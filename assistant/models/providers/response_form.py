"""AgentScope's items for OpenAI's Responses in the form that its API takes (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentscope.formatter import OpenAIResponseFormatter

from assistant.config.prompts import language_of, render
from assistant.messages.blocks import Msg, parse_object
from assistant.text.json_values import JsonObject, objects_in


class TidyResponseFormatter(OpenAIResponseFormatter):
    """AgentScope's items for the Responses, tidied."""

    async def format(self, msgs: list[Msg]) -> list[JsonObject]:
        """The items as the server gets them."""
        return tidy_items(await super().format(msgs))


def tidy_items(items: Sequence[JsonObject]) -> list[JsonObject]:
    """The same conversation without what the API refuses.

    No text is blank; arguments are an object of JSON; a thought stands only before what came of it. A turn that was
    stopped within an answer ends with the assistant's own words, so that going on with it needs a request.
    """
    tidied = [one for item in items if (one := _tidy(item)) is not None]
    kept = [item for place, item in enumerate(tidied) if not _is_thought(item) or _has_outcome(tidied, place)]
    if kept and kept[-1].get("role") == "assistant":
        words = " ".join(str(part.get("text", "")) for part in objects_in(kept[-1].get("content")))
        request = {"type": "input_text", "text": render("go_on", language_of(words))}
        kept.append({"role": "user", "content": [request]})
    return kept


def _tidy(item: JsonObject) -> JsonObject | None:
    match item.get("type"):
        case "function_call":
            is_readable = parse_object(str(item.get("arguments") or "")) is not None
            return item if is_readable else {**item, "arguments": "{}"}
        case "function_call_output":
            return item if item.get("output") else {**item, "output": render("empty_result", "en")}
        case "reasoning":
            return item
        case _:
            parts = [part for part in objects_in(item.get("content")) if not _is_blank(part)]
            return {**item, "content": parts} if parts else None


def _has_outcome(items: Sequence[JsonObject], place: int) -> bool:
    """True where a call or words of the assistant stand behind a thought, with nothing but thoughts between."""
    behind = next((item for item in items[place + 1 :] if not _is_thought(item)), None)
    return behind is not None and (behind.get("type") == "function_call" or behind.get("role") == "assistant")


def _is_thought(item: Mapping[str, object]) -> bool:
    return item.get("type") == "reasoning"


def _is_blank(part: Mapping[str, object]) -> bool:
    return "text" in part and not str(part["text"] or "").strip()
