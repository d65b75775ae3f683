"""Settings → the model that answers: a provider's, one on loopback, or the built-in offline assistant."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import httpx
from agentscope.model import ChatModelBase

from assistant.config.settings import Settings
from assistant.config.words import say
from assistant.errors import ModelError, ModelUnreachableError, SettingsError
from assistant.messages.tokens import Vocabulary, vocabulary_for
from assistant.models.detect import PLACES, LocalServer, ServerPlace, look_up_local_servers
from assistant.models.failures import as_model_error, explain_model_error, is_context_overflow, window_told_by
from assistant.models.http_client import client_for
from assistant.models.known_providers import (
    DASHSCOPE_MODEL,
    DASHSCOPE_URL,
    OPENAI_MODEL,
    OPENAI_URL,
    NativeName,
)
from assistant.models.local.file_model import open_model_file
from assistant.models.native_making import make_native
from assistant.models.offline.offline_model import OFFLINE_NAME, OfflineModel
from assistant.models.price import Price
from assistant.models.provider_choice import is_openai, needs_responses, provider_at, provider_with_key
from assistant.models.providers.call_ids import fresh_call_id
from assistant.models.providers.provider_line import OnRefused, ProviderModel
from assistant.models.providers.provider_models import DashScopeModel, OpenAICompatibleModel
from assistant.models.server_report import (
    ListedModel,
    ask_server,
    is_loopback,
    list_models,
    size_in_name,
)
from assistant.models.windows import FILE_TOOLS_TOKENS, is_guess, window_of
from assistant.models.wire.request_parts import REQUEST_PARTS

__all__ = [
    "ChatModel",
    "ProviderName",
    "connect_available",
    "connect_compactor",
    "connect_model",
    "connect_or_stand_in",
    "explain_model_error",
    "fresh_call_id",
    "is_context_overflow",
    "window_told_by",
]

ProviderName = Literal["dashscope", "openai", "local", "offline"] | NativeName

OFFLINE_WINDOW_TOKENS = 128_000
# Below this size a model invents finished work and loses facts when it summarises.
FIT_BILLIONS = 3.0
# A server that is asked what it is, and does not say so within this time, is taken as it comes.
_ASK_SECONDS = 2.0
# Of how many models a server is asked whether they chat, before the first of its list is taken.
_ASKED_MODELS = 12


@dataclass(frozen=True, slots=True)
class ChatModel:
    """A model ready to answer, and what is known of it.

    `how` is one line: what was tried, what answered. `calls_tools` is False only where the server says that the model
    cannot; it would refuse every request that offers tools.
    """

    model: ChatModelBase
    name: str
    provider: ProviderName
    address: str
    window_tokens: int
    vocabulary: Vocabulary
    is_language_model: bool
    is_fit_for_summaries: bool
    how: str
    calls_tools: bool = True
    sees_pictures: bool = True
    """False only where it is known that the model takes no pictures; else its server is asked with the first one."""
    is_window_guessed: bool = False
    """True where nobody says how much the model can read."""
    price: Price | None = None
    """None where the server does not say what the model costs."""
    is_stand_in: bool = False
    """True while another model was asked for, and the built-in assistant answers because it cannot be had."""

    @property
    def is_local(self) -> bool:
        """True when nothing that is said leaves this machine."""
        return self.provider == "offline" or is_loopback(self.address)

    @property
    def title(self) -> str:
        """The model and where it is, as one name."""
        # A file's model listens somewhere else after each start.
        return self.name if self.provider == "local" else f"{self.name} at {self.address}"

    @property
    def who_answers(self) -> str:
        """One line: who answers, and how it was found."""
        if not self.is_language_model:
            return say("models", "built_in", how=self.how)
        return " ".join((self.how, *self.limits))

    def leave_out(self, names: Collection[str], on_refused: OnRefused) -> None:
        """Leave these parts out of every request; `on_refused` is called with what is found to be refused beside."""
        if isinstance(self.model, ProviderModel):
            self.model.leave_out([part for part in REQUEST_PARTS if part in names], on_refused)

    @property
    def limits(self) -> tuple[str, ...]:
        """What the assistant does without because of this model, a sentence each, and what a guess may cost."""
        if not self.is_language_model:
            return ()
        is_small = self.window_tokens < FILE_TOOLS_TOKENS
        found = {
            "window_guessed": self.is_window_guessed,
            "window_without_file_tools": is_small,
            "too_small_for_summaries": not self.is_fit_for_summaries,
        }
        figures = {"name": self.name, "window": self.window_tokens, "needed": FILE_TOOLS_TOKENS}
        return tuple(say("models", key, **figures) for key, holds in found.items() if holds)

    def hide(self, mask: Callable[[bytes], bytes]) -> None:
        """Send nothing from now on that `mask` takes out of a request."""
        if isinstance(self.model, ProviderModel):
            self.model.hide(mask)

    async def close(self) -> None:
        """Let go of the connections; may be called twice."""
        if isinstance(self.model, ProviderModel):
            await self.model.close()


async def connect_model(settings: Settings, places: Sequence[ServerPlace] = PLACES) -> ChatModel:
    """The model the settings ask for; with `auto`: a key, else an address or a server on loopback, else offline.

    Nothing is asked of a model here, only what a server lists. Raises `SettingsError` when a key or name is missing and
    `ModelUnreachableError` when a name is needed and the server that could tell one does not answer.
    """
    match settings.provider:
        case "dashscope":
            return await _connect_dashscope(settings)
        case "openai":
            return await _connect_openai(settings)
        case "local":
            return await _connect_file(settings)
        case "offline":
            return connect_offline(settings, say("models", "offline_chosen"))
        case "auto":
            return await _connect_first(settings, places)
        case native:
            return await _connect_native(settings, native)


async def connect_or_stand_in(settings: Settings, places: Sequence[ServerPlace] = PLACES) -> ChatModel:
    """The model the settings ask for; the built-in assistant where it cannot be had now, and `how` says why.

    A model that is named is looked for as well: its server has to be there and to take the key.
    """
    try:
        return await connect_available(settings, places)
    except (ModelError, SettingsError) as error:
        return replace(connect_offline(settings, str(error)), is_stand_in=True)


async def connect_available(settings: Settings, places: Sequence[ServerPlace] = PLACES) -> ChatModel:
    """`connect_model` for a model that can be had now; raises `ModelError` as well where it is named but away."""
    chat = await connect_model(settings, places)
    if isinstance(chat.model, ProviderModel) and (problem := await chat.model.why_unavailable()):
        await chat.close()
        raise ModelError(problem)
    return chat


async def connect_compactor(settings: Settings, chat: ChatModel) -> ChatModel | None:
    """The model for summaries and memory: the one set for it, else the chat model; None when it is not fit for it."""
    if not settings.compactor_model or chat.provider == "offline":
        return chat if chat.is_fit_for_summaries else None
    update = {"provider": chat.provider, "model": settings.compactor_model, "base_url": chat.address, "model_file": ""}
    named = settings.model_copy(update=update)
    compactor = await connect_model(named)
    if compactor.is_fit_for_summaries:
        return compactor
    await compactor.close()
    return None


def connect_offline(settings: Settings, how: str) -> ChatModel:
    """The built-in offline assistant."""
    window = settings.max_input_length or OFFLINE_WINDOW_TOKENS
    return ChatModel(
        model=OfflineModel(window, settings.home, settings.language),
        name=OFFLINE_NAME,
        provider="offline",
        address="",
        window_tokens=window,
        vocabulary="bytes",
        is_language_model=False,
        sees_pictures=False,
        is_fit_for_summaries=False,
        how=how,
    )


async def _connect_first(settings: Settings, places: Sequence[ServerPlace]) -> ChatModel:
    if settings.model_file:
        return await _connect_file(settings)
    at_address = settings.base_url and not is_openai(settings.base_url)
    if provider := provider_at(settings.base_url) if at_address else provider_with_key(settings):
        return await connect_model(settings.model_copy(update={"provider": provider}))
    if settings.ollama_host:
        return await _connect_native(settings, "ollama")
    look_up = await look_up_local_servers(places=places)
    told = say("models", "no_key_set", look_up=look_up.describe())
    server = _server_with(settings.model, look_up.servers)
    if server is None:
        return connect_offline(settings, told)
    found = settings.model_copy(update={"base_url": server.base_url})
    return await (_connect_native(found, "ollama", told) if server.speaks == "ollama" else _connect_openai(found, told))


async def _connect_native(settings: Settings, provider: NativeName, told: str = "") -> ChatModel:
    made = await make_native(settings, provider)
    how = " ".join(
        part for part in (told, say("models", "at_provider", name=made.listed.name, provider=made.where)) if part
    )
    return _chat_model(made.model, provider, made.address, made.listed, settings, how)


async def _connect_file(settings: Settings) -> ChatModel:
    opened = await open_model_file(settings)
    listed = ListedModel(opened.name, opened.window_tokens)
    how = say("local_model", "in_file", name=opened.name)
    return _chat_model(opened.model, "local", opened.address, listed, settings, how)


async def _connect_dashscope(settings: Settings) -> ChatModel:
    key = settings.key_of("dashscope")
    if not key:
        raise SettingsError("DASHSCOPE_API_KEY", say("models", "provider_needs_key", provider="dashscope"))
    # OPENAI_BASE_URL may be set for other programs: DashScope's key is never sent to OpenAI.
    base_url = DASHSCOPE_URL if not settings.base_url or is_openai(settings.base_url) else settings.base_url
    name = settings.model or DASHSCOPE_MODEL
    # DashScope lists no windows, so only a stand-in on loopback is asked.
    listed = await _ask_about(base_url, key, name) if is_loopback(base_url) else ListedModel(name)
    window = _window(settings, listed, base_url)
    model = DashScopeModel(name, base_url, key, window, settings.max_reply_tokens)
    return _chat_model(model, "dashscope", base_url, listed, settings, say("models", "at_dashscope", name=name))


async def _connect_openai(settings: Settings, told: str = "") -> ChatModel:
    key = settings.key_of("openai")
    base_url = settings.base_url or OPENAI_URL
    if not key and is_openai(base_url):
        raise SettingsError("OPENAI_API_KEY", say("models", "no_key_no_server"))
    if needs_responses(base_url, settings.model):
        return await _connect_native(settings, "responses", told)
    if settings.model or is_openai(base_url):
        listed = await _ask_about(base_url, key, settings.model or OPENAI_MODEL)
    else:
        listed = await _first_listed(base_url, key)
    window = _window(settings, listed, base_url)
    model = OpenAICompatibleModel(listed.name, base_url, key, window, settings.max_reply_tokens)
    how = " ".join(part for part in (told, f"{listed.name} at {base_url}.") if part)
    return _chat_model(model, "openai", base_url, listed, settings, how)


def _chat_model(
    model: ChatModelBase, provider: ProviderName, base_url: str, listed: ListedModel, settings: Settings, how: str
) -> ChatModel:
    size = listed.size_billions or size_in_name(listed.name)
    return ChatModel(
        model=model,
        name=listed.name,
        provider=provider,
        address=base_url,
        window_tokens=model.context_size,
        vocabulary=vocabulary_for(listed.name),
        is_language_model=True,
        is_fit_for_summaries=size is None or size >= FIT_BILLIONS,
        how=how,
        calls_tools=listed.calls_tools is not False,
        sees_pictures=listed.sees_pictures is not False,
        is_window_guessed=is_guess(listed.name, setting=settings.max_input_length, reported=listed.window_tokens),
        price=listed.price,
    )


async def _ask_about(base_url: str, key: str, name: str) -> ListedModel:
    """What the server says about the model `name`; only the name where it does not answer."""
    is_local = is_loopback(base_url)
    if is_openai(base_url):
        return ListedModel(name)
    async with client_for(base_url, _ASK_SECONDS, key=key) as client:
        try:
            models = await list_models(client, base_url)
        except (httpx.HTTPError, ValueError):
            return ListedModel(name)
        listed = next((model for model in models if model.name == name), ListedModel(name))
        return await ask_server(client, base_url, listed) if is_local else listed


async def _first_listed(base_url: str, key: str) -> ListedModel:
    async with client_for(base_url, _ASK_SECONDS, key=key) as client:
        try:
            models = await list_models(client, base_url)
        except httpx.HTTPStatusError as error:
            if error.response.status_code in (401, 403):
                if key:
                    raise ModelError(say("models", "key_refused", where=base_url)) from None
                raise ModelError(say("models", "asks_for_key", base_url=base_url)) from None
            raise SettingsError("PALIMPSEST_MODEL", say("models", "no_model_named", base_url=base_url)) from None
        except httpx.HTTPError as error:
            raise as_model_error(error, base_url, key) from None
        except ValueError:
            raise ModelUnreachableError(say("models", "no_model_server", base_url=base_url)) from None
        if not models:
            raise ModelError(say("models", "no_chat_model_yet", base_url=base_url))
        if not is_loopback(base_url):
            return models[0]
        for model in models[:_ASKED_MODELS]:
            if (asked := await ask_server(client, base_url, model)).is_for_chat:
                return asked
        return models[0]


def _window(settings: Settings, listed: ListedModel, base_url: str) -> int:
    return window_of(
        listed.name,
        setting=settings.max_input_length,
        reported=listed.window_tokens,
        is_local=is_loopback(base_url),
    )


def _server_with(name: str, servers: Sequence[LocalServer]) -> LocalServer | None:
    """The first server that has the model asked for; without a name the first of all."""
    return next((server for server in servers if not name or name in server.models), None)
