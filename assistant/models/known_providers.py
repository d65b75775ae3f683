"""Whom a person can choose to answer: a provider by its name, with a key of their own, or a server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assistant.config.settings import Provider

DASHSCOPE_URL = "https://dashscope.aliyuncs.com/compatible-mode/v1"
DASHSCOPE_MODEL = "qwen-plus"
OPENAI_URL = "https://api.openai.com/v1"
OPENAI_MODEL = "gpt-5.4"

NativeName = Literal["anthropic", "ollama", "gemini", "deepseek", "moonshot", "responses"]
"""The providers that are asked over a protocol of their own."""


@dataclass(frozen=True, slots=True)
class NativeProvider:
    """A provider with a protocol of its own: its name for people, where it is, which model answers where none is named.

    `model` is empty where the first of its list answers. `names` is how its models are called by their beginning.
    """

    title: str
    base_url: str
    model: str
    key_field: str
    names: tuple[str, ...]


NATIVE_PROVIDERS: dict[NativeName, NativeProvider] = {
    "anthropic": NativeProvider(
        "Anthropic", "https://api.anthropic.com", "claude-sonnet-5-5", "anthropic_api_key", ("claude",)
    ),
    "ollama": NativeProvider("Ollama", "http://127.0.0.1:11434", "", "ollama_api_key", ()),
    "gemini": NativeProvider(
        "Gemini", "https://generativelanguage.googleapis.com", "gemini-3.8-flash", "gemini_api_key", ("gemini",)
    ),
    "deepseek": NativeProvider(
        "DeepSeek", "https://api.deepseek.com", "deepseek-flash", "deepseek_api_key", ("deepseek",)
    ),
    "moonshot": NativeProvider(
        "Moonshot", "https://api.moonshot.cn/v1", "kimi-k3", "moonshot_api_key", ("kimi", "moonshot")
    ),
    "responses": NativeProvider("OpenAI Responses", OPENAI_URL, OPENAI_MODEL, "openai_api_key", ()),
}


@dataclass(frozen=True, slots=True)
class KnownProvider:
    """Where a provider is; `model` is the one that is asked where none is named, empty: the first of its list."""

    name: str
    provider: Literal["dashscope", "openai"] | NativeName
    base_url: str
    model: str


KNOWN_PROVIDERS = (
    KnownProvider("OpenAI", "openai", OPENAI_URL, OPENAI_MODEL),
    *(KnownProvider(one.title, name, "", one.model) for name, one in NATIVE_PROVIDERS.items() if one.model),
    KnownProvider("DashScope", "dashscope", "", DASHSCOPE_MODEL),
    KnownProvider("Mistral", "openai", "https://api.mistral.ai/v1", ""),
    KnownProvider("OpenRouter", "openai", "https://openrouter.ai/api/v1", ""),
    KnownProvider("SiliconFlow", "openai", "https://api.siliconflow.cn/v1", ""),
)


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Who is to answer. `key` None leaves the one that is kept, an empty one takes it out."""

    provider: Provider
    base_url: str = ""
    model: str = ""
    key: str | None = None
    model_file: str = ""

    def changes(self) -> dict[str, str]:
        """The settings that say so, by their field."""
        key = {} if self.key is None else {"api_key": self.key}
        where = {"base_url": self.base_url, "model": self.model, "model_file": self.model_file}
        return {"provider": self.provider, **where, **key}


@dataclass(frozen=True, slots=True)
class ProfileChoice:
    """A profile as a form has it: its name, who answers by it, and its figures as they were typed."""

    name: str
    model: ModelChoice
    window: str = ""
    compactor_model: str = ""
