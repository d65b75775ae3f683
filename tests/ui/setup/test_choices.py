"""What a form of the set-up means."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.config.settings import Settings
from assistant.errors import SettingsError
from assistant.models.known_providers import DASHSCOPE_MODEL, OPENAI_MODEL, OPENAI_URL, ModelChoice
from assistant.ui.form import Form
from assistant.ui.setup.choices import model_choice

OWN = "http://192.168.1.20:8000/v1"


def settings(**kept: object) -> Settings:
    """Settings in which this is kept."""
    chosen = {
        "provider": "auto",
        "base_url": "",
        "api_key": "",
        "dashscope_api_key": "",
        "openai_api_key": "",
        "anthropic_api_key": "",
        **kept,
    }
    return Settings.model_validate({"home": Path("home"), **chosen})


@pytest.mark.parametrize(
    ("fields", "kept", "choice"),
    [
        pytest.param(
            {"who": "found openai http://127.0.0.1:11434/v1 qwen3:8b", "provider-key": "sk-of-another"},
            {},
            ModelChoice("openai", "http://127.0.0.1:11434/v1", "qwen3:8b", ""),
            id="a server that was found gets no key",
        ),
        pytest.param(
            {"who": "found ollama http://127.0.0.1:11434 qwen3:8b"},
            {},
            ModelChoice("ollama", "http://127.0.0.1:11434", "qwen3:8b", ""),
            id="an Ollama that was found is asked in its own protocol",
        ),
        pytest.param(
            {"who": "file /home/ada/my models/qwen3 8b.gguf"},
            {},
            ModelChoice("local", key="", model_file="/home/ada/my models/qwen3 8b.gguf"),
            id="a file with blanks in its path",
        ),
        pytest.param(
            {"who": "server", "address": "http://192.168.1.20:11434"},
            {"provider": "ollama", "base_url": "http://192.168.1.20:11434"},
            ModelChoice("ollama", "http://192.168.1.20:11434", "", None),
            id="an Ollama elsewhere goes on in its own protocol",
        ),
        pytest.param(
            {"who": "provider", "provider": "OpenAI", "provider-key": " sk-1 "},
            {},
            ModelChoice("openai", OPENAI_URL, OPENAI_MODEL, "sk-1"),
            id="a provider with a key",
        ),
        pytest.param(
            {"who": "provider", "provider": "DashScope", "provider-key": "", "provider-model": "qwen-max"},
            {"dashscope_api_key": "sk-there"},
            ModelChoice("dashscope", "", "qwen-max", None),
            id="a provider whose key is there",
        ),
        pytest.param(
            {"who": "provider", "provider": "Anthropic"},
            {"anthropic_api_key": "sk-there", "api_key": "sk-of-another", "base_url": OPENAI_URL},
            ModelChoice("anthropic", "", "claude-sonnet-5-5", ""),
            id="a provider whose key is there gets no kept key of another",
        ),
        pytest.param(
            {"who": "provider", "provider": "DashScope"},
            {"provider": "dashscope", "api_key": "sk-kept"},
            ModelChoice("dashscope", "", DASHSCOPE_MODEL, None),
            id="a provider whose key is kept",
        ),
        pytest.param(
            {"who": "server", "address": f"{OWN}/", "server-model": "mine"},
            {"base_url": OWN, "api_key": "sk-kept"},
            ModelChoice("openai", f"{OWN}/", "mine", None),
            id="the same server goes on with its key",
        ),
        pytest.param(
            {"who": "server", "address": "http://10.0.0.9/v1"},
            {"base_url": OWN, "api_key": "sk-kept"},
            ModelChoice("openai", "http://10.0.0.9/v1", "", ""),
            id="another server does not get the key",
        ),
        pytest.param({"who": "nobody"}, {}, ModelChoice("offline", key=""), id="nobody"),
    ],
)
def test_a_form_says_who_answers(fields: dict[str, str], kept: dict[str, object], choice: ModelChoice) -> None:
    assert model_choice(Form(fields=fields), settings(**kept)) == choice


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        pytest.param({}, {}, id="nothing"),
        pytest.param({"who": "found"}, {}, id="no server"),
        pytest.param({"who": "file"}, {}, id="no file"),
        pytest.param({"who": "provider", "provider": "OpenAI"}, {}, id="no key"),
        pytest.param(
            {"who": "provider", "provider": "OpenAI"},
            {"api_key": "sk-of-a-server", "base_url": OWN},
            id="a key of another",
        ),
        pytest.param({"who": "server", "server-key": "sk-1"}, {}, id="no address"),
    ],
)
def test_a_form_that_says_too_little_is_refused(fields: dict[str, str], kept: dict[str, object]) -> None:
    with pytest.raises(SettingsError) as refused:
        model_choice(Form(fields=fields), settings(**kept))
    assert "sk-" not in str(refused.value)
