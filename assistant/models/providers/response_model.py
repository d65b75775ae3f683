"""A model over OpenAI's Responses: some of OpenAI's are asked over nothing else, and its thoughts go back only here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import httpx
import openai
from agentscope.credential import OpenAICredential
from agentscope.model import OpenAIResponseModel
from pydantic import SecretStr

from assistant.messages.blocks import Msg
from assistant.models.providers.call_ids import fresh_call_id
from assistant.models.providers.native_model import NativeModel
from assistant.models.providers.provider_line import ProviderLine
from assistant.models.providers.response_form import TidyResponseFormatter
from assistant.models.wire.response_events import ResponseEvents


class ResponseModel(NativeModel, OpenAIResponseModel):
    """A model that is asked over the Responses. Nothing is kept by the server; what it thought goes back encrypted."""

    type = "openai_response"
    FAILURES = (openai.OpenAIError, httpx.HTTPError)
    LISTING = "/models"

    def __init__(self, name: str, base_url: str, api_key: str, window_tokens: int, max_reply_tokens: int) -> None:
        line = ProviderLine(name, base_url, api_key, max_reply_tokens)
        self._open_line(line, lambda facts, _: ResponseEvents(facts, fresh_call_id))
        self._thinks = True
        OpenAIResponseModel.__init__(
            self,
            OpenAICredential(api_key=SecretStr(api_key or "none"), base_url=base_url),
            name,
            max_retries=0,
            context_size=window_tokens,
            formatter=TidyResponseFormatter(),
            client_kwargs={"max_retries": 0, "timeout": line.timeout, "http_client": self._http},
        )

    def _headers(self) -> Mapping[str, str]:
        return {"authorization": f"Bearer {self._line.key or 'none'}"}

    def _beside(self) -> Mapping[str, object]:
        if not self._thinks:
            return {"store": False}
        return {"store": False, "include": ["reasoning.encrypted_content"], "reasoning": {"summary": "auto"}}

    def _adapts_to(self, refusal: openai.APIStatusError, sent: Sequence[Msg]) -> bool:
        """No thinking where the model has none, or this account may not read it."""
        words = ("reasoning", "encrypted content")
        if refusal.status_code != 400 or not self._thinks or not any(word in refusal.message.lower() for word in words):
            return False
        self._thinks = False
        return True
