"""Which provider the settings mean where they name none: by the address, the model or the keys (pure)."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from assistant.config.settings import Provider, Settings
from assistant.models.known_providers import NATIVE_PROVIDERS, OPENAI_URL

# Whose models nobody else has; those of the others are at DashScope as well.
_SOLE = ("openai", "anthropic", "gemini")
# https://platform.openai.com/docs/models: the largest of each family, and those made for tasks of hours.
_RESPONSES_ALONE = re.compile(r"-pro(?:-|$)|codex|deep-research|computer-use")
# Here other servers listen as well.
_SHARED_HOSTS = ("127.0.0.1",)


def is_openai(base_url: str) -> bool:
    """True for an address of OpenAI itself."""
    return urlsplit(base_url).hostname == urlsplit(OPENAI_URL).hostname


def needs_responses(base_url: str, model: str) -> bool:
    """True for the models that OpenAI itself offers over its Responses alone."""
    return is_openai(base_url) and bool(_RESPONSES_ALONE.search(model.lower()))


def provider_at(base_url: str) -> Provider:
    """Whose protocol is spoken at an address."""
    host = urlsplit(base_url).hostname
    if base_url.endswith("/anthropic"):
        return "anthropic"
    for native, known in NATIVE_PROVIDERS.items():
        if native != "responses" and host == urlsplit(known.base_url).hostname and host not in _SHARED_HOSTS:
            return native
    return "dashscope" if "aliyuncs.com" in base_url or "compatible-mode" in base_url else "openai"


def provider_with_key(settings: Settings) -> Provider | None:
    """Whose key is set: the provider's of the model that is named, else DashScope's, else the first."""
    named = _provider_of(settings.model)
    if named and (settings.own_key_of(named) or (named in _SOLE and settings.key_of(named))):
        return named
    if settings.key_of("dashscope"):
        return "dashscope"
    others: tuple[Provider, ...] = ("openai", *NATIVE_PROVIDERS)
    return next((provider for provider in others if settings.own_key_of(provider)), None)


def _provider_of(model: str) -> Provider | None:
    """Who has a model, where its name tells."""
    name = model.lower()
    if name.startswith(("gpt", "chatgpt", "o1", "o3", "o4")):
        return "openai"
    return next((native for native, known in NATIVE_PROVIDERS.items() if name.startswith(known.names)), None)
