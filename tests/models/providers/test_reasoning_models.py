"""What only DeepSeek and Moonshot have: a switch for thinking, thoughts that are asked back, counts of the cache."""

from __future__ import annotations

import pytest

from assistant.messages.blocks import (
    AssistantMsg,
    Base64Source,
    DataBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    UserMsg,
)
from assistant.models.providers.carried_notes import notes_of
from assistant.models.providers.provider_line import ProviderModel
from assistant.models.providers.reasoning_models import DeepSeekModel, MoonshotModel
from tests.fakes.deepseek_server import DeepSeekServer
from tests.fakes.moonshot_server import MoonshotServer
from tests.fakes.wire import Reply
from tests.models.providers.asking import QUESTION, SCHEMA, all_chunks, shown

both_providers = pytest.mark.parametrize(
    ("make_server", "make_model"),
    [
        pytest.param(DeepSeekServer, DeepSeekModel, id="DeepSeek"),
        pytest.param(MoonshotServer, MoonshotModel, id="Moonshot"),
    ],
)


def model_at(server: DeepSeekServer, make_model: type[DeepSeekModel] | type[MoonshotModel]) -> ProviderModel:
    """The model of a server."""
    return make_model(server.MODEL, server.address, server.key, server.window_tokens, 16_000)


@both_providers
async def test_calls_of_another_model_are_taken_at_once_also_behind_what_was_refused_before(
    make_server: type[DeepSeekServer], make_model: type[DeepSeekModel]
) -> None:
    step = AssistantMsg(
        "palimpsest",
        [
            ToolCallBlock(id="call_of_another", name="add", input='{"first": 1, "second": 2}'),
            ToolResultBlock(id="call_of_another", name="add", output="3", state="success"),  # type: ignore[arg-type]
        ],
    )
    with make_server(Reply(text="Three.")) as server:
        model = model_at(server, make_model)
        model.leave_out(["stream_options"], lambda _: None)
        await all_chunks(model, [QUESTION, step], [SCHEMA])
        await model.close()

    assert server.malformed == []
    assert "stream_options" not in server.log[0].body


@both_providers
async def test_what_is_read_from_the_cache_is_counted(
    make_server: type[DeepSeekServer], make_model: type[DeepSeekModel]
) -> None:
    with make_server(Reply(text="Hello.")) as server:
        model = model_at(server, make_model)
        usage = (await all_chunks(model, [UserMsg("user", "Hello " * 100)]))[-1].usage
        await model.close()

    assert usage is not None
    assert usage.cache_input_tokens == 64


async def test_a_model_that_reads_text_alone_gets_the_picture_in_words_and_that_is_told() -> None:
    source = Base64Source(type="base64", media_type="image/png", data="aGk=")
    with DeepSeekServer(Reply(text="I see none."), takes_pictures=False) as server:
        model = model_at(server, DeepSeekModel)
        question = UserMsg("user", [TextBlock(text="What is on it?"), DataBlock(source=source)])
        chunks = await all_chunks(model, [question])
        await model.close()

    assert shown(list(chunks[-1].content)) == [("text", "I see none.")]
    assert [notes_of(chunk).refused for chunk in chunks if notes_of(chunk).refused] == [("pictures",)]
    assert len(server.log) == 2


@pytest.mark.parametrize(
    ("make_model", "name", "switch"),
    [
        (DeepSeekModel, "deepseek-v4-pro", "enabled"),
        (DeepSeekModel, "deepseek-chat", "disabled"),
        (MoonshotModel, "kimi-k2.6", "enabled"),
        (MoonshotModel, "moonshot-v1-8k", "disabled"),
    ],
)
async def test_a_model_thinks_where_it_can(make_model: type[DeepSeekModel], name: str, switch: str) -> None:
    with DeepSeekServer(Reply(text="Hello.")) as server:
        server.MODEL = name
        model = model_at(server, make_model)
        await all_chunks(model, [QUESTION])
        await model.close()

    assert server.log[0].body["thinking"] == {"type": switch}
