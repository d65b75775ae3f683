"""Settings → the model of a provider with a protocol of its own; its library is loaded only then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx

from assistant.config.settings import Settings, fixing_variable, variable_names
from assistant.config.words import say
from assistant.errors import ModelError, SettingsError
from assistant.models.failures import as_model_error
from assistant.models.http_client import client_for
from assistant.models.known_providers import NATIVE_PROVIDERS, NativeName
from assistant.models.ollama_server import address_of, find_ollama, first_chat_model
from assistant.models.provider_choice import is_openai
from assistant.models.server_report import ListedModel, is_loopback
from assistant.models.windows import window_of

if TYPE_CHECKING:
    from assistant.models.providers.provider_line import ProviderModel

_ASK_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class MadeModel:
    """A model, where it is, what is known of it, and where that is, in words."""

    model: ProviderModel
    address: str
    listed: ListedModel
    where: str


async def make_native(settings: Settings, provider: NativeName) -> MadeModel:
    """The model the settings ask of a provider.

    Raises `SettingsError` where its key is missing, and `ModelError` where a server has to be asked for the model and
    does not tell one.
    """
    known = NATIVE_PROVIDERS[provider]
    set_address = own_address(settings, provider)
    key = settings.key_of(provider)
    if not key and not set_address and known.model:
        raise SettingsError(variable_names(known.key_field)[0], say("models", "provider_needs_key", provider=provider))
    address = set_address or known.base_url
    listed = ListedModel(settings.model or known.model)
    if provider == "ollama":
        listed = await _ask_ollama(settings.model, address, key)
    # Ollama loads a model with the window that it is asked for: what it told is taken as if it were set.
    told = settings.max_input_length or listed.window_tokens
    window = window_of(listed.name, setting=told, reported=None, is_local=is_loopback(address))
    try:
        model = _make(provider, listed.name, address, key, window, settings.max_reply_tokens)
    except ModuleNotFoundError:
        raise ModelError(say("models", "library_missing", provider=known.title, extra=provider)) from None
    return MadeModel(model, address, listed, set_address or known.title)


def own_address(settings: Settings, provider: NativeName) -> str:
    """The address that was set for this provider, without the path of its protocol; empty for the provider's own."""
    # OPENAI_BASE_URL may be set for other programs: no other provider's key is sent there.
    is_foreign = is_openai(settings.base_url) or fixing_variable("base_url") == "OPENAI_BASE_URL"
    address = "" if is_foreign else settings.base_url
    if provider == "ollama" and not address and settings.ollama_host:
        return address_of(settings.ollama_host)
    if provider in ("deepseek", "moonshot", "responses"):
        return address
    return address.removesuffix("/messages").removesuffix("/v1").removesuffix("/v1beta")


async def _ask_ollama(name: str, address: str, key: str) -> ListedModel:
    async with client_for(address, _ASK_SECONDS, key=key) as client:
        try:
            named = await find_ollama(client, address, name) if name else await first_chat_model(client, address)
        except httpx.HTTPStatusError as error:
            if error.response.status_code in (401, 403):
                raise ModelError(say("models", "asks_for_key", base_url=address)) from None
            raise ModelError(say("models", "no_model_server", base_url=address)) from None
        except httpx.HTTPError as error:
            raise as_model_error(error, address, key) from None
        except ValueError:
            raise ModelError(say("models", "no_model_server", base_url=address)) from None
    if named is None:
        raise ModelError(say("models", "not_pulled" if name else "nothing_pulled", base_url=address, name=name))
    return named


def _make(
    provider: NativeName, name: str, address: str, key: str, window_tokens: int, max_reply_tokens: int
) -> ProviderModel:
    # A library costs up to half a second, and only those who ask for it pay.
    match provider:
        case "anthropic":
            from assistant.models.providers.anthropic_model import AnthropicModel  # noqa: PLC0415

            return AnthropicModel(name, address, key, window_tokens, max_reply_tokens)
        case "deepseek" | "moonshot":
            from assistant.models.providers.reasoning_models import DeepSeekModel, MoonshotModel  # noqa: PLC0415

            model = DeepSeekModel if provider == "deepseek" else MoonshotModel
            return model(name, address, key, window_tokens, max_reply_tokens)
        case "responses":
            from assistant.models.providers.response_model import ResponseModel  # noqa: PLC0415

            return ResponseModel(name, address, key, window_tokens, max_reply_tokens)
        case "gemini":
            from assistant.models.providers.gemini_model import GeminiModel  # noqa: PLC0415

            return GeminiModel(name, address, key, window_tokens, max_reply_tokens)
        case "ollama":
            from assistant.models.providers.ollama_model import OllamaModel  # noqa: PLC0415

            return OllamaModel(name, address, key, window_tokens, max_reply_tokens)
