"""Each provider's own protocol × what happens in a conversation: one table, every cell the whole assistant at work."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard, get_args

import pytest
from PIL import Image

from assistant.agent.attachments.file_reading import GivenFile
from assistant.assembly.assistant import Assistant, open_assistant
from assistant.conversation.conversation import Conversation
from assistant.messages.events import (
    ApprovalRequested,
    ContextCompressed,
    Event,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    TurnFailed,
    TurnFinished,
)
from assistant.models.known_providers import NativeName
from tests.fakes.home import SUMMARY, home_settings, said_in
from tests.fakes.native_server import NativeServer
from tests.fakes.wire import Reply, ReplyCall
from tests.models.providers.native_cases import CASES, NativeCase

KEY = "test-key-1234567890"
WRONG_KEY = "another-key-0987654321"


@dataclass(frozen=True, slots=True)
class Desk:
    """A conversation with the model of one provider, and the server that answers."""

    case: NativeCase
    server: NativeServer
    assistant: Assistant
    conversation: Conversation
    home: Path

    def answers(self, *replies: Reply) -> None:
        """What the server says from now on."""
        self.server.replies[:] = replies

    async def say(self, text: str, *files: GivenFile) -> list[Event]:
        """What is told from a message on until nothing runs."""
        return await self._told(lambda: self.conversation.ask(text, files))

    async def answer(self, call_id: str, *, is_allowed: bool) -> list[Event]:
        """What is told from an answer to an approval on."""
        return await self._told(lambda: self.conversation.answer(call_id, is_allowed))

    async def go_on(self) -> list[Event]:
        """What is told from *Continue* on."""
        return await self._told(self.conversation.continue_turn)

    async def _told(self, act: Callable[[], None]) -> list[Event]:
        start = self.conversation.next_number
        act()
        return [numbered.event async for numbered in self.conversation.follow_until_idle(start)]

    def sent(self) -> str:
        """The newest request."""
        # Google's library writes base64 in the letters of addresses.
        return json.dumps(self.server.log[-1].body).replace("-", "+").replace("_", "/")


async def thinking_and_text(desk: Desk) -> None:
    desk.answers(Reply(thinking="Two words.", text="Hello there."))
    events = await desk.say("Hello")
    assert "".join(event.text for event in events if isinstance(event, ThinkingDelta)) == "Two words."
    assert (said_in(events), _ends(events)) == ("Hello there.", ["completed"])


async def tokens_from_a_cache(desk: Desk) -> None:
    desk.answers(Reply(text="Hello."), Reply(text="Hello again."))
    spent = [event.spent for words in ("Hello", "And again") for event in await desk.say(words) if _is_end(event)]
    assert all(0 <= one.cached_tokens < one.input_tokens for one in spent)
    assert (spent[1].cached_tokens > 0) == desk.case.reads_cache


async def one_call_approved_and_one_denied(desk: Desk) -> None:
    calls = (ReplyCall("Bash", {"command": "touch one.txt"}), ReplyCall("Bash", {"command": "touch two.txt"}))
    first = Reply(thinking="Two files.", text="I make both.", calls=calls)
    desk.answers(first, Reply(text="One is there."), Reply(text="Again, one."))
    events = await desk.say("Make one.txt and two.txt")
    for is_allowed in (True, False):
        asked = [event for event in events if isinstance(event, ApprovalRequested)][-1]
        events += await desk.answer(asked.call_id, is_allowed=is_allowed)
    assert [event.state for event in events if isinstance(event, ToolFinished)] == ["success", "denied"]
    assert [(desk.home / "files" / name).exists() for name in ("one.txt", "two.txt")] == [True, False]
    assert (said_in(events), _ends(events)[-1]) == ("I make both.One is there.", "completed")
    assert said_in(await desk.say("And?")) == "Again, one."
    returned = ["Two files." in str(entry.body) for entry in desk.server.log[1:]]
    assert returned == [desk.case.returns_thoughts] * 2


async def picture(desk: Desk) -> None:
    path = desk.home / "files" / "red.png"
    Image.new("RGB", (8, 8), "red").save(path)
    given = await desk.assistant.read_attached("red.png", path)
    assert given.picture is not None
    desk.answers(Reply(text="It is red."))
    events = await desk.say("What is on it?", given)
    assert (said_in(events), _ends(events)) == ("It is red.", ["completed"])
    assert "iVBORw0KGgo" in desk.sent()


async def stop(desk: Desk) -> None:
    desk.answers(Reply(text="Begun and never ended.", gate=threading.Event(), chunk_chars=5), Reply(text="I go on."))
    start = desk.conversation.next_number
    desk.conversation.ask("Hello")
    async for numbered in desk.conversation.follow_until_idle(start):
        if isinstance(numbered.event, TextDelta):
            break
    await desk.conversation.stop()
    events = await desk.go_on()
    assert (said_in(events), _ends(events)) == ("I go on.", ["completed"])
    assert "Begun" in desk.sent()


async def cut_at_the_output_limit(desk: Desk) -> None:
    desk.answers(Reply(text="A long answ", is_cut=True), Reply(text="er is whole now."))
    events = await desk.say("Hello")
    assert (said_in(events), _ends(events)) == ("A long answ", ["output_limit"])
    told = await desk.go_on()
    assert (said_in(told), _ends(told)) == ("er is whole now.", ["completed"])


async def connection_that_breaks(desk: Desk) -> None:
    desk.answers(Reply(text="A long answer that never ends.", breaks_after_chunks=5, chunk_chars=4))
    events = await desk.say("Hello")
    assert said_in(events).startswith("A lo")
    assert "broke off" in _failure(events)
    desk.answers(Reply(text="I go on."))
    told = await desk.go_on()
    assert (said_in(told), _ends(told)) == ("I go on.", ["completed"])


async def retry(desk: Desk) -> None:
    desk.answers(Reply(status=503, text="Not now"), Reply(text="Here I am."))
    events = await desk.say("Hello")
    assert (said_in(events), _ends(events)) == ("Here I am.", ["completed"])


async def overflow(desk: Desk) -> None:
    words = "The keeper counted the boats again and wrote it down. " * 60
    for number in range(4):
        desk.answers(Reply(text="Noted."))
        await desk.say(f"Day {number}. {words}")
    # The server was started anew with a smaller window, and nobody was told.
    desk.server.window_tokens = 3_000
    desk.answers(*[Reply(text=SUMMARY)] * 8)
    events = await desk.say("How many boats were there?")
    assert [event.reason for event in events if isinstance(event, ContextCompressed)][:1] == ["overflow"]
    assert _ends(events) == ["completed"]


async def wrong_key(desk: Desk) -> None:
    desk.server.key = WRONG_KEY
    events = await desk.say("Hello")
    assert "refused the key" in _failure(events)
    assert not any(secret in repr(events) for secret in (KEY, WRONG_KEY))


async def quota_that_is_used_up(desk: Desk) -> None:
    case, before = desk.case, len(desk.server.log)
    desk.answers(Reply(status=case.quota_status, text=case.quota_words, error_code=case.quota_code))
    events = await desk.say("Hello")
    told = "limits how much may be asked" if case.name == "ollama" else "wants to be paid first"
    assert told in _failure(events)
    assert len(desk.server.log) - before == 1


EVENTS: dict[str, Callable[[Desk], Awaitable[None]]] = {
    "thinking and text": thinking_and_text,
    "tokens from a cache": tokens_from_a_cache,
    "two calls, one approved": one_call_approved_and_one_denied,
    "picture": picture,
    "stop": stop,
    "cut at the limit": cut_at_the_output_limit,
    "connection that breaks": connection_that_breaks,
    "retry": retry,
    "overflow": overflow,
    "wrong key": wrong_key,
    "quota": quota_that_is_used_up,
}


@asynccontextmanager
async def desk_of(case: NativeCase, home: Path) -> AsyncGenerator[Desk]:
    """A conversation with a provider, before anything was said."""
    # An Ollama asks for a key where it is that of ollama.com.
    with case.serve(**{} if case.has_key else {"key": KEY}) as server:
        chosen = {"provider": case.name, "base_url": server.address, "model": server.MODEL, "api_key": server.key}
        settings = home_settings(home, tools="ask", recall="off", **chosen)
        async with open_assistant(settings) as assistant:
            assert not assistant.model.is_stand_in
            yield Desk(case, server, assistant, assistant.conversations.create(), home)


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_a_conversation_goes_through_whatever_happens(case: NativeCase, event: str, home: Path) -> None:
    async with desk_of(case, home) as desk:
        await EVENTS[event](desk)
        # A server that was not in the end what it was at first refuses, and nothing else is refused.
    assert desk.server.malformed == [] or event in ("overflow", "wrong key")


def test_the_table_has_every_provider() -> None:
    assert sorted(case.name for case in CASES) == sorted(get_args(NativeName))


def _ends(events: list[Event]) -> list[str]:
    return [event.reason for event in events if _is_end(event)]


def _is_end(event: Event) -> TypeGuard[TurnFinished]:
    return isinstance(event, TurnFinished)


def _failure(events: list[Event]) -> str:
    (failed,) = [event for event in events if isinstance(event, TurnFailed)]
    return failed.error
