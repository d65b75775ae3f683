"""Profiles that the owner makes: tried with their own key, kept without it, changed and taken out again."""

from __future__ import annotations

from pathlib import Path

import pytest
from dotenv import dotenv_values

from assistant.assembly.own_profiles import OwnProfiles
from assistant.assembly.own_settings import OwnSettings
from assistant.config.settings import load_settings
from assistant.errors import SettingsError
from assistant.models.known_providers import ModelChoice, ProfileChoice
from tests.fakes.players import RuleBasedPlayer
from tests.fakes.provider import StrictProvider

KEY, NEW_KEY = "sk-first-1", "sk-second-2"
SERVER = ModelChoice("openai", "http://127.0.0.1:9/v1", "m", KEY)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OwnProfiles:
    """The profiles of a home with a setting made by hand."""
    monkeypatch.delenv("PALIMPSEST_API_KEY", raising=False)
    (tmp_path / ".env").write_text("PALIMPSEST_TOOLS=off\n", "utf-8")
    return OwnProfiles(OwnSettings(tmp_path, is_owner=True, places=()))


async def kept(own: OwnProfiles, choice: ProfileChoice) -> None:
    await own.keep(own.made_of(choice, own.all.named(choice.name)), choice.model.key)


async def test_a_key_stands_in_the_settings_file_alone_and_goes_with_its_profile(
    own: OwnProfiles, tmp_path: Path
) -> None:
    await kept(own, ProfileChoice("One", SERVER, window="8000"))
    await kept(own, ProfileChoice("Two", ModelChoice("openai", "http://b:1/v1", "n", NEW_KEY)))
    listed = (tmp_path / "profiles.json").read_text("utf-8")
    assert [(one.name, one.key, one.max_input_length) for one in own.all] == [
        ("One", "PALIMPSEST_PROFILE_KEY_1", 8_000),
        ("Two", "PALIMPSEST_PROFILE_KEY_2", None),
    ]
    assert "sk-" not in listed
    await own.remove("one")
    assert dotenv_values(tmp_path / ".env") == {"PALIMPSEST_TOOLS": "off", "PALIMPSEST_PROFILE_KEY_2": NEW_KEY}
    assert (tmp_path / ".env").stat().st_mode & 0o777 == 0o600
    load_settings(tmp_path)


async def test_a_profile_is_changed_with_its_key_or_without(own: OwnProfiles, tmp_path: Path) -> None:
    await kept(own, ProfileChoice("One", SERVER))
    profile = own.all.named("one")
    assert profile is not None
    unchanged = ModelChoice("openai", SERVER.base_url, "larger", key=None)
    await own.keep(own.made_of(ProfileChoice("ignored", unchanged), profile), None)
    assert [(one.name, one.model, one.key) for one in own.all] == [("One", "larger", "PALIMPSEST_PROFILE_KEY_1")]
    assert dotenv_values(tmp_path / ".env")["PALIMPSEST_PROFILE_KEY_1"] == KEY
    without = ModelChoice("ollama", "http://127.0.0.1:11434", "m", key="")
    await own.keep(own.made_of(ProfileChoice("ignored", without), own.all.named("One")), "")
    assert dotenv_values(tmp_path / ".env") == {"PALIMPSEST_TOOLS": "off"}


async def test_new_conversations_begin_with_the_one_that_was_chosen_until_it_is_gone(own: OwnProfiles) -> None:
    await kept(own, ProfileChoice("One", SERVER))
    await own.begin_with("one")
    assert own.all.default == "One"
    await own.remove("One")
    assert own.all.default == ""


@pytest.mark.parametrize(
    ("choice", "named"),
    [
        pytest.param(ProfileChoice("", SERVER), "Name", id="no name"),
        pytest.param(ProfileChoice("main", SERVER), "Name", id="the settings' own"),
        pytest.param(ProfileChoice("ONE", SERVER), "ONE", id="taken"),
        pytest.param(ProfileChoice("Two", SERVER, window="many"), "Window in tokens", id="no number"),
        pytest.param(ProfileChoice("Two", ModelChoice("openai", "nowhere", key="")), "Address", id="no address"),
    ],
)
async def test_what_cannot_be_is_refused_by_its_name(own: OwnProfiles, choice: ProfileChoice, named: str) -> None:
    await kept(own, ProfileChoice("One", SERVER))
    with pytest.raises(SettingsError) as refused:
        own.made_of(choice, None)
    assert refused.value.variable == named


async def test_a_profile_is_tried_with_its_own_key(own: OwnProfiles, tmp_path: Path) -> None:
    with StrictProvider(RuleBasedPlayer(), api_key=KEY) as provider:
        profile = own.made_of(ProfileChoice("One", ModelChoice("openai", provider.base_url, "", KEY)), None)
        tried = [await own.try_out(load_settings(tmp_path), profile, key) for key in ("sk-wrong", KEY)]
        await own.keep(profile, KEY)
        tried.append(await own.try_out(load_settings(tmp_path), profile, None))
    assert [trial.is_usable for trial in tried] == [False, True, True]


async def test_who_does_not_own_the_home_changes_nothing(tmp_path: Path) -> None:
    own = OwnProfiles(OwnSettings(tmp_path, is_owner=False))
    with pytest.raises(SettingsError):
        await kept(own, ProfileChoice("One", SERVER))
    assert not (tmp_path / "profiles.json").exists()
