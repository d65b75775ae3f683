"""The profile that was chosen for a conversation answers in it, and nobody else reads along."""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from assistant.assembly.assistant import Assistant, open_assistant
from assistant.config.profiles import Profile, Profiles
from assistant.config.settings import load_settings
from assistant.errors import SettingsError
from assistant.messages.events import ContextMeasured, Event, Notice, TextDelta
from assistant.storage.profile_file import keep_profiles
from tests.fakes.home import said_in, say, until
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import ChatRequest, Reply

KEY = "sk-profile-77"


def named(request: ChatRequest) -> Reply:
    """An answer that says who gives it."""
    return Reply(text=f"I am {request.model}.", thinking="It asks who I am.")


@pytest.fixture
def main() -> Generator[StrictProvider]:
    """What the settings say answers here."""
    with StrictProvider(named, models=("main-9b",), window_tokens=64_000) as provider:
        yield provider


@pytest.fixture
def other() -> Generator[StrictProvider]:
    """What a profile says answers here, to whoever has the key."""
    with StrictProvider(named, models=("other-9b",), window_tokens=32_000, api_key=KEY) as provider:
        yield provider


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, main: StrictProvider, other: StrictProvider) -> Path:
    """A home of two profiles."""
    for name in ("PROVIDER", "MODEL", "BASE_URL", "API_KEY", "MAX_INPUT_LENGTH"):
        monkeypatch.delenv(f"PALIMPSEST_{name}", raising=False)
    home = tmp_path / "home"
    home.mkdir()
    lines = ("PROVIDER=openai", f"BASE_URL={main.base_url}", "MODEL=main-9b", "EMBEDDER=none", f"PROFILE_KEY_1={KEY}")
    (home / ".env").write_text("".join(f"PALIMPSEST_{line}\n" for line in lines), "utf-8")
    keep(home, profile_of(other))
    return home


def profile_of(provider: StrictProvider) -> Profile:
    return Profile(name="Other", provider="openai", base_url=provider.base_url, key="PALIMPSEST_PROFILE_KEY_1")


def keep(home: Path, *profiles: Profile, default: str = "") -> None:
    keep_profiles(home / "profiles.json", Profiles(profiles, default))


def opened(home: Path) -> AbstractAsyncContextManager[Assistant]:
    """The assistant of the home as a start opens it."""

    @asynccontextmanager
    async def open_one() -> AsyncGenerator[Assistant]:
        async with open_assistant(load_settings(home)) as assistant:
            yield assistant

    return open_one()


def told(events: Sequence[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice)]


async def test_the_chosen_profile_answers_from_the_next_turn_on_and_after_a_restart(home: Path) -> None:
    async with opened(home) as assistant:
        first, second = assistant.conversations.create(), assistant.conversations.create()
        answers = [said_in(await say(assistant, first, "Who are you?"))]
        await say(assistant, first, "/model other")
        answers += [said_in(await say(assistant, one, "And now?")) for one in (first, second)]
        session_id = first.session_id
    async with opened(home) as assistant:
        again = assistant.conversations.open(session_id)
        assert again.profile == "Other"
        events = await say(assistant, again, "Still?")
        answers.append(said_in(events))
        await say(assistant, again, "/model main")
        answers.append(said_in(await say(assistant, again, "Back?")))
    assert answers == ["I am main-9b.", "I am other-9b.", "I am main-9b.", "I am other-9b.", "I am main-9b."]
    assert told(events) == []


async def test_what_a_change_means_is_told_once(home: Path) -> None:
    async with opened(home) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Who are you?")
        events = await say(assistant, conversation, "/model Other")
        later = await say(assistant, conversation, "And now?")
    notice = told(events)[0]
    assert notice.startswith("Other answers from here on: other-9b.")
    assert "32,000 tokens in place of 64,000" in notice
    assert "thought and signed is not sent along" in notice
    assert [event.context_limit for event in events if isinstance(event, ContextMeasured)][-1] == 32_000
    assert told(later) == []


async def test_neither_key_goes_to_the_other_server(home: Path, main: StrictProvider, other: StrictProvider) -> None:
    async with opened(home) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Who are you?")
        await say(assistant, conversation, "/model Other")
        await say(assistant, conversation, "And now?")
    assert KEY not in str(main.log)
    assert [entry.body["model"] for entry in other.log] == ["other-9b"]


