"""Which model answers: by the settings, else a key, else a server on loopback, else the offline assistant."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from agentscope.model import ChatResponse

from assistant.config.settings import Settings
from assistant.errors import ModelError, ModelUnreachableError, SettingsError
from assistant.messages.blocks import UserMsg, block_text
from assistant.models.chat_model import (
    ChatModel,
    connect_available,
    connect_compactor,
    connect_model,
    connect_or_stand_in,
)
from assistant.models.detect import ServerPlace
from tests.fakes.free_port import free_port
from tests.fakes.players import RuleBasedPlayer, SequencePlayer
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import Reply


def settings(**values: object) -> Settings:
    return Settings.model_validate({"home": Path("home"), **values})


async def connect(**values: object) -> ChatModel:
    """A connection that looks for no server of this machine and is closed at once."""
    chat = await connect_model(settings(**values), places=())
    await chat.close()
    return chat


async def test_without_a_key_and_a_server_the_offline_assistant_answers_and_says_what_was_tried():
    port = free_port()
    chat = await connect_model(settings(), [ServerPlace("Ollama", port)])

    assert (chat.provider, chat.name, chat.is_language_model, chat.is_fit_for_summaries) == (
        "offline",
        "offline",
        False,
        False,
    )
    assert chat.is_local
    assert chat.how == f"No key is set. Looked on this machine for Ollama ({port}): nothing answered."


async def test_without_a_key_the_first_server_with_models_answers():
    with StrictProvider(SequencePlayer(Reply(text="Hello.")), models=("qwen3-8b",), window_tokens=12_000) as provider:
        chat = await connect_model(
            settings(), [ServerPlace("Ollama", free_port()), ServerPlace("LM Studio", provider.port)]
        )
        stream = await chat.model([UserMsg("user", "Hi")])
        assert not isinstance(stream, ChatResponse)
        chunks = [chunk async for chunk in stream]
        await chat.close()
        await chat.close()

    assert (chat.provider, chat.name, chat.window_tokens, chat.vocabulary) == ("openai", "qwen3-8b", 12_000, "qwen")
    assert (chat.is_local, chat.is_language_model, chat.is_fit_for_summaries) == (True, True, True)
    assert block_text(chunks[-1].content[0]) == "Hello."
    assert "LM Studio answered with 1 model." in chat.how
    assert chat.how.endswith(f"qwen3-8b at {provider.base_url}.")


async def test_a_server_without_the_model_that_is_asked_for_is_passed_over():
    with (
        StrictProvider(SequencePlayer(), models=("a-7b",)) as first,
        StrictProvider(SequencePlayer(), models=("b-7b", "c-7b")) as second,
    ):
        chat = await connect_model(
            settings(model="c-7b"), [ServerPlace("A", first.port), ServerPlace("B", second.port)]
        )
        await chat.close()

    assert (chat.name, chat.address) == ("c-7b", second.base_url)


@pytest.mark.parametrize(
    ("values", "provider", "name", "address", "window"),
    [
        pytest.param(
            {"DASHSCOPE_API_KEY": "sk-x"}, "dashscope", "qwen-plus", "dashscope.aliyuncs.com", 1_000_000, id="DashScope"
        ),
        pytest.param({"OPENAI_API_KEY": "sk-x"}, "openai", "gpt-5.4", "api.openai.com", 1_050_000, id="OpenAI"),
        pytest.param(
            {"DASHSCOPE_API_KEY": "sk-x", "OPENAI_API_KEY": "sk-y"},
            "dashscope",
            "qwen-plus",
            "dashscope.aliyuncs.com",
            1_000_000,
            id="both keys",
        ),
        pytest.param(
            {"api_key": "sk-x"}, "dashscope", "qwen-plus", "dashscope.aliyuncs.com", 1_000_000, id="our own key"
        ),
        pytest.param(
            {"api_key": "sk-x", "model": "gpt-4o"}, "openai", "gpt-4o", "api.openai.com", 128_000, id="the name tells"
        ),
        pytest.param(
            {"DASHSCOPE_API_KEY": "sk-x", "model": "qwen3-max", "max_input_length": 50_000},
            "dashscope",
            "qwen3-max",
            "dashscope.aliyuncs.com",
            50_000,
            id="a name without a card, and a window that is set",
        ),
        pytest.param(
            {"ANTHROPIC_API_KEY": "sk-x"},
            "anthropic",
            "claude-sonnet-5-5",
            "api.anthropic.com",
            1_000_000,
            id="Anthropic",
        ),
        pytest.param(
            {"DEEPSEEK_API_KEY": "sk-x"}, "deepseek", "deepseek-flash", "api.deepseek.com", 1_000_000, id="DeepSeek"
        ),
        pytest.param({"MOONSHOT_API_KEY": "sk-x"}, "moonshot", "kimi-k3", "api.moonshot.cn", 1_048_576, id="Moonshot"),
        pytest.param(
            {"api_key": "sk-x", "base_url": "https://api.deepseek.com", "model": "deepseek-v4-pro"},
            "deepseek",
            "deepseek-v4-pro",
            "api.deepseek.com",
            1_000_000,
            id="an address of DeepSeek",
        ),
        pytest.param(
            {"OPENAI_API_KEY": "sk-x", "model": "gpt-5.4-pro", "max_input_length": 50_000},
            "responses",
            "gpt-5.4-pro",
            "api.openai.com",
            50_000,
            id="a model that OpenAI has over its Responses alone",
        ),
        pytest.param(
            {"GOOGLE_API_KEY": "sk-x"},
            "gemini",
            "gemini-3.8-flash",
            "generativelanguage.googleapis.com",
            1_048_576,
            id="Gemini",
        ),
        pytest.param(
            {"api_key": "sk-x", "model": "deepseek-v4-pro"},
            "dashscope",
            "deepseek-v4-pro",
            "dashscope.aliyuncs.com",
            1_000_000,
            id="a name that several have",
        ),
        pytest.param(
            {"DASHSCOPE_API_KEY": "sk-x", "ANTHROPIC_API_KEY": "sk-y", "model": "claude-haiku-4-5"},
            "anthropic",
            "claude-haiku-4-5",
            "api.anthropic.com",
            200_000,
            id="both keys, and the name tells",
        ),
        pytest.param(
            {"ANTHROPIC_API_KEY": "sk-x", "provider": "anthropic", "OPENAI_BASE_URL": "https://api.openai.com/v1"},
            "anthropic",
            "claude-sonnet-5-5",
            "api.anthropic.com",
            1_000_000,
            id="an address for other programs",
        ),
        pytest.param(
            {"api_key": "sk-x", "base_url": "https://api.deepseek.com/anthropic", "model": "deepseek-chat"},
            "anthropic",
            "deepseek-chat",
            "api.deepseek.com",
            1_000_000,
            id="an address that tells",
        ),
    ],
)
async def test_a_key_decides(values: dict[str, object], provider: str, name: str, address: str, window: int):
    chat = await connect(**values)

    assert (chat.provider, chat.name, chat.window_tokens) == (provider, name, window)
    assert f"//{address}/" in f"{chat.address}/"
    assert not chat.is_local
    assert "sk-" not in chat.how


async def test_an_address_is_asked_for_its_first_model_without_a_key():
    with StrictProvider(SequencePlayer(), models=("smollm2-135m", "b"), reports_window=False) as provider:
        chat = await connect(base_url=provider.base_url)

    assert (chat.provider, chat.name, chat.window_tokens) == ("openai", "smollm2-135m", 8_192)
    assert not chat.is_fit_for_summaries


@pytest.mark.parametrize(("capabilities", "able"), [(["completion"], False), (["tools", "vision"], True), (None, True)])
async def test_a_server_tells_that_its_model_calls_no_tools_and_sees_nothing(
    capabilities: list[str] | None, able: bool
):
    with StrictProvider(SequencePlayer()) as provider:
        provider.extra_answers["/api/show"] = {"capabilities": capabilities}
        chat = await connect(base_url=provider.base_url)

    assert (chat.calls_tools, chat.sees_pictures) == (able, able)


async def test_dashscope_behind_another_address_is_still_dashscope():
    with StrictProvider(SequencePlayer(Reply(text="好的")), models=("qwen-turbo",)) as provider:
        chat = await connect_model(
            settings(provider="dashscope", api_key="sk-x", base_url=provider.dashscope_url, model="qwen-turbo")
        )
        stream = await chat.model([UserMsg("user", "你好")])
        assert not isinstance(stream, ChatResponse)
        async for _ in stream:
            pass
        await chat.close()

    assert provider.log[0].path == "/compatible-mode/v1/chat/completions"
    assert chat.window_tokens == 16_000


@pytest.mark.parametrize(
    ("values", "variable"),
    [
        ({"provider": "dashscope"}, "DASHSCOPE_API_KEY"),
        ({"provider": "openai"}, "OPENAI_API_KEY"),
        ({"provider": "anthropic"}, "ANTHROPIC_API_KEY"),
        ({"provider": "gemini"}, "GEMINI_API_KEY"),
        ({"provider": "responses"}, "OPENAI_API_KEY"),
        ({"provider": "deepseek"}, "DEEPSEEK_API_KEY"),
        ({"provider": "moonshot"}, "MOONSHOT_API_KEY"),
    ],
)
async def test_a_missing_key_is_named(values: dict[str, object], variable: str):
    with pytest.raises(SettingsError) as caught:
        await connect(**values)

    assert caught.value.variable == variable


async def test_a_library_that_is_missing_is_named_with_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(sys.modules, "assistant.models.providers.gemini_model", raising=False)
    monkeypatch.setitem(sys.modules, "google.genai", None)

    with pytest.raises(ModelError) as caught:
        await connect(GEMINI_API_KEY="sk-x")

    command = "pip install '.[gemini]'"
    assert (
        str(caught.value)
        == f"Gemini needs a library that is not installed. In the folder of the program, run: {command}"
    )


async def test_a_server_that_is_away_is_reported_soon_when_its_model_must_be_asked_for():
    base_url = f"http://127.0.0.1:{free_port()}/v1"
    async with asyncio.timeout(3):
        with pytest.raises(ModelUnreachableError, match=f"Nothing answers at {base_url}"):
            await connect(provider="openai", base_url=base_url)


async def test_a_server_that_is_away_can_be_named_beforehand():
    chat = await connect(provider="openai", base_url=f"http://127.0.0.1:{free_port()}/v1", model="later-7b")

    assert (chat.name, chat.window_tokens) == ("later-7b", 8_192)


@pytest.mark.parametrize(
    ("key", "models", "reason"),
    [("wrong", ("a-7b",), "refused the key"), ("right", (), "has no chat model yet")],
)
async def test_a_server_that_offers_nothing_says_why(key: str, models: tuple[str, ...], reason: str):
    with (
        StrictProvider(SequencePlayer(), models=models, api_key="right") as provider,
        pytest.raises(ModelError, match=reason) as caught,
    ):
        await connect(base_url=provider.base_url, api_key=key)

    assert "wrong" not in str(caught.value)


async def test_summaries_come_from_the_chat_model_when_it_is_fit():
    with StrictProvider(RuleBasedPlayer(), models=("a-7b",)) as provider:
        given = settings(base_url=provider.base_url)
        chat = await connect_model(given)
        assert await connect_compactor(given, chat) is chat
        await chat.close()


async def test_summaries_come_from_the_model_that_is_set_for_them():
    with StrictProvider(RuleBasedPlayer(), models=("tiny-1b", "big-70b")) as provider:
        given = settings(base_url=provider.base_url, compactor_model="big-70b")
        chat = await connect_model(given)
        compactor = await connect_compactor(given, chat)
        assert compactor is not None
        await chat.close()
        await compactor.close()

    assert (chat.name, chat.is_fit_for_summaries, compactor.name, compactor.address) == (
        "tiny-1b",
        False,
        "big-70b",
        chat.address,
    )


@pytest.mark.parametrize("compactor_model", ["", "small-2b"])
async def test_no_unfit_model_writes_summaries(compactor_model: str):
    with StrictProvider(RuleBasedPlayer(), models=("tiny-1b", "small-2b")) as provider:
        given = settings(base_url=provider.base_url, compactor_model=compactor_model)
        chat = await connect_model(given)
        assert await connect_compactor(given, chat) is None
        await chat.close()


async def test_the_offline_assistant_never_writes_summaries():
    given = settings(provider="offline", compactor_model="qwen-plus")
    assert await connect_compactor(given, await connect_model(given)) is None


async def test_the_built_in_assistant_stands_in_for_a_model_that_cannot_be_had() -> None:
    address = f"http://127.0.0.1:{free_port()}/v1"
    chat = await connect_or_stand_in(settings(provider="openai", base_url=address))
    assert (chat.provider, chat.is_stand_in) == ("offline", True)
    assert chat.how == f"Nothing answers at {address}. Is the server running, and is the address right?"


async def test_the_built_in_assistant_that_was_asked_for_stands_in_for_nobody() -> None:
    assert not (await connect_or_stand_in(settings(provider="offline"))).is_stand_in


async def test_a_named_model_whose_server_is_down_is_stood_in_for() -> None:
    address = f"http://127.0.0.1:{free_port()}/v1"
    chat = await connect_or_stand_in(settings(provider="openai", base_url=address, model="later-7b"))
    assert (chat.is_stand_in, chat.how) == (
        True,
        f"Nothing answers at {address}. Is the server running, and is the address right?",
    )


REFUSED = (True, "{} refused the key. Check the key and that it belongs to this provider.")
THERE = (False, "a-7b at {}.")


@pytest.mark.parametrize(
    ("key", "listing", "expected"),
    [
        pytest.param("right", None, THERE, id="all is well"),
        pytest.param("wrong", None, REFUSED, id="a wrong key"),
        pytest.param("right", 401, THERE, id="a key that may not list models"),
        pytest.param("right", 403, THERE, id="a list that is forbidden"),
        pytest.param("right", 404, THERE, id="no list"),
        pytest.param("right", 500, THERE, id="a list that is broken"),
        pytest.param("right", 503, THERE, id="a list that is away"),
        pytest.param("wrong", 404, REFUSED, id="a wrong key where there is no list"),
    ],
)
async def test_a_named_model_is_there_unless_its_key_is_refused(
    key: str, listing: int | None, expected: tuple[bool, str]
) -> None:
    with StrictProvider(SequencePlayer(), models=("a-7b",), api_key="right") as provider:
        if listing:
            provider.statuses["/v1/models"] = listing
        given = settings(provider="openai", base_url=provider.base_url, model="a-7b", api_key=key)
        chat = await connect_or_stand_in(given)
        await chat.close()
    assert (chat.is_stand_in, chat.how) == (expected[0], expected[1].format(provider.base_url))
    assert "wrong" not in chat.how


async def test_the_doctor_is_told_why_a_named_model_cannot_be_had() -> None:
    with (
        StrictProvider(SequencePlayer(), models=("a-7b",), api_key="right") as provider,
        pytest.raises(ModelError, match="refused the key"),
    ):
        await connect_available(settings(provider="openai", base_url=provider.base_url, model="a-7b", api_key="wrong"))


GUESSED = (
    "How much {name} can read is not known: 8,192 tokens are a guess. PALIMPSEST_MAX_INPUT_LENGTH sets it; below "
    "16,000 there are no file tools."
)
NO_FILE_TOOLS = (
    "There are no file and shell tools: a window of {window} tokens is too small for them, they need 16,000."
)
NO_SUMMARIES = (
    "Summaries and notes are made by rule, word for word: {name} has fewer than 3 billion parameters. "
    "PALIMPSEST_COMPACTOR_MODEL names another model for them."
)


@pytest.mark.parametrize(
    ("name", "window", "reports_window", "told"),
    [
        ("strict-7b", 16_000, True, ()),
        ("strict-7b", 8_000, True, (NO_FILE_TOOLS,)),
        ("strict-1.5b", 16_000, True, (NO_SUMMARIES,)),
        ("strict-7b", 8_192, False, (GUESSED, NO_FILE_TOOLS)),
        ("strict-1.5b", 8_192, False, (GUESSED, NO_FILE_TOOLS, NO_SUMMARIES)),
    ],
)
async def test_what_is_done_without_because_of_the_model_is_told(
    name: str, window: int, reports_window: bool, told: tuple[str, ...]
) -> None:
    with StrictProvider(
        SequencePlayer(), models=(name,), window_tokens=window, reports_window=reports_window
    ) as provider:
        chat = await connect(provider="openai", base_url=provider.base_url, model=name)
        await chat.close()
    sentences = tuple(text.format(name=name, window=f"{window:,}") for text in told)
    assert chat.limits == sentences
    assert chat.who_answers == " ".join((chat.how, *sentences))


async def test_a_window_that_is_set_is_no_guess() -> None:
    with StrictProvider(SequencePlayer(), reports_window=False) as provider:
        chat = await connect(provider="openai", base_url=provider.base_url, model="strict-7b", max_input_length=20_000)
        await chat.close()
    assert chat.limits == ()
