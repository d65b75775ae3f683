"""Thirty days of short conversations, whose model is careless: each fact is in memory once, and each write is shown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine

from assistant.assembly.assistant import Assistant, open_assistant
from assistant.config.settings import Settings
from assistant.conversation.conversation import Conversation
from assistant.memory.log import MemoryChange
from assistant.messages.events import MemoryChanged
from assistant.storage.workspace import FILE_MAX_CHARS
from tests.fakes.home import say
from tests.fakes.material import material_of
from tests.fakes.players import RuleBasedPlayer, newest_said
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import ChatRequest, Reply, ReplyCall

FIRST_MORNING = datetime(2026, 9, 1, 8, tzinfo=UTC)
DAYS, CONVERSATIONS = 30, 200
FIRST_NUMBER = 1_000
IDLE = timedelta(minutes=31)
SMALL_TALK = "Good. And now something else: what is there for dinner? " * 4
PROMPT_FILES = ("SOUL.md", "USER.md", "MEMORY.md")
_NUMBER = re.compile(r"(?<!\d)1\d{3}(?!\d)")
_FACTS = (
    "I keep the key to locker {} behind the blue kitchen door, as my aunt did.",
    "My cousin in Bergen rents the boat with the number {} every summer, and she never gives it back in time.",
    "第{}号柜子的钥匙我一直放在厨房蓝色的门后面，和我姑姑以前一样。",
    "We decided to sell the chairs of crate {} in spring, once the roof is dry again.",
    "I am allergic to the varnish with the number {} on its tin.",
)


def fact(number: int) -> str:
    """Something that a person says of themselves; no two are the same."""
    return _FACTS[number % len(_FACTS)].format(number)


def own_lines(heading: str, chars: int) -> str:
    """A memory file in which the person wrote so much already."""
    lines = [f"# {heading}", ""]
    while sum(map(len, lines)) < chars:
        lines.append(f"- The {len(lines)}th jar on the shelf holds lentils, which is as it was the year before that.")
    return "\n".join(lines) + "\n"


class CarelessModel(RuleBasedPlayer):
    """Saves what it is told to remember; of its flushes one works as asked, and the next ones each in a worse way."""

    def __init__(self) -> None:
        super().__init__()
        self._flushes = 0
        self._ways: Sequence[Callable[[ChatRequest, list[str]], Reply]] = (
            lambda request, facts: super(CarelessModel, self).__call__(request),
            _in_other_words,
            lambda request, facts: Reply(text="NO_REPLY"),
            _into_two_files,
            lambda request, facts: Reply(text="the model is overloaded", status=400),
            _what_stands_there,
        )

    def __call__(self, request: ChatRequest) -> Reply:
        if "add_lines" in request.tools:
            return self._file(request)
        said = newest_said(request)
        if said.startswith("Remember") and not request.results_since_user():
            content = f"The person said: {said.removeprefix('Remember this: ')}"
            return Reply(calls=(ReplyCall("memory_save", {"content": content, "category": "about_person"}),))
        return Reply(text="Noted.")

    def _file(self, request: ChatRequest) -> Reply:
        if request.results_since_user():
            breaks = self._flushes % 7 == 0
            return Reply(text="the connection is gone", status=400) if breaks else Reply(text="NO_REPLY")
        self._flushes += 1
        way = self._ways[self._flushes % len(self._ways)]
        return way(request, [line for line in material_of(request.last_user).facts if _NUMBER.search(line)])


def _add_lines(file: str, lines: Sequence[str]) -> ReplyCall:
    return ReplyCall("add_lines", {"file": file, "heading": "Noted", "lines": list(lines)})


def _in_other_words(request: ChatRequest, facts: list[str]) -> Reply:
    return Reply(calls=(_add_lines("MEMORY.md", [line.replace("I keep", "The person keeps") for line in facts]),))


def _into_two_files(request: ChatRequest, facts: list[str]) -> Reply:
    return Reply(calls=(_add_lines("USER.md", facts), _add_lines("MEMORY.md", facts)))


def _what_stands_there(request: ChatRequest, facts: list[str]) -> Reply:
    """Files into the day's note, and with it what stands in another file already."""
    standing = re.findall(r"^- (.*\b1\d{3}\b.*)$", request.last_user.partition("<conversation>")[0], re.MULTILINE)
    day = re.findall(r"Today is ([\d-]+)", request.last_user)[0]
    return Reply(calls=(_add_lines(f"memory/{day}.md", [*facts, *standing[:2]]),))


