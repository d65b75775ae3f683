"""Profiles that the owner makes: tried with their own key, kept without it, changed and taken out again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from dotenv import dotenv_values

from assistant.assembly.own_profiles import OwnProfiles
from assistant.assembly.own_settings import OwnSettings
from assistant.config.profiles import Profile, Profiles
from assistant.config.settings import load_settings
from assistant.errors import SettingsError
from assistant.models.detect import ServerPlace
from assistant.models.known_providers import ModelChoice, ProfileChoice
from assistant.storage.profile_file import keep_profiles
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
    replaced = own.all.named(choice.name)
    await own.keep(own.made_of(choice, replaced), choice.model.key, replaced)


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
    await own.keep(own.made_of(ProfileChoice("ignored", unchanged), profile), None, profile)
    assert [(one.name, one.model, one.key) for one in own.all] == [("One", "larger", "PALIMPSEST_PROFILE_KEY_1")]
    assert dotenv_values(tmp_path / ".env")["PALIMPSEST_PROFILE_KEY_1"] == KEY
    profile = own.all.named("One")
    without = ModelChoice("ollama", "http://127.0.0.1:11434", "m", key="")
    await own.keep(own.made_of(ProfileChoice("ignored", without), profile), "", profile)
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
        pytest.param(ProfileChoice("sk-proj-abcdefghijklmnop1234567", SERVER), "Name", id="a key for a name"),
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
        await own.keep(profile, KEY, None)
        tried.append(await own.try_out(load_settings(tmp_path), profile, None))
    assert [trial.is_usable for trial in tried] == [False, True, True]


async def test_who_does_not_own_the_home_changes_nothing_and_asks_no_server(tmp_path: Path) -> None:
    with StrictProvider(RuleBasedPlayer()) as provider:
        settings = OwnSettings(tmp_path, is_owner=False, places=(ServerPlace("Ollama", provider.port),))
        own = OwnProfiles(settings)
        with pytest.raises(SettingsError, match="Only the owner"):
            await kept(own, ProfileChoice("One", SERVER))
        profile = Profile(name="One", provider="openai", base_url=provider.base_url)
        await settings.look_around()
        trials = [await own.try_out(load_settings(tmp_path), profile, KEY)]
        trials.append(await settings.try_model(ModelChoice("openai", provider.base_url, "m", KEY)))
    assert not (tmp_path / "profiles.json").exists()
    assert settings.found == ()
    assert [(trial.is_usable, trial.report.text) for trial in trials] == [
        (False, "Only the owner of the home changes its settings.")
    ] * 2
    assert provider.log == []


async def test_two_pages_that_keep_at_once_keep_both_with_their_own_keys(own: OwnProfiles, tmp_path: Path) -> None:
    choices = [ProfileChoice(name, ModelChoice("openai", f"http://{name}:1/v1", "m", f"sk-of-{name}")) for name in "ab"]
    profiles = [own.made_of(choice, None) for choice in choices]
    await asyncio.gather(
        *(own.keep(profile, choice.model.key, None) for profile, choice in zip(profiles, choices, strict=True))
    )
    keys = dotenv_values(tmp_path / ".env")
    assert [(one.name, one.base_url, keys[one.key]) for one in own.all] == [
        ("a", "http://a:1/v1", "sk-of-a"),
        ("b", "http://b:1/v1", "sk-of-b"),
    ]


async def test_what_another_page_changed_meanwhile_is_not_written_over(own: OwnProfiles, tmp_path: Path) -> None:
    await kept(own, ProfileChoice("One", SERVER))
    before = own.all.named("One")
    changed = own.made_of(ProfileChoice("One", ModelChoice("openai", "http://b:1/v1", "n", NEW_KEY)), before)
    await own.keep(changed, NEW_KEY, before)
    kept_files = [(tmp_path / name).read_bytes() for name in (".env", "profiles.json")]
    with pytest.raises(SettingsError, match="on another page meanwhile"):
        await own.keep(changed, NEW_KEY, before)
    with pytest.raises(SettingsError, match="on another page meanwhile"):
        await own.keep(changed, NEW_KEY, None)
    assert [(tmp_path / name).read_bytes() for name in (".env", "profiles.json")] == kept_files
    await own.remove("One")
    with pytest.raises(SettingsError, match="on another page meanwhile"):
        await own.keep(changed, NEW_KEY, before)


async def test_a_new_key_does_not_take_the_place_of_the_one_for_the_server_before(
    own: OwnProfiles, tmp_path: Path
) -> None:
    await kept(own, ProfileChoice("One", SERVER))
    await kept(own, ProfileChoice("One", ModelChoice("openai", "http://b:1/v1", "n", NEW_KEY)))
    assert [(one.base_url, one.key) for one in own.all] == [("http://b:1/v1", "PALIMPSEST_PROFILE_KEY_2")]
    assert dotenv_values(tmp_path / ".env") == {"PALIMPSEST_TOOLS": "off", "PALIMPSEST_PROFILE_KEY_2": NEW_KEY}


async def test_a_key_that_another_profile_names_too_stays(own: OwnProfiles, tmp_path: Path) -> None:
    await kept(own, ProfileChoice("One", SERVER))
    one = own.all.named("One")
    assert one is not None
    keep_profiles(tmp_path / "profiles.json", Profiles((one, one.model_copy(update={"name": "Two"}))))
    await own.remove("One")
    assert dotenv_values(tmp_path / ".env")["PALIMPSEST_PROFILE_KEY_1"] == KEY
    await own.remove("Two")
    assert "PALIMPSEST_PROFILE_KEY_1" not in dotenv_values(tmp_path / ".env")


async def test_a_variable_of_the_environment_is_not_taken_for_another_key(
    own: OwnProfiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALIMPSEST_PROFILE_KEY_1", "sk-of-the-machine")
    await kept(own, ProfileChoice("One", SERVER))
    assert [one.key for one in own.all] == ["PALIMPSEST_PROFILE_KEY_2"]
