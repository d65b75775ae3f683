"""DeepSeek and Moonshot: OpenAI's chat completions with a switch for thinking, and thoughts that have to go back."""

from __future__ import annotations

from agentscope.credential import DeepSeekCredential, MoonshotCredential
from agentscope.model import DeepSeekChatModel, MoonshotChatModel
from pydantic import SecretStr

from assistant.models.providers.provider_models import CompatibleLine, CompatibleModel
from assistant.models.providers.request_form import TidyOpenAIFormatter
from assistant.models.wire.request_parts import RequestPart

# Both refuse a call without the thoughts it came from, also where there were none or another model thought them.
_CHANGED_PARTS: frozenset[RequestPart] = frozenset({"missing_thoughts"})


class DeepSeekModel(CompatibleModel, DeepSeekChatModel):
    """A model of DeepSeek; it thinks, unless it is the one that is named for not doing so.

    https://api-docs.deepseek.com/guides/thinking_mode
    """

    type = "deepseek_chat"

    def __init__(self, name: str, base_url: str, api_key: str, window_tokens: int, max_reply_tokens: int) -> None:
        self._line = CompatibleLine(name, base_url, api_key, max_reply_tokens, _CHANGED_PARTS)
        DeepSeekChatModel.__init__(
            self,
            DeepSeekCredential(api_key=SecretStr(api_key or "none"), base_url=base_url),
            name,
            DeepSeekChatModel.Parameters(thinking_enable=name != "deepseek-chat"),
            max_retries=0,
            context_size=window_tokens,
            formatter=TidyOpenAIFormatter(),
            client_kwargs=self._line.client_arguments(),
        )


class MoonshotModel(CompatibleModel, MoonshotChatModel):
    """A model of Moonshot; Kimi thinks, the older models cannot.

    https://platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model
    """

    type = "moonshot_chat"

    def __init__(self, name: str, base_url: str, api_key: str, window_tokens: int, max_reply_tokens: int) -> None:
        self._line = CompatibleLine(name, base_url, api_key, max_reply_tokens, _CHANGED_PARTS)
        MoonshotChatModel.__init__(
            self,
            MoonshotCredential(api_key=SecretStr(api_key or "none"), base_url=base_url),
            name,
            MoonshotChatModel.Parameters(thinking_enable=not name.startswith("moonshot-v1")),
            max_retries=0,
            context_size=window_tokens,
            formatter=TidyOpenAIFormatter(),
            client_kwargs=self._line.client_arguments(),
        )