async def test_a_new_conversation_begins_with_the_default(home: Path, other: StrictProvider) -> None:
    keep(home, profile_of(other), default="Other")
    async with opened(home) as assistant:
        assert said_in(await say(assistant, assistant.conversations.create(), "Who?")) == "I am other-9b."


async def test_a_profile_that_is_gone_is_told_and_the_settings_answer(home: Path) -> None:
    async with opened(home) as assistant:
        conversation = assistant.conversations.create()
        conversation.choose_profile("Other")
        await say(assistant, conversation, "Who are you?")
        keep(home)
        events = await say(assistant, conversation, "And now?")
        assert said_in(events) == "I am main-9b."
        assert told(events) == [
            "The profile “Other” that was chosen here is gone. main-9b answers, as in the settings."
        ]
        session_id = conversation.session_id
    async with opened(home) as assistant:
        again = assistant.conversations.open(session_id)
        assert [event.text for event in again.kept if isinstance(event, Notice)] == told(events)
        assert told(await say(assistant, again, "Still?")) == []


async def test_while_a_profile_is_away_nobody_else_is_asked(
    home: Path, main: StrictProvider, other: StrictProvider
) -> None:
    async with opened(home) as assistant:
        conversation = assistant.conversations.create()
        keep(home, Profile(name="Away", provider="openai", base_url="http://127.0.0.1:9/v1"), profile_of(other))
        conversation.choose_profile("Away")
        events = [*(await say(assistant, conversation, "My secret is a heron."))]
        again = told(await say(assistant, conversation, "And now?"))
        asked = len(main.log)
        assert any("“Away” cannot answer" in notice for notice in [*told(events), conversation.model.how])
        assert again == []
        keep(home, profile_of(other).model_copy(update={"name": "Away"}))
        assert said_in(await say(assistant, conversation, "Who now?")) == "I am other-9b."
    assert asked == 0
    assert main.log == []


async def test_what_was_said_to_a_profile_is_written_down_by_no_other_model(
    home: Path, main: StrictProvider, other: StrictProvider
) -> None:
    async with opened(home) as assistant:
        conversation = assistant.conversations.create()
        conversation.choose_profile("Other")
        await say(assistant, conversation, f"I keep herons in the garden. {'They are grey and they fish. ' * 40}")
    async with opened(home) as assistant:
        assistant.left.look(idle_minutes=30)
        await assistant.flushes.wait()
    assert main.log == []
    assert len(other.log) > 1


async def test_a_name_that_no_profile_has_is_refused_with_those_that_there_are(home: Path) -> None:
    async with opened(home) as assistant:
        conversation = assistant.conversations.create()
        with pytest.raises(SettingsError, match="Main, Other"):
            conversation.choose_profile("Nobody")
        assert told(await say(assistant, conversation, "/model"))[-1].splitlines()[1:3] == ["● Main", "○ Other"]


async def test_a_turn_that_is_stopped_while_its_model_is_looked_for_has_ended(home: Path) -> None:
    async with opened(home) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Who are you?")
        keep(home, Profile(name="Silent", provider="openai", base_url="http://127.0.0.1:9/v1"))
        conversation.choose_profile("Silent")
        conversation.ask("And now?")
        await conversation.stop()
        await conversation.wait()
        assert not conversation.is_running
        assert conversation.attach().start == conversation.next_number


@pytest.mark.parametrize("default", ["Other", ""], ids=["by default", "just before"])
async def test_who_was_chosen_answers_after_the_first_word_was_cut_by_a_kill(
    home: Path, main: StrictProvider, other: StrictProvider, default: str
) -> None:
    keep(home, profile_of(other), default=default)
    killed = home.with_name("killed")
    async with opened(home) as assistant:
        conversation = assistant.conversations.create()
        if not default:
            conversation.choose_profile("Other")
        conversation.ask("My secret is a heron.")
        shutil.copytree(home, killed, ignore=shutil.ignore_patterns("index", ".*.lock"))
        await conversation.wait()
    async with opened(killed) as assistant:
        assert [one.title for one in assistant.conversations.summaries()] == ["My secret is a heron."]
        again = assistant.conversations.open(conversation.session_id)
        start = again.next_number
        again.continue_turn()
        events = [numbered.event async for numbered in again.follow_until_idle(start)]
    assert said_in(events) == "I am other-9b."
    assert main.log == []


