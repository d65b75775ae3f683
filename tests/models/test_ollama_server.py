"""Where Ollama is, what it says of its models, and with which window one is loaded; a download with its progress."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from assistant.config.settings import Settings
from assistant.errors import ModelError, ModelUnreachableError
from assistant.messages.blocks import UserMsg
from assistant.models.chat_model import ChatModel, connect_model
from assistant.models.detect import ServerPlace, look_up_local_servers
from assistant.models.ollama_pull import PullProgress, pull_model
from assistant.models.ollama_server import address_of
from tests.fakes.free_port import free_port
from tests.fakes.ollama_server import OllamaServer
from tests.fakes.wire import Reply
from tests.models.providers.asking import shown

KEY = "a-key-of-its-own"


def settings(**values: object) -> Settings:
    return Settings.model_validate({"home": Path("home"), **values})


async def connect(server: OllamaServer, **values: object) -> ChatModel:
    """A connection by OLLAMA_HOST that is closed at once."""
    chat = await connect_model(settings(OLLAMA_HOST=server.address, **values), places=())
    await chat.close()
    return chat


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080"),
        (":9000", "http://127.0.0.1:9000"),
        ("box.example.org", "http://box.example.org:11434"),
        ("http://box.example.org", "http://box.example.org:80"),
        ("https://box.example.org/ollama/", "https://box.example.org:443/ollama"),
        ("[::1]:11434", "http://[::1]:11434"),
    ],
)
def test_the_address_is_what_ollama_itself_reads_out_of_its_variable(host: str, address: str) -> None:
    assert address_of(host) == address


@pytest.mark.parametrize(
    ("options", "loaded", "values", "window"),
    [
        pytest.param({}, 0, {}, 16_384, id="nobody says"),
        pytest.param({}, 4_096, {}, 16_384, id="loaded with less than the tools need"),
        pytest.param({}, 32_768, {}, 32_768, id="loaded with more"),
        pytest.param({"most_tokens": 8_192}, 0, {}, 8_192, id="it can read no more"),
        pytest.param({"modelfile": "num_ctx      12000"}, 32_768, {}, 12_000, id="its own file says"),
        pytest.param({"modelfile": "num_ctx 12000"}, 0, {"max_input_length": 24_000}, 24_000, id="the person says"),
    ],
)
async def test_a_model_is_asked_with_the_window_that_is_counted_with(
    options: dict[str, object], loaded: int, values: dict[str, object], window: int
) -> None:
    with OllamaServer(Reply(text="Hello."), **options) as server:  # type: ignore[arg-type]
        server.loaded_tokens = loaded
        chat = await connect_model(settings(OLLAMA_HOST=server.address, **values), places=())
        stream = await chat.model([UserMsg("user", "Hi")])
        chunks = [chunk async for chunk in stream]  # type: ignore[union-attr]
        await chat.close()

    assert (chat.provider, chat.name, chat.window_tokens, chat.is_window_guessed) == (
        "ollama",
        "qwen3:8b",
        window,
        False,
    )
    assert server.log[0].body["options"] == {"num_ctx": window, "num_predict": window}
    assert shown(list(chunks[-1].content)) == [("text", "Hello.")]


async def test_what_a_model_cannot_do_is_known_and_not_asked_of_it() -> None:
    with OllamaServer(Reply(text="Hello."), Reply(text="Hello."), capabilities=("completion",)) as server:
        chat = await connect_model(settings(OLLAMA_HOST=server.address), places=())
        for _ in range(2):
            stream = await chat.model([UserMsg("user", "Hi")])
            assert [chunk async for chunk in stream]  # type: ignore[union-attr]
        await chat.close()

    assert not chat.calls_tools
    assert [entry.body["think"] for entry in server.log] == [True, False, False]


async def test_an_ollama_on_this_machine_is_found_with_its_sizes_and_asked_in_its_own_protocol() -> None:
    with OllamaServer() as server:
        places = [ServerPlace("Ollama", int(server.address.rpartition(":")[2]))]
        look_up = await look_up_local_servers(2.0, places)
        chat = await connect_model(settings(), places)
        await chat.close()

    [found] = look_up.servers
    assert (found.speaks, found.base_url, found.models) == ("ollama", server.address, ("qwen3:8b",))
    assert found.hints == ("8.2 billion parameters, 5.2 GB on disk",)
    assert (chat.provider, chat.name, chat.is_local) == ("ollama", "qwen3:8b", True)
    assert chat.how.endswith(f"Ollama answered with 1 model. qwen3:8b at {server.address}, by its own interface.")


async def test_a_server_without_a_chat_model_and_one_that_is_away_are_told() -> None:
    with OllamaServer() as server:
        server.models = ["nomic-embed-text:latest"]
        with pytest.raises(
            ModelError, match="has no chat model yet. Download one, for example: python -m assistant pull qwen3:8b"
        ):
            await connect(server)
        with pytest.raises(ModelError, match="has no llama4:8b. Download it: python -m assistant pull llama4:8b"):
            await connect(server, model="llama4:8b")
    with pytest.raises(ModelUnreachableError, match="Nothing answers"):
        await connect(server)


async def test_a_model_that_is_named_is_found_without_its_tag_and_whatever_its_name_looks_like() -> None:
    with OllamaServer() as server:
        server.models = ["my-guard-e5:latest"]
        chat = await connect(server, model="my-guard-e5")

    assert (chat.name, chat.window_tokens) == ("my-guard-e5", 16_384)


async def test_a_download_says_how_far_it_is_and_the_model_is_there() -> None:
    with OllamaServer(Reply()) as server:
        progress = [one async for one in pull_model(settings(OLLAMA_HOST=server.address), "llama4:8b")]
        chat = await connect(server, model="llama4:8b")

    assert PullProgress("pulling 6a0746a1ec1a", 2_000_000_000, 4_000_000_000) in progress
    assert progress[-1] == PullProgress("success")
    assert chat.name == "llama4:8b"


@pytest.mark.parametrize(
    ("variables", "is_sent"),
    [
        pytest.param({"provider": "dashscope", "api_key": KEY}, False, id="another provider's"),
        pytest.param({"provider": "ollama", "api_key": KEY}, True, id="the server answers"),
        pytest.param({"OLLAMA_API_KEY": KEY}, True, id="under its own name"),
    ],
)
async def test_a_download_sends_the_key_of_its_own_server_alone(variables: Mapping[str, str], is_sent: bool) -> None:
    with OllamaServer(Reply(), key=KEY) as server:
        pull = pull_model(settings(OLLAMA_HOST=server.address, **variables), "llama4:8b")
        if is_sent:
            assert [one.step async for one in pull][-1] == "success"
        else:
            with pytest.raises(ModelError):
                assert [one async for one in pull]


async def test_a_download_that_fails_says_why() -> None:
    said = "nothing:1b could not be downloaded: pull model manifest: file does not exist"
    with OllamaServer(Reply()) as server, pytest.raises(ModelError, match=said):
        assert [one async for one in pull_model(settings(OLLAMA_HOST=server.address), "nothing:1b")]
    with pytest.raises(ModelUnreachableError, match="Nothing answers"):
        assert [one async for one in pull_model(settings(OLLAMA_HOST=f"127.0.0.1:{free_port()}"), "x")]
