"""What servers of each kind say about their windows and sizes."""

from __future__ import annotations

import pytest

from assistant.models.server_report import ListedModel, ask_server, direct_client, list_models
from tests.fakes.players import SequencePlayer
from tests.fakes.provider import StrictProvider

Answers = dict[str, dict[str, object]]


async def report(answers: Answers, name: str) -> ListedModel:
    with StrictProvider(SequencePlayer(), models=(name,), reports_window=False) as provider:
        provider.extra_answers.update(answers)
        async with direct_client(2.0) as client:
            listed = await list_models(client, provider.base_url)
            return await ask_server(client, provider.base_url, listed[0])


def row(**fields: object) -> Answers:
    return {"/v1/models": {"data": [{"id": "m", **fields}]}}


@pytest.mark.parametrize(
    ("answers", "model"),
    [
        pytest.param(row(max_model_len=32_768), ListedModel("m", 32_768), id="vLLM"),
        pytest.param(row(context_length=65_536), ListedModel("m", 65_536), id="OpenRouter"),
        pytest.param(row(context_window=131_072), ListedModel("m", 131_072), id="Groq"),
        pytest.param(
            row(meta={"n_ctx": 8_192, "n_ctx_train": 131_072, "n_params": 1_540_000_000}),
            ListedModel("m", 8_192, 1.54),
            id="llama-server in its list",
        ),
        pytest.param(
            {**row(), "/props": {"default_generation_settings": {"n_ctx": 4_096}}},
            ListedModel("m", 4_096),
            id="llama-server in its properties",
        ),
        pytest.param(
            {
                **row(),
                "/api/v0/models/m": {
                    "loaded_context_length": 16_384,
                    "max_context_length": 131_072,
                    "capabilities": ["tool_use"],
                },
            },
            ListedModel("m", 16_384, None, True),
            id="LM Studio, what is loaded and not what could be",
        ),
        pytest.param(
            {
                **row(),
                "/api/show": {
                    "parameters": 'stop "<|im_end|>"\nnum_ctx                        12288',
                    "details": {"parameter_size": "1.5B"},
                    "capabilities": ["completion", "tools"],
                    "model_info": {"qwen2.context_length": 131_072},
                },
            },
            ListedModel("m", 12_288, 1.5, True, sees_pictures=False),
            id="Ollama with num_ctx",
        ),
        pytest.param(
            {
                **row(),
                "/api/show": {"details": {"parameter_size": "7.6B"}, "capabilities": ["completion"]},
                "/api/ps": {"models": [{"name": "m", "context_length": 4_096}]},
            },
            ListedModel("m", 4_096, 7.6, False, sees_pictures=False),
            id="Ollama, what is loaded",
        ),
        pytest.param(
            {**row(), "/api/show": {"model_info": {"qwen2.context_length": 131_072}}},
            ListedModel("m"),
            id="Ollama does not serve what the model could",
        ),
        pytest.param(row(max_model_len="a lot", meta=7), ListedModel("m"), id="odd values"),
    ],
)
async def test_a_server_tells_its_window_and_size(answers: Answers, model: ListedModel):
    assert await report(answers, "m") == model


async def test_models_that_do_not_chat_are_left_out():
    rows = ["qwen3:8b", "nomic-embed-text", "bge-m3", "whisper-1", "jina-reranker-v2", "llama3"]
    answers: Answers = {"/v1/models": {"data": [{"id": name} for name in rows]}}
    with StrictProvider(SequencePlayer()) as provider:
        provider.extra_answers.update(answers)
        async with direct_client(2.0) as client:
            models = await list_models(client, provider.base_url)

    assert [model.name for model in models] == ["qwen3:8b", "llama3"]
