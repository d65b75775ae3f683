"""A model of Ollama over its own chat, with the window that it is asked to load."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import httpx
import ollama
import openai
from agentscope.credential import OllamaCredential
from agentscope.model import OllamaChatModel
from agentscope.tool import ToolChoice

from assistant.messages.blocks import Msg
from assistant.models.providers.native_model import NativeModel
from assistant.models.providers.ollama_form import TidyOllamaFormatter
from assistant.models.providers.provider_line import Chunks, ProviderLine
from assistant.models.wire.ollama_rows import OllamaRows
from assistant.text.json_values import is_object


class OllamaModel(NativeModel, OllamaChatModel):
    """A model of Ollama. A request over its window is to be refused; by itself Ollama shortens it without a word."""

    type = "ollama_chat"
    FAILURES = (ollama.ResponseError, ConnectionError, httpx.HTTPError, openai.OpenAIError)
    LISTING = "/api/tags"

    def __init__(self, name: str, base_url: str, api_key: str, window_tokens: int, max_reply_tokens: int) -> None:
        self._open_line(ProviderLine(name, base_url, api_key, max_reply_tokens), OllamaRows)
        self._asks_for_thinking = True
        OllamaChatModel.__init__(
            self,
            OllamaCredential(host=base_url),
            name,
            OllamaChatModel.Parameters(thinking_enable=True),
            max_retries=0,
            context_size=window_tokens,
            formatter=TidyOllamaFormatter(),
            client_kwargs={"transport": _Passing(self._http), "headers": dict(self._headers()), "trust_env": False},
        )
        self._options = {"num_ctx": window_tokens, "num_predict": min(max_reply_tokens, window_tokens)}

    def _headers(self) -> Mapping[str, str]:
        return {"authorization": f"Bearer {self._line.key}"} if self._line.key else {}

    async def _call_api(
        self,
        model_name: str,
        messages: list[Msg],
        tools: list[dict[str, object]] | None = None,
        tool_choice: ToolChoice | None = None,
        **kwargs: object,
    ) -> Chunks:
        # Ollama knows no choice among tools: there are some, or none.
        offered = None if tool_choice and tool_choice.mode == "none" else tools
        return await super()._call_api(model_name, messages, offered, None, **kwargs)

    def _beside(self) -> Mapping[str, object]:
        return {"options": self._options}

    def _rewritten(self, content: bytes) -> bytes:
        """The request, to be refused where it does not fit; servers from before 0.12.6 leave these fields unread."""
        body: object = json.loads(content) if content else None
        if not is_object(body) or "messages" not in body:
            return content
        return json.dumps({**body, "truncate": False, "shift": False}, ensure_ascii=False).encode()

    def _adapts_to(self, refusal: openai.APIStatusError, sent: Sequence[Msg]) -> bool:
        """No thinking where the model has none."""
        if not self._asks_for_thinking or "thinking" not in refusal.message:
            return False
        self._asks_for_thinking = False
        self.parameters = OllamaChatModel.Parameters()
        return True


class _Passing(httpx.AsyncBaseTransport):
    """Sends what Ollama's library asks for over the client that knows the way, the mask and the answers."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The response to a request."""
        return await self._client.send(request, stream=True)
