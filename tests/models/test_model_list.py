"""Every form of a list of models is read, and what is not for chat is left out by what the server says or the name."""

from __future__ import annotations

import pytest

from assistant.models.model_list import chat_rows, is_chat_name


def names(body: object) -> list[str]:
    """The names of the models that chat."""
    return [name for name, _ in chat_rows(body)]


@pytest.mark.parametrize(
    "body",
    [
        {"object": "list", "data": [{"id": "a"}, {"id": "b"}]},
        {"data": ["a", "b"]},
        {"data": [{"name": "a"}, {"model": "b"}]},
        {"data": [{"id": "a", "name": "A model"}, {"id": "b"}]},
        {"data": {"a": {}, "b": {}}},
        {"data": {"models": [{"id": "a"}, {"id": "b"}]}},
        {"data": [None, 7, {}, {"id": ""}, {"id": "a"}, {"id": " b "}]},
        {"data": None, "models": ["a", "b"]},
        [{"id": "a"}, {"id": "b"}],
        ["a", "b"],
        {"models": [{"name": "a", "model": "a"}, {"name": "b"}]},
        {"models": [{"key": "a"}, {"key": "b"}]},
        {"models": ["a", "b"]},
        {"models": {"a": {}, "b": {}}},
        {"models": [
            {"name": "models/a", "supportedGenerationMethods": ["generateContent"]},
            {"name": "models/b", "supportedGenerationMethods": ["streamGenerateContent"]},
            {"name": "models/c", "supportedGenerationMethods": ["embedContent"]},
        ]},
        {"result": ["a", "b"]},
        {"items": [{"id": "a"}, {"id": "b"}]},
        {"result": {"models": [{"id": "a"}, {"id": "b"}]}},
        {"result": [
            {"id": "0f3c1a52-7a55-4f3e-9d1c-0123456789ab", "name": "a", "task": {"name": "Text Generation"}},
            {"id": "1f3c1a52-7a55-4f3e-9d1c-0123456789ab", "name": "b"},
            {"id": "2f3c1a52-7a55-4f3e-9d1c-0123456789ab", "name": "c", "task": {"name": "Text Embeddings"}},
        ], "success": True},
        [{"id": "azureml://registries/x/models/a/versions/1", "name": "a"}, {"id": "b", "task": "chat-completion"}],
        {"endpoints": [
            {"name": "a", "task": "llm/v1/chat"},
            {"name": "b"},
            {"name": "c", "task": "llm/v1/embeddings"},
        ]},
        {"resources": [
            {"model_id": "a", "functions": [{"id": "text_generation"}]},
            {"model_id": "b"},
            {"model_id": "c", "functions": [{"id": "embedding"}]},
        ]},
        {"models": [
            {"name": "a", "endpoints": ["chat", "generate"]}, {"name": "b"}, {"name": "c", "endpoints": ["embed"]},
        ]},
        {"data": [{"id": "openai/*"}, {"id": "None"}, {"id": "a"}, {"id": "b"}]},
        {"data": [{"id": "c", "status": "downloadable"}, {"id": "a", "status": "downloaded"}, {"id": "b"}]},
    ],
)  # fmt: skip
def test_a_list_is_read_in_every_form(body: object) -> None:
    assert names(body) == ["a", "b"]


@pytest.mark.parametrize("body", [{}, "a", None, 7, {"error": "no"}, {"data": "a"}])
def test_what_is_no_list_is_none(body: object) -> None:
    with pytest.raises(ValueError, match="not a list of models"):
        names(body)


@pytest.mark.parametrize("body", [{"data": []}, {"data": None}, [], {"models": []}, {"data": [{}]}])
def test_an_empty_list_is_one(body: object) -> None:
    assert names(body) == []


@pytest.mark.parametrize(
    "row",
    [
        {"type": "embeddings"},
        {"type": "embedding"},
        {"type": "image"},
        {"type": "rerank"},
        {"type": "audio"},
        {"type": "moderation"},
        {"task": "embed"},
        {"mode": "image_generation", "type": "image"},
        {"pipeline_tag": "feature-extraction"},
        {"capabilities": ["embedding"]},
        {"capabilities": {"completion_chat": False, "embeddings": True}},
        {"capabilities": {"embeddings": True}},
        {"architecture": {"output_modalities": ["image"]}},
        {"architecture": {"output_modalities": ["embeddings"]}},
        {"active": False},
        {"capabilities": {"completion_chat": False, "ocr": True}},
        {"capabilities": {"chat_completion": False, "inference": True}},
        {"supported_output_modalities": ["embeddings"]},
        {"model_type": "rerank"},
        {"model_type": "image", "model_ability": ["text2image"]},
    ],
)
def test_what_a_server_says_is_not_for_chat_is_left_out(row: dict[str, object]) -> None:
    assert names({"data": [{"id": "a", **row}, {"id": "b"}]}) == ["b"]


@pytest.mark.parametrize(
    "row",
    [
        {"type": "llm"},
        {"type": "vlm"},
        {"type": "model"},
        {"type": "chat"},
        {"type": "language"},
        {"task": "generate"},
        {"pipeline_tag": "image-text-to-text"},
        {"capabilities": ["completion", "tools", "vision"]},
        {"capabilities": ["tool_use"]},
        {"capabilities": []},
        {"capabilities": {"completion_chat": True, "vision": True}},
        {"architecture": {"output_modalities": ["text", "image"]}},
        {"architecture": "llama"},
        {"active": True},
    ],
)
def test_what_chats_stays(row: dict[str, object]) -> None:
    assert names({"data": [{"id": "a", **row}]}) == ["a"]


@pytest.mark.parametrize(
    "name",
    [
        "all-minilm:latest", "nomic-embed-text", "mxbai-embed-large", "bge-m3", "snowflake-arctic-embed",
        "BAAI/bge-small-en", "text-embedding-3-small", "gte-qwen2", "intfloat/e5-large",
        "sentence-transformers/all-mpnet-base-v2", "jina-reranker-v2", "whisper-1", "tts-1",
        "gpt-4o-mini-tts", "gpt-4o-transcribe", "dall-e-3", "gpt-image-1", "stable-diffusion-xl",
        "black-forest-labs/FLUX.1-schnell", "sdxl-turbo", "imagen-4", "veo-3", "sora-2",
        "omni-moderation-latest", "wanx2.1-t2i-turbo", "cosyvoice-v2", "paraformer-v2",
        "openai/clip-vit-large", "qwen3-asr", "grok-2-image", "gpt-4o-realtime-preview", "gpt-audio-mini",
        "llama-guard3:8b", "meta-llama/llama-prompt-guard-2-22m", "granite3-guardian:8b", "shieldgemma:9b",
        "mistral-ocr-latest", "gpt-3.5-turbo-instruct", "nvidia/nvclip", "nvidia/nv-embed-v1", "computer-use-preview",
        "babbage-002", "davinci-002",
    ],
)  # fmt: skip
def test_a_name_of_another_kind_is_known(name: str) -> None:
    assert not is_chat_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "qwen3:8b", "llama3.2", "gpt-5.4", "deepseek-r1", "gemma3:4b", "mistral-small", "phi4", "qwen2.5-vl", "glm-4.6",
        "kimi-k2", "claude-sonnet-4", "gemini-2.5-flash", "command-r", "granite3.3", "yi-34b", "internlm2", "smollm2",
        "m", "strict-7b", "default", "hermes-3", "o4-mini", "wand-7b", "clipper-chat",
    ],
)  # fmt: skip
def test_a_name_of_a_chat_model_is_none_of_them(name: str) -> None:
    assert is_chat_name(name)
