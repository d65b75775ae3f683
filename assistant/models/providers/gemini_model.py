"""Gemini over Google's own API; the signatures of its thoughts go back with the calls they came with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import httpx
import openai
from agentscope.credential import GeminiCredential
from agentscope.model import GeminiChatModel
from agentscope.tool import ToolChoice
from google.genai import errors, types
from pydantic import SecretStr

from assistant.messages.blocks import Msg, text_of
from assistant.models.providers.call_ids import fresh_call_id
from assistant.models.providers.gemini_form import TidyGeminiFormatter
from assistant.models.providers.native_model import NativeModel
from assistant.models.providers.provider_line import Chunks, ProviderLine
from assistant.models.wire.gemini_chunks import GeminiChunks


class GeminiModel(NativeModel, GeminiChatModel):
    """A model of Google; it thinks as far as it finds it needed, and tells a summary of that."""

    type = "gemini_chat"
    FAILURES = (errors.APIError, errors.UnknownApiResponseError, httpx.HTTPError, openai.OpenAIError)
    LISTING = "/v1beta/models"

    def __init__(self, name: str, base_url: str, api_key: str, window_tokens: int, max_reply_tokens: int) -> None:
        line = ProviderLine(name, base_url, api_key, max_reply_tokens)
        self._open_line(line, lambda facts, _: GeminiChunks(facts, fresh_call_id))
        self._thinks = True
        GeminiChatModel.__init__(
            self,
            GeminiCredential(api_key=SecretStr(api_key or "none")),
            name,
            max_retries=0,
            context_size=window_tokens,
            formatter=TidyGeminiFormatter(model_name=name),
            client_kwargs={
                "vertexai": False,
                "http_options": {"base_url": base_url, "httpx_async_client": self._http},
            },
        )

    def _headers(self) -> Mapping[str, str]:
        return {"x-goog-api-key": self._line.key or "none"}

    async def _call_api(
        self,
        model_name: str,
        messages: list[Msg],
        tools: list[dict[str, object]] | None = None,
        tool_choice: ToolChoice | None = None,
        **kwargs: object,
    ) -> Chunks:
        prompt = [message for message in messages[:1] if message.role == "system"]
        said = messages[len(prompt) :]
        beside = {"system_instruction": text_of(prompt[0])} if prompt else {}
        return await super()._call_api(model_name, said, tools, tool_choice, **beside, **kwargs)

    def _beside(self) -> Mapping[str, object]:
        # Without a budget the model decides; a model that cannot think refuses to be asked for it.
        thinking = types.ThinkingConfig(include_thoughts=True) if self._thinks else None
        return {
            "thinking_config": thinking,
            "automatic_function_calling": types.AutomaticFunctionCallingConfig(disable=True),
        }

    def _adapts_to(self, refusal: openai.APIStatusError, sent: Sequence[Msg]) -> bool:
        """No thinking where the model has none."""
        is_about_thinking = "thinking" in refusal.message.lower() and "signature" not in refusal.message.lower()
        if refusal.status_code != 400 or not self._thinks or not is_about_thinking:
            return False
        self._thinks = False
        return True