@dataclass
class Life:
    """What the person does for thirty days, and what they have said."""

    clock: time_machine.Traveller
    told: list[int] = field(default_factory=list[int])
    """The numbers of the facts, oldest first."""
    retold: set[int] = field(default_factory=set[int])

    async def spend(self, settings: Settings) -> None:
        """All conversations, those of a day in one process."""
        for day in range(DAYS):
            self.clock.move_to(FIRST_MORNING + timedelta(days=day))
            async with open_assistant(settings) as assistant:
                await self._spend_day(assistant, CONVERSATIONS * (day + 1) // DAYS)

    async def _spend_day(self, assistant: Assistant, until: int) -> None:
        conversation = assistant.conversations.create()
        while len(self.told) < until:
            await self._talk(assistant, conversation)
            leave = _WAYS_TO_LEAVE[len(self.told) % len(_WAYS_TO_LEAVE)]
            if len(self.told) < until:
                self.clock.shift(timedelta(minutes=20))
                conversation = await leave(self, assistant, conversation)
        # The last one is cut by the end of the process.

    async def _talk(self, assistant: Assistant, conversation: Conversation) -> None:
        """One long message or two short ones; now and then the person tells what they told before."""
        count = len(self.told)
        number = FIRST_NUMBER + count
        said = [f"Remember this: {fact(number)}" if count % 9 == 4 else fact(number), SMALL_TALK]
        if count % 8 == 7:
            self.retold.add(self.told[count // 3])
            said[1] = fact(self.told[count // 3])
        self.told.append(number)
        for text in said if count % 4 == 3 else ["\n".join(said)]:
            await say(assistant, conversation, text)


async def _by_new(life: Life, assistant: Assistant, conversation: Conversation) -> Conversation:
    await say(assistant, conversation, "/new")
    await assistant.flushes.wait()
    return assistant.conversations.create()


async def _by_another(life: Life, assistant: Assistant, conversation: Conversation) -> Conversation:
    """An older one is opened and gone on with while the flush of this one runs."""
    older = assistant.conversations.summaries()[-1].session_id
    assistant.left.leave(conversation.session_id)
    return assistant.conversations.open(older)


async def _by_idling(life: Life, assistant: Assistant, conversation: Conversation) -> Conversation:
    life.clock.shift(IDLE)
    assistant.left.look(assistant.settings.flush_idle_minutes)
    await assistant.flushes.wait()
    return conversation


_WAYS_TO_LEAVE: Sequence[Callable[[Life, Assistant, Conversation], Awaitable[Conversation]]] = (
    _by_new,
    _by_another,
    _by_idling,
)


@dataclass(frozen=True, slots=True)
class Standing:
    """A line of a memory file that holds one of the facts."""

    file: str
    line: str
    number: int


def standing_in(home: Path) -> list[Standing]:
    """The facts in all memory files, a row for each time that one stands there."""
    paths = [*(home / name for name in PROMPT_FILES), *sorted((home / "memory").glob("*.md"))]
    rows = [(path.name, line) for path in paths for line in path.read_text("utf-8").splitlines()]
    return [Standing(name, line, int(found)) for name, line in rows for found in _NUMBER.findall(line)]


async def changes_and_chips(settings: Settings) -> tuple[list[MemoryChange], set[tuple[str, str]]]:
    """What came into the memory files, and each chip that is shown: its conversation, and the change that it tells."""
    async with open_assistant(settings) as assistant:
        assistant.left.look(assistant.settings.flush_idle_minutes)
        await assistant.flushes.wait()
        paths = map(assistant.workspace.relative_name, assistant.workspace.memory_files())
        changes = [change for path in paths for change in assistant.memory_log.history(path) if change.session_id]
        chips: set[tuple[str, str]] = set()
        for summary in assistant.conversations.summaries():
            history = assistant.conversations.open(summary.session_id).attach().history
            chips |= {(summary.session_id, event.change_id) for event in history if isinstance(event, MemoryChanged)}
        return changes, chips


@pytest.mark.timeout(600)
async def test_thirty_days_of_short_conversations_are_in_memory_once_and_shown(home: Path) -> None:
    home.mkdir()
    for name in ("USER.md", "MEMORY.md"):
        (home / name).write_text(own_lines(name, FILE_MAX_CHARS - 3_000), encoding="utf-8")
    with StrictProvider(CarelessModel()) as provider, time_machine.travel(FIRST_MORNING) as clock:
        life = Life(clock)
        await life.spend(settings_of(home, provider))
        changes, chips = await changes_and_chips(settings_of(home, provider))

    standing = standing_in(home)
    everywhere = Counter(row.number for row in standing)
    in_prompt = Counter(row.number for row in standing if row.file in PROMPT_FILES)
    in_a_file = Counter((row.number, row.file) for row in standing)
    sizes = {name: len((home / name).read_text("utf-8")) for name in PROMPT_FILES}
    assert provider.malformed == []
    assert [number for number in life.told if number not in everywhere] == []
    assert [number for number in life.told if in_prompt[number] > 1] == []
    assert [number for number in life.told if everywhere[number] > 1 and number not in life.retold] == []
    # A day's note may say again what only an earlier one says: it tells what was said on that day.
    assert [place for place, count in in_a_file.items() if count > 1] == []
    assert [(size > FILE_MAX_CHARS - 200, size <= FILE_MAX_CHARS) for size in [*sizes.values()][1:]] == [
        (True, True)
    ] * 2
    assert {change.writer for change in changes} == {"assistant", "flush", "program"}
    assert [change for change in changes if (change.session_id, change.change_id) not in chips] == []


def settings_of(home: Path, provider: StrictProvider) -> Settings:
    """Settings of a home that the provider answers for."""
    chosen = {"provider": "openai", "base_url": provider.base_url, "api_key": "any", "embedder": "none"}
    values = {"timezone": "UTC", "language": "en", "max_input_length": 64_000}
    return Settings.model_validate({"home": home, **chosen, **values})
