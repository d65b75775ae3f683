"""The picker names who answers: by the conversation, or by what the next one begins with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assistant.config.profiles import Profile, Profiles
from assistant.models.scripted import ScriptedModel
from assistant.storage.profile_file import keep_profiles
from assistant.ui.chat.model_picker import answers_as, picker_html
from tests.fakes.home import scripted_assistant

PROFILES = Profiles((Profile(name="Quick", provider="offline"), Profile(name="Slow", provider="offline")), "Slow")


def chosen_in(html: str) -> str:
    found = re.search(r'<span class="p-picked-name">([^<]*)', html)
    return found[1] if found else ""


@pytest.mark.parametrize(
    ("chosen", "named"),
    [
        pytest.param(None, "Slow", id="the default"),
        pytest.param("Quick", "Quick", id="chosen"),
        pytest.param("", "scripted", id="the settings, by their model"),
        pytest.param("Gone", "Slow", id="removed meanwhile"),
    ],
)
async def test_a_conversation_that_is_not_there_yet(home: Path, chosen: str | None, named: str) -> None:
    async with scripted_assistant(home, ScriptedModel([])) as assistant:
        keep_profiles(home / "profiles.json", PROFILES)
        assert chosen_in(picker_html(assistant, None, chosen)) == named


async def test_a_conversation_has_its_own(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([])) as assistant:
        keep_profiles(home / "profiles.json", PROFILES)
        conversation = assistant.conversations.create()
        names = [chosen_in(picker_html(assistant, conversation))]
        conversation.choose_profile("Quick")
        names.append(chosen_in(picker_html(assistant, conversation)))
        keep_profiles(home / "profiles.json", Profiles())
        names.append(chosen_in(picker_html(assistant, conversation)))
        # So that nobody takes for the settings what may be another's.
        (home / "profiles.json").write_text("{", "utf-8")
        names.append(chosen_in(picker_html(assistant, conversation)))
    assert names == ["Slow", "Quick", "scripted", "Quick"]


async def test_a_default_that_is_the_name_of_none_is_the_settings(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([])) as assistant:
        keep_profiles(home / "profiles.json", Profiles(PROFILES.listed, "Quik"))
        assert chosen_in(picker_html(assistant, None)) == "scripted"
        assert answers_as(assistant, None, None) == ("scripted", True)
