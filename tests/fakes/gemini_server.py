"""A strict server of Google's own API for Gemini on loopback.

https://ai.google.dev/api/generate-content, its errors by https://ai.google.dev/gemini-api/docs/troubleshooting, and the
rules for signatures by https://ai.google.dev/gemini-api/docs/thought-signatures.
"""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Iterator, Mapping
from typing import cast

from tests.fakes.native_server import Json, NativeServer
from tests.fakes.strictness import Refusal
from tests.fakes.wire import Reply, pieces

_FIELDS = {"contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings"}
_CONFIG_FIELDS = {"thinkingConfig", "maxOutputTokens", "temperature", "topP", "candidateCount", "stopSequences"}
_PART_FIELDS = {"text", "thought", "thoughtSignature", "functionCall", "functionResponse", "inlineData"}
_SKIP = base64.b64encode(b"skip_thought_signature_validator").decode()


class GeminiServer(NativeServer):
    """The server; `thinks` False is a model that cannot."""

    MODEL = "gemini-3.8-flash"

    def __init__(
        self, *replies: Reply, thinks: bool = True, window_tokens: int = 100_000, split_bytes: int = 0
    ) -> None:
        super().__init__(*replies, window_tokens=window_tokens, split_bytes=split_bytes)
        self.thinks = thinks
        self.signed: set[str] = {_SKIP}

    def asks_model(self, path: str) -> bool:
        """True for the path of a streamed answer."""
        return path.endswith(":streamGenerateContent")

    def look_up(self, path: str, headers: Mapping[str, str], body: Json | None) -> Json | Refusal | None:
        """The list of models."""
        if path != "/v1beta/models":
            return None
        row: Json = {"name": f"models/{self.MODEL}", "supportedGenerationMethods": ["generateContent"]}
        return self._refuse_key(headers) or {"models": [row]}

    def error_body(self, refusal: Refusal) -> Json:
        """A refusal as Google says it."""
        words = {400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}
        status = words.get(refusal.status, "UNAVAILABLE" if refusal.status == 503 else "INTERNAL")
        return {"error": {"code": refusal.status, "message": refusal.message, "status": status}}

    def refuse(self, path: str, headers: Mapping[str, str], body: Json) -> Refusal | None:
        """The first rule that the request breaks."""
        if refusal := self._refuse_key(headers):
            return refusal
        if "alt=sse" not in path:
            return Refusal("streams of JSON are asked for with alt=sse")
        model = path.partition("/models/")[2].partition(":")[0]
        if model != self.MODEL:
            said = f"models/{model} is not found for API version v1beta, or is not supported for generateContent."
            return Refusal(said, status=404)
        fault = next(itertools.chain(self._field_faults(body), self._content_faults(body)), None)
        return Refusal(fault) if fault else self._refuse_length(body)

    def events(self, reply: Reply, body: Json) -> Iterator[bytes]:
        """The reply as chunks: thoughts, text, whole calls of which the first is signed, the end with the counts."""
        for part in pieces(reply.thinking, 9):
            yield self._chunk([{"text": part, "thought": True}], body)
        for part in pieces(reply.text, reply.chunk_chars or 9):
            yield self._chunk([{"text": part}], body)
        for place, call in enumerate(reply.calls):
            called: Json = {"functionCall": {"name": call.name, "args": json.loads(call.arguments_json)}}
            if place == 0:
                called["thoughtSignature"] = base64.b64encode(f"signature {len(self.log)}".encode()).decode()
                self.signed.add(str(called["thoughtSignature"]))
            yield self._chunk([called], body)
        reason = "MAX_TOKENS" if reply.is_cut else reply.error_code or "STOP"
        yield self._chunk([{"text": ""}], body, reason, written=_tokens(reply.text) + 2)

    def _chunk(self, parts: list[Json], body: Json, reason: str = "", written: int = 0) -> bytes:
        usage: Json = {
            "promptTokenCount": _tokens(json.dumps(body)),
            "cachedContentTokenCount": 32,
            "totalTokenCount": _tokens(json.dumps(body)) + written,
        }
        if written:
            usage["candidatesTokenCount"] = written
        candidate: Json = {"index": 0, "content": {"role": "model", "parts": parts}}
        if reason:
            candidate["finishReason"] = reason
        value = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": self.MODEL, "responseId": "r1"}
        return f"data: {json.dumps(value)}\r\n\r\n".encode()

    def _refuse_key(self, headers: Mapping[str, str]) -> Refusal | None:
        given = {name.lower(): value for name, value in headers.items()}.get("x-goog-api-key")
        if given is None:
            return Refusal("Method doesn't allow unregistered callers.", status=403)
        return None if given == self.key else Refusal("API key not valid. Please pass a valid API key.")

    def _field_faults(self, body: Json) -> Iterator[str]:
        config = cast(Json, body.get("generationConfig") or {})
        for name in sorted((set(body) - _FIELDS) | (set(config) - _CONFIG_FIELDS)):
            yield f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
        thinking = cast(Json, config.get("thinkingConfig") or {})
        # Both spellings of a name are read.
        if (thinking.get("includeThoughts") or thinking.get("include_thoughts")) and not self.thinks:
            yield "Thinking is not enabled for this model."
        if 0 in (thinking.get("thinkingBudget"), thinking.get("thinking_budget")):
            yield "Budget 0 is invalid. This model only works in thinking mode."
        for tool in cast(list[Json], body.get("tools") or []):
            for function in cast(list[Json], tool.get("functionDeclarations") or []):
                if "additionalProperties" in json.dumps(function):
                    yield 'Unknown name "additionalProperties" at tools[0].function_declarations: Cannot find field.'
        if "toolConfig" in body and not body.get("tools"):
            yield "Function calling config is set without function_declarations."

    def _content_faults(self, body: Json) -> Iterator[str]:
        contents = cast(list[Json], body.get("contents") or [])
        if not contents:
            yield "* GenerateContentRequest.contents: contents is not specified"
            return
        if contents[0]["role"] != "user" or contents[-1]["role"] != "user":
            yield "Please ensure that multiturn requests begin and end with a user turn."
        open_names: list[str] = []
        for place, content in enumerate(contents):
            parts = cast(list[Json], content.get("parts") or [])
            if content.get("role") not in ("user", "model"):
                yield "Please use a valid role: user, model."
            if not parts or any(not set(part) & (_PART_FIELDS - {"thought", "thoughtSignature"}) for part in parts):
                yield f"* GenerateContentRequest.contents[{place}].parts: contents.parts must not be empty."
            for part in parts:
                yield from (f'Unknown name "{name}" at contents[{place}]' for name in set(part) - _PART_FIELDS)
            answers = [
                str(cast(Json, part["functionResponse"])["name"]) for part in parts if "functionResponse" in part
            ]
            if sorted(answers) != sorted(open_names):
                yield (
                    "Please ensure that the number of function response parts is equal to the number of function call "
                    "parts of the function call turn."
                )
            calls = [part for part in parts if "functionCall" in part]
            open_names = [_name(part["functionCall"]) for part in calls]
            yield from self._signature_faults(calls)
        if open_names:
            yield "A function call turn has to be followed by a function response turn."

    def _signature_faults(self, calls: list[Json]) -> Iterator[str]:
        if calls and "thoughtSignature" not in calls[0]:
            yield "Function call is missing a thought_signature in functionCall parts."
        for call in calls:
            signature = str(call.get("thoughtSignature", _SKIP)).replace("-", "+").replace("_", "/")
            if signature not in self.signed:
                yield "Corrupted thought signature."

    def _refuse_length(self, body: Json) -> Refusal | None:
        tokens = _tokens(json.dumps(body))
        if tokens <= self.window_tokens:
            return None
        return Refusal(
            f"The input token count ({tokens}) exceeds the maximum number of tokens allowed ({self.window_tokens})."
        )


def _name(function: object) -> str:
    return str(cast(Json, function)["name"])


def _tokens(text: str) -> int:
    return len(text.encode()) // 4
