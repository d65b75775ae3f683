"""A strict server of OpenAI's Responses on loopback.

https://platform.openai.com/docs/api-reference/responses. It keeps nothing: whatever a request stands on is in it, and a
thought that is sent back has to be one of its own.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import cast

from tests.fakes.native_server import Json, NativeServer
from tests.fakes.strictness import Refusal
from tests.fakes.wire import Reply, pieces

_FIELDS = {
    *("model", "input", "instructions", "stream", "store", "include", "reasoning", "tools", "tool_choice"),
    *("max_output_tokens", "temperature", "parallel_tool_calls", "truncation"),
}
_TEXTS = {"user": "input_text", "system": "input_text", "assistant": "output_text"}


class ResponsesServer(NativeServer):
    """The server; `thinks` False is a model that does not."""

    MODEL = "gpt-5.6-sol"

    def __init__(
        self, *replies: Reply, thinks: bool = True, window_tokens: int = 100_000, split_bytes: int = 0
    ) -> None:
        super().__init__(*replies, window_tokens=window_tokens, split_bytes=split_bytes)
        self.thinks = thinks
        self.thoughts: dict[str, str] = {}
        """The encrypted content of each thought, by its id."""

    def asks_model(self, path: str) -> bool:
        """True for the one path at which the model answers."""
        return path == "/responses"

    def look_up(self, path: str, headers: Mapping[str, str], body: Json | None) -> Json | Refusal | None:
        """The list of models."""
        if path != "/models":
            return None
        return self._refuse_key(headers) or {"object": "list", "data": [{"id": self.MODEL, "object": "model"}]}

    def error_body(self, refusal: Refusal) -> Json:
        """A refusal as OpenAI says it."""
        return {"error": {"message": refusal.message, "type": refusal.type, "param": None, "code": refusal.code}}

    def refuse(self, path: str, headers: Mapping[str, str], body: Json) -> Refusal | None:
        """The first rule that the request breaks."""
        if refusal := self._refuse_key(headers):
            return refusal
        if body.get("model") != self.MODEL:
            said = f"The model `{body.get('model')}` does not exist or you do not have access to it."
            return Refusal(said, "model_not_found", status=404)
        fault = next(itertools.chain(self._field_faults(body), self._item_faults(body)), None)
        if fault:
            return Refusal(fault)
        if _tokens(body) > self.window_tokens:
            said = "Your input exceeds the context window of this model. Please adjust your input and try again."
            return Refusal(said, "context_length_exceeded")
        return None

    def events(self, reply: Reply, body: Json) -> Iterator[bytes]:
        """The reply as events: a thought with its summary, a message, calls, the whole once more with the counts."""
        numbers = itertools.count()

        def event(kind: str, **value: object) -> bytes:
            row = {"type": kind, "sequence_number": next(numbers), **value}
            return f"event: {kind}\ndata: {json.dumps(row)}\n\n".encode()

        response: Json = {"id": f"resp_{len(self.log)}", "object": "response", "model": self.MODEL, "error": None}
        yield event("response.created", response={**response, "status": "in_progress", "output": []})
        output: list[Json] = []
        if self.thinks and (reply.thinking or reply.calls):
            thought_id = f"rs_{len(self.log)}"
            self.thoughts[thought_id] = f"encrypted {thought_id}"
            for part in pieces(reply.thinking, 9):
                where = {"item_id": thought_id, "output_index": 0, "summary_index": 0}
                yield event("response.reasoning_summary_text.delta", **where, delta=part)
            summary = [{"type": "summary_text", "text": reply.thinking}] if reply.thinking else []
            kept = {"encrypted_content": self.thoughts[thought_id]} if body.get("include") else {}
            output.append({"type": "reasoning", "id": thought_id, "summary": summary, **kept})
        for part in pieces(reply.text, reply.chunk_chars or 9):
            yield event("response.output_text.delta", item_id="msg_1", output_index=1, content_index=0, delta=part)
        for number, call in enumerate(reply.calls):
            item_id, call_id = f"fc_{len(self.log)}_{number}", f"call_{len(self.log):06d}abcdefghij{number}"
            item = {"type": "function_call", "id": item_id, "call_id": call_id, "name": call.name, "arguments": ""}
            yield event("response.output_item.added", output_index=number + 2, item=item)
            for part in pieces(call.arguments_json, 7) if call.arguments_json != "{}" else []:
                yield event("response.function_call_arguments.delta", item_id=item_id, output_index=2, delta=part)
            yield event(
                "response.function_call_arguments.done", item_id=item_id, output_index=2, arguments=call.arguments_json
            )
            output.append({**item, "arguments": call.arguments_json})
        counts = {"input_tokens": _tokens(body), "input_tokens_details": {"cached_tokens": 32}}
        usage = {**counts, "output_tokens": len(reply.text.encode()) // 4 + 2, "total_tokens": 0}
        status = "incomplete" if reply.is_cut else "completed"
        details = {"reason": "max_output_tokens"} if reply.is_cut else None
        whole = {**response, "status": status, "output": output, "incomplete_details": details, "usage": usage}
        yield event(f"response.{status}", response=whole)

    def _refuse_key(self, headers: Mapping[str, str]) -> Refusal | None:
        given = {name.lower(): value for name, value in headers.items()}.get("authorization", "")
        if given == f"Bearer {self.key}":
            return None
        sent = given.removeprefix("Bearer ")
        return Refusal(f"Incorrect API key provided: {sent}.", "invalid_api_key", status=401)

    def _field_faults(self, body: Json) -> Iterator[str]:
        yield from (f"Unknown parameter: '{name}'." for name in sorted(set(body) - _FIELDS))
        if not self.thinks and body.get("reasoning"):
            yield "Unsupported parameter: 'reasoning.summary' is not supported with this model."
        if not self.thinks and body.get("include"):
            yield "Encrypted content is not supported with this model."
        if "tools" in body and not body["tools"]:
            yield "[] is too short - 'tools'"
        for place, tool in enumerate(cast(list[Json], body.get("tools") or [])):
            if tool.get("type") != "function" or not tool.get("name") or "function" in tool:
                yield f"Missing required parameter: 'tools[{place}].name'."

    def _item_faults(self, body: Json) -> Iterator[str]:
        items = cast(list[Json], body.get("input") or [])
        if not items:
            yield "Missing required parameter: 'input'."
        open_calls: list[str] = []
        for place, item in enumerate(items):
            match item.get("type", "message"):
                case "message":
                    yield from _message_faults(item, place)
                case "function_call":
                    open_calls.append(str(item["call_id"]))
                    yield from _argument_faults(item, place)
                case "function_call_output" if item.get("call_id") in open_calls:
                    open_calls.remove(str(item["call_id"]))
                case "function_call_output":
                    yield f"No tool call found for function call output with call_id {item.get('call_id')}."
                case "reasoning":
                    yield from self._thought_faults(item, items[place + 1 :])
                case other:
                    yield f"Invalid value: '{other}'. 'input[{place}].type'"
        if open_calls:
            yield f"No tool output found for function call {open_calls[0]}."

    def _thought_faults(self, item: Json, behind: list[Json]) -> Iterator[str]:
        if self.thoughts.get(str(item.get("id"))) != item.get("encrypted_content"):
            yield f"Item with id '{item.get('id')}' not found. Items are not persisted when `store` is set to false."
        nearest = next((one for one in behind if one.get("type") != "reasoning"), {})
        if nearest.get("type") != "function_call" and nearest.get("role") != "assistant":
            yield f"Item '{item.get('id')}' of type 'reasoning' was provided without its required following item."


def _message_faults(item: Json, place: int) -> Iterator[str]:
    role = str(item.get("role"))
    if role not in _TEXTS:
        yield f"Invalid value: '{role}'. 'input[{place}].role'"
        return
    parts = cast(list[Json], item.get("content") or [])
    if not parts:
        yield f"Invalid 'input[{place}].content': empty array."
    for part in parts:
        if part.get("type") not in (_TEXTS[role], "input_image" if role == "user" else ""):
            yield f"Invalid value: '{part.get('type')}'. Supported values are: '{_TEXTS[role]}'."
        if "text" in part and not str(part["text"]).strip():
            yield f"Invalid 'input[{place}].content': blank text."


def _argument_faults(item: Json, place: int) -> Iterator[str]:
    try:
        arguments = json.loads(str(item.get("arguments")))
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        yield f"Invalid 'input[{place}].arguments': not a JSON object."


def _tokens(body: Json) -> int:
    return len(json.dumps([body["input"], body.get("tools")]).encode()) // 4
