"""A strict server of Moonshot's API on loopback: https://platform.kimi.ai/docs/api/chat, and its errors."""

from __future__ import annotations

from collections.abc import Mapping

from tests.fakes.deepseek_server import DeepSeekServer
from tests.fakes.native_server import Json
from tests.fakes.strictness import Refusal


class MoonshotServer(DeepSeekServer):
    """The server; what it has in common with DeepSeek's is its chunks and the thoughts that have to go back."""

    MODEL = "kimi-k2.6"
    FIELDS = (DeepSeekServer.FIELDS - {"reasoning_effort"}) | {"max_completion_tokens", "n", "partial"}

    def error_body(self, refusal: Refusal) -> Json:
        """A refusal as Moonshot says it."""
        kinds = {401: "invalid_authentication_error", 404: "resource_not_found_error", 429: "rate_limit_reached_error"}
        kind = refusal.code or kinds.get(refusal.status, "invalid_request_error")
        return {"error": {"message": refusal.message, "type": kind}}

    def refuse_key(self, headers: Mapping[str, str]) -> Refusal | None:
        """A refusal of any key but the one."""
        refusal = super().refuse_key(headers)
        return Refusal("Invalid Authentication", status=401) if refusal else None

    def refuse_model(self, body: Json) -> Refusal | None:
        """A refusal of any model but the one."""
        if body.get("model") == self.MODEL:
            return None
        return Refusal(f"Not found the model {body.get('model')} or Permission denied", status=404)

    def too_long(self, tokens: int) -> Refusal:
        """What is said of a request over the window."""
        return Refusal(f"Invalid request: Your request exceeded model token limit: {self.window_tokens}")

    def usage(self, body: Json, written: int) -> Json:
        """The counts at the end."""
        counts = super().usage(body, written)
        whole = ("prompt_tokens", "completion_tokens", "total_tokens")
        return {**{name: counts[name] for name in whole}, "cached_tokens": 64}
