"""What the owner sets from the page is tried, kept in `.env`, and in force at once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from dotenv import dotenv_values

from assistant.assembly.assistant import open_assistant
from assistant.assembly.own_settings import OwnSettings
from assistant.config.settings import load_settings
from assistant.errors import SettingsError
from assistant.models.chat_model import connect_or_stand_in
from assistant.models.detect import ServerPlace
from assistant.models.known_providers import ModelChoice
from tests.fakes.home import say
from tests.fakes.players import RuleBasedPlayer, SequencePlayer
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import Reply

KEY = "sk-test-5f2b8c"


@pytest.fixture
def own(tmp_path: Path, no_settings: None) -> OwnSettings:
    """The settings of an empty home, in an environment that sets nothing."""
    return OwnSettings(tmp_path, is_owner=True, places=())


@pytest.fixture
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment says nothing of who answers."""
    for name in ("PROVIDER", "MODEL", "BASE_URL", "API_KEY", "TOOLS", "LANGUAGE"):
        monkeypatch.delenv(f"PALIMPSEST_{name}", raising=False)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "DASHSCOPE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


async def test_what_is_kept_is_read_again_and_ends_the_first_run(own: OwnSettings) -> None:
    assert own.is_first_run
    await own.keep({"language": "zh", "tools": "read-only", "max_input_length": "16000", "base_url": "http://a:1/v1"})
    assert not own.is_first_run
    settings = load_settings(own.path.parent)
    assert (settings.language, settings.tools, settings.max_input_length) == ("zh", "read-only", 16_000)
    await own.keep({"language": "", "max_input_length": ""})
    assert dotenv_values(own.path) == {"PALIMPSEST_TOOLS": "read-only", "PALIMPSEST_BASE_URL": "http://a:1/v1"}


@pytest.mark.parametrize(
    ("changes", "variable"),
    [
        pytest.param({"tools": "everything"}, "PALIMPSEST_TOOLS", id="impossible"),
        pytest.param({"api_key": "sk 密钥"}, "PALIMPSEST_API_KEY", id="no key"),
        pytest.param({"users": "me:x"}, "users", id="not from the page"),
        pytest.param({"home": "/elsewhere"}, "home", id="the home itself"),
    ],
)
async def test_what_cannot_be_is_refused_and_nothing_is_written(
    own: OwnSettings, changes: dict[str, str], variable: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        await own.keep({"language": "en", **changes})
    assert refused.value.variable == variable
    assert "密钥" not in str(refused.value)
    assert not own.path.exists()


async def test_what_the_environment_fixes_stays(own: OwnSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_TOOLS", "off")
    assert own.fixes_model == ""
    with pytest.raises(SettingsError, match="PALIMPSEST_TOOLS"):
        await own.keep({"tools": "ask"})
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    assert own.fixes_model == "OPENAI_BASE_URL"


async def test_who_does_not_own_the_home_changes_nothing(tmp_path: Path) -> None:
    own = OwnSettings(tmp_path, is_owner=False)
    with pytest.raises(SettingsError):
        await own.keep({"language": "en"})
    assert not own.is_first_run


async def test_a_key_is_tried_before_anything_is_kept(own: OwnSettings) -> None:
    with StrictProvider(RuleBasedPlayer(), api_key=KEY) as provider:
        wrong = await own.try_model(ModelChoice("openai", provider.base_url, "", "sk-wrong"))
        right = await own.try_model(ModelChoice("openai", provider.base_url, "", KEY))
    away = await own.try_model(ModelChoice("openai", provider.base_url, "", KEY))
    assert [(trial.is_usable, trial.report.is_ok) for trial in (wrong, right, away)] == [
        (False, False),
        (True, True),
        (False, False),
    ]
    assert "strict-7b answered in" in right.report.text
    assert not [text for text in (wrong.report.text, away.report.text) if "sk-" in text]
    assert not own.path.exists()


async def test_a_model_that_calls_no_tools_can_be_used_and_says_so(own: OwnSettings) -> None:
    with StrictProvider(SequencePlayer(Reply(text="ready"), Reply(text="I cannot."))) as provider:
        trial = await own.try_model(ModelChoice("openai", provider.base_url))
    assert trial.is_usable
    assert not trial.report.is_ok
    assert "calls no tools" in trial.report.text


async def test_the_servers_of_this_machine_are_found_with_their_models(own: OwnSettings) -> None:
    with StrictProvider(RuleBasedPlayer(), models=("one", "two")) as provider:
        own.places = (ServerPlace("Ollama", provider.port),)
        await own.look_around()
    assert [(server.name, server.models) for server in own.found] == [("Ollama", ("one", "two"))]


async def test_an_open_assistant_goes_on_with_the_model_that_was_chosen(tmp_path: Path, no_settings: None) -> None:
    settings = load_settings(tmp_path).model_copy(update={"provider": "offline", "embedder": "none"})
    with StrictProvider(SequencePlayer(Reply(text="Here I am."))) as provider:
        async with open_assistant(settings, connect=connect_or_stand_in) as assistant:
            conversation = assistant.conversations.create()
            await say(assistant, conversation, "Hello")
            choice = ModelChoice("openai", provider.base_url, "strict-7b", KEY)
            await assistant.own_settings.keep({**choice.changes(), "tools": "memory"})
            await assistant.take_settings()
            await say(assistant, assistant.conversations.open(conversation.session_id), "Hi")
            assert (assistant.model.name, assistant.settings.tools) == ("strict-7b", "memory")
            assert KEY not in assistant.store.known.mask(f"It is {KEY}.")
    assert [entry.reply.text for entry in provider.log if entry.reply] == ["Here I am."]
    if sys.platform != "win32":
        assert assistant.own_settings.path.stat().st_mode & 0o777 == 0o600