async def test_who_was_chosen_answers_where_the_session_file_is_damaged(home: Path, main: StrictProvider) -> None:
    async with opened(home) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "/model Other")
        await say(assistant, conversation, "My secret is a heron.")
    for path in (home / "sessions").glob("*.json"):
        path.write_text("{", "utf-8")
    async with opened(home) as assistant:
        again = assistant.conversations.open(conversation.session_id)
        assert said_in(await say(assistant, again, "And now?")) == "I am other-9b."
        await say(assistant, again, "/model main")
    for path in (home / "sessions").glob("*.json"):
        path.write_text("{", "utf-8")
    assert main.log == []
    async with opened(home) as assistant:
        assert assistant.conversations.open(conversation.session_id).profile == ""


async def test_who_was_chosen_answers_in_a_branch(home: Path, main: StrictProvider) -> None:
    async with opened(home) as assistant:
        conversation = assistant.conversations.create()
        conversation.choose_profile("Other")
        await say(assistant, conversation, "My secret is a heron.")
        branch = (await assistant.submit(conversation, "/branch")).conversation
        assert said_in(await say(assistant, branch, "And now?")) == "I am other-9b."
    assert main.log == []


async def test_who_was_chosen_answers_beside_the_process_that_owns_the_home(home: Path, main: StrictProvider) -> None:
    async with opened(home) as owner:
        conversation = owner.conversations.create()
        conversation.choose_profile("Other")
        await say(owner, conversation, "My secret is a heron.")
        await owner.conversations.close()
        async with open_assistant(load_settings(home), may_be_owned=True) as beside:
            again = beside.conversations.open(conversation.session_id)
            assert said_in(await say(beside, again, "And now?")) == "I am other-9b."
    assert main.log == []


async def test_while_no_profile_can_be_read_nobody_else_is_asked(home: Path, main: StrictProvider) -> None:
    async with opened(home) as assistant:
        conversation = assistant.conversations.create()
        conversation.choose_profile("Other")
        await say(assistant, conversation, f"I keep herons in the garden. {'They are grey and they fish. ' * 40}")
    (home / "profiles.json").write_text("{", "utf-8")
    async with opened(home) as assistant:
        assistant.left.look(idle_minutes=30)
        await assistant.flushes.wait()
        events = await say(assistant, assistant.conversations.open(conversation.session_id), "And now?")
    assert "“Other” cannot answer: profiles.json in the home cannot be read" in told(events)[0]
    assert main.log == []


async def test_what_was_said_to_a_profile_that_is_gone_is_written_down_by_no_model(
    home: Path, main: StrictProvider
) -> None:
    async with opened(home) as assistant:
        conversation = assistant.conversations.create()
        conversation.choose_profile("Other")
        await say(assistant, conversation, f"I keep herons in the garden. {'They are grey and they fish. ' * 40}")
    keep(home)
    async with opened(home) as assistant:
        assistant.left.look(idle_minutes=30)
        await assistant.flushes.wait()
        (note,) = (home / "memory").glob("*.md")
    assert "I keep herons in the garden." in note.read_text("utf-8")
    assert main.log == []


@pytest.mark.parametrize(
    ("content", "notice"),
    [
        pytest.param("{", "no profile is known", id="damaged"),
        pytest.param('{"default": "Elsewhere"}', "The profile “Elsewhere” that was chosen here is gone", id="none"),
    ],
)
async def test_a_new_conversation_says_that_its_default_is_not_to_be_had(home: Path, content: str, notice: str) -> None:
    (home / "profiles.json").write_text(content, "utf-8")
    async with opened(home) as assistant:
        conversation = assistant.conversations.create()
        assert said_in(await say(assistant, conversation, "Who are you?")) == "I am main-9b."
        (kept,) = told(conversation.kept)
    assert notice in kept


async def test_a_turn_that_runs_is_not_cut_where_profiles_change(home: Path, other: StrictProvider) -> None:
    words = "I am slow. " * 200
    other.player = lambda request: Reply(text=words, chunk_chars=20, chunk_seconds=0.002)
    async with opened(home) as assistant:
        conversation = assistant.conversations.create()
        conversation.choose_profile("Other")
        start = conversation.next_number
        conversation.ask("Who are you?")
        await until(conversation, TextDelta, start)
        await assistant.take_profiles()
        assert said_in([numbered.event async for numbered in conversation.follow_until_idle(start)]) == words
        assert said_in(await say(assistant, conversation, "And now?")) == words
