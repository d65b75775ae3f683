"""The providers with a protocol of their own: the strict server of each, and the model that speaks to it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from assistant.models.known_providers import NativeName
from assistant.models.providers.anthropic_model import AnthropicModel
from assistant.models.providers.gemini_model import GeminiModel
from assistant.models.providers.ollama_model import OllamaModel
from assistant.models.providers.provider_line import ProviderModel
from assistant.models.providers.reasoning_models import DeepSeekModel, MoonshotModel
from assistant.models.providers.response_model import ResponseModel
from tests.fakes.anthropic_server import AnthropicServer
from tests.fakes.deepseek_server import DeepSeekServer
from tests.fakes.gemini_server import GeminiServer
from tests.fakes.moonshot_server import MoonshotServer
from tests.fakes.native_server import NativeServer
from tests.fakes.ollama_server import OllamaServer
from tests.fakes.responses_server import ResponsesServer
from tests.fakes.wire import Reply


@dataclass(frozen=True, slots=True)
class NativeCase:
    """One provider."""

    name: NativeName
    server: Callable[..., NativeServer]
    model: Callable[[str, str, str, int, int], ProviderModel]
    quota_status: int = 402
    quota_words: str = ""
    quota_code: str = ""
    has_key: bool = True
    has_own_library: bool = True
    shows_thoughts: bool = True
    returns_thoughts: bool = True
    takes_pictures: bool = True
    reads_cache: bool = True

    def serve(self, *replies: Reply, **options: object) -> NativeServer:
        """Its server with a script."""
        return self.server(*replies, **options)

    @asynccontextmanager
    async def connect(
        self, server: NativeServer, *, key: str | None = None, max_reply_tokens: int = 16_000
    ) -> AsyncGenerator[ProviderModel]:
        """Its model, with the key of the server where no other is given."""
        key = server.key if key is None else key
        model = self.model(server.MODEL, server.address, key, server.window_tokens, max_reply_tokens)
        try:
            yield model
        finally:
            await model.close()


_NO_CREDIT = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing."
_DEPLETED = "Your prepayment credits are depleted. Please go to AI Studio to manage your project and billing."
_SUSPENDED = "Your account is suspended, please check your plan and billing details"
_NO_SHARE = "you've reached your weekly usage limit, please wait or upgrade to continue"
_NO_QUOTA = "You exceeded your current quota, please check your plan and billing details."
CASES = (
    NativeCase("anthropic", AnthropicServer, AnthropicModel, 400, _NO_CREDIT),
    NativeCase(
        "ollama", OllamaServer, OllamaModel, 429, _NO_SHARE, has_key=False, returns_thoughts=False, reads_cache=False
    ),
    NativeCase("gemini", GeminiServer, GeminiModel, 429, _DEPLETED, returns_thoughts=False),
    NativeCase("deepseek", DeepSeekServer, DeepSeekModel, 402, "Insufficient Balance", has_own_library=False),
    NativeCase(
        "moonshot",
        MoonshotServer,
        MoonshotModel,
        429,
        _SUSPENDED,
        "exceeded_current_quota_error",
        has_own_library=False,
    ),
    NativeCase("responses", ResponsesServer, ResponseModel, 429, _NO_QUOTA, "insufficient_quota"),
)
