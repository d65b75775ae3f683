"""Windows and sizes: from the surest source, else a careful guess."""

import pytest

from assistant.models.server_report import is_loopback, size_in_name
from assistant.models.windows import card_window, window_of


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("qwen-plus", 1_000_000),
        ("qwen-plus-latest", 1_000_000),
        ("qwen-plus-2025-07-28", 1_000_000),
        ("Qwen-Plus", 1_000_000),
        ("openai/gpt-4o", 128_000),
        ("gpt-4o-2024-08-06", 128_000),
        ("gpt-4o-audio-preview", None),
        ("qwen3-max", None),
        ("my-own-model", None),
    ],
)
def test_a_card_counts_for_a_model_and_its_dated_editions(name: str, tokens: int | None):
    assert card_window(name) == tokens


@pytest.mark.parametrize(
    ("setting", "reported", "is_local", "name", "tokens"),
    [
        pytest.param(16_000, 32_000, True, "qwen-plus", 16_000, id="a setting wins"),
        pytest.param(None, None, False, "qwen-plus", 1_000_000, id="the card"),
        pytest.param(None, 32_000, False, "my-model", 32_000, id="what the server reports"),
        pytest.param(None, None, False, "my-model", 128_000, id="unknown in the cloud"),
        pytest.param(None, None, True, "my-model", 8_192, id="unknown on loopback"),
        pytest.param(None, 4_096, True, "gpt-4o", 4_096, id="what a local server has loaded comes before the card"),
    ],
)
def test_the_window_is_from_the_surest_source(
    setting: int | None, reported: int | None, is_local: bool, name: str, tokens: int
):
    assert window_of(name, setting=setting, reported=reported, is_local=is_local) == tokens


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("qwen2.5-coder:1.5b", 1.5),
        ("Llama-3.2-3B-Instruct-Q4_K_M", 3.0),
        ("qwen3-30b-a3b", 30.0),
        ("SmolLM2-135M-Instruct", 0.135),
        ("500M", 0.5),
        ("gemma3n:e2b", 2.0),
        ("meta-llama/Llama-3.1-8B-Instruct-AWQ-4bit", 8.0),
        ("mixtral-8x7b", None),
        ("gpt-4.1-nano", None),
        ("qwen-plus", None),
        ("glm-4-9b-chat-1m", 9.0),
    ],
)
def test_a_size_is_read_from_the_name(name: str, billions: float | None):
    assert size_in_name(name) == billions


@pytest.mark.parametrize(
    ("url", "is_local"),
    [
        ("http://127.0.0.1:11434/v1", True),
        ("http://localhost:1234/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://0.0.0.0:8000/v1", True),
        ("http://192.168.1.5:11434/v1", False),
        ("https://localhost.example.com/v1", False),
        ("https://api.openai.com/v1", False),
        ("", False),
    ],
)
def test_loopback_is_this_machine_only(url: str, is_local: bool):
    assert is_loopback(url) == is_local
