"""A profile takes the place of all that the settings say of who answers; a key goes where it belongs."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from assistant.config.profiles import Profile
from assistant.config.settings import Settings, load_settings
from assistant.models.profile_settings import settings_with

MAIN_KEY, OPENAI_KEY, OWN_KEY = "sk-main-1", "sk-openai-2", "sk-own-3"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings with a model, two keys and a window; the home's `.env` holds the key of a profile."""
    monkeypatch.delenv("PALIMPSEST_MAX_INPUT_LENGTH", raising=False)
    (tmp_path / ".env").write_text(f"PALIMPSEST_PROFILE_KEY_1={OWN_KEY}\n", "utf-8")
    values: dict[str, object] = {"provider": "openai", "base_url": "http://main:1/v1", "model": "main-7b"}
    keys = {"api_key": SecretStr(MAIN_KEY), "openai_api_key": SecretStr(OPENAI_KEY)}
    update = {**values, **keys, "max_input_length": 9_000, "compactor_model": "main-1b", "home": tmp_path}
    return load_settings(tmp_path).model_copy(update=update)


def test_nothing_of_who_answers_is_left(settings: Settings) -> None:
    changed = settings_with(settings, Profile(name="p", provider="anthropic", key="PALIMPSEST_PROFILE_KEY_1"))
    told = (changed.provider, changed.base_url, changed.model, changed.max_input_length, changed.compactor_model)
    assert told == ("anthropic", "", "", None, "")
    assert changed.key_of("anthropic") == OWN_KEY


@pytest.mark.parametrize(
    ("address", "key"),
    [
        pytest.param("http://elsewhere:1/v1", "", id="another server"),
        pytest.param("https://api.openai.com/v1", OPENAI_KEY, id="the provider itself"),
        pytest.param("", OPENAI_KEY, id="the provider by itself"),
    ],
)
def test_a_key_under_the_providers_name_goes_to_the_provider_alone(settings: Settings, address: str, key: str) -> None:
    changed = settings_with(settings, Profile(name="p", provider="openai", base_url=address, model="m"))
    assert changed.key_of("openai") == key


def test_a_window_that_the_environment_sets_holds_for_every_profile(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = Profile(name="p", provider="offline", max_input_length=4_000)
    assert settings_with(settings, profile).max_input_length == 4_000
    monkeypatch.setenv("PALIMPSEST_MAX_INPUT_LENGTH", "9000")
    assert settings_with(settings, profile).max_input_length == 9_000
