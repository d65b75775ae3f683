"""Where objects are made, connected and closed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, fields
from datetime import date
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from assistant.accounts import Account
from assistant.agent.approvals import Rules
from assistant.agent.build import build_agent, restore_state
from assistant.agent.commit import SessionKeeper
from assistant.agent.compactor import make_ask
from assistant.agent.context import Context
from assistant.agent.flush import Flusher, FlushModel
from assistant.agent.flush_tasks import FlushTasks
from assistant.agent.hooks.approval import ApprovalHook
from assistant.agent.hooks.arguments import ArgumentsHook
from assistant.agent.hooks.compaction import MemoryCompactionHook
from assistant.agent.hooks.output_limit import OutputLimitHook
from assistant.agent.hooks.steps import StepHook
from assistant.agent.hooks.system_prompt import PromptSource, SystemPromptHook
from assistant.agent.hooks.tool_results import ToolResultHook
from assistant.agent.memory_tools import MemoryDesk, memory_tools
from assistant.agent.recall import RecallHook
from assistant.agent.runner import AgentRunner
from assistant.agent.skills import SkillShelf, skill_files
from assistant.agent.system_prompt import FILE_MAX_CHARS
from assistant.agent.tidy import (
    TIDY_WRITER,
    Tidied,
    Tidying,
    TidyProposal,
    ask_for_proposals,
    count_lines,
    merge_proposals,
    nearly_full,
    propose_tidying,
    without_accepted,
)
from assistant.agent.tool_backend import ToolBackend, WriteMemory
from assistant.agent.toolkit import build_toolkit
from assistant.atomic_io import replace_text
from assistant.clock import Clock
from assistant.commands import submit
from assistant.compaction.artifact_reference import ArtifactReader
from assistant.compaction.policy import CompactionPolicy, PolicyOverrides, overrides_of, policy_for
from assistant.conversation.conversation import Conversation, told_change
from assistant.conversation.conversations import Conversations
from assistant.conversation.event_log import EventLog
from assistant.errors import HomeInUseError, ModelError
from assistant.events import FlushFinished
from assistant.home import Store, cancel_task, in_this_loop, make_forgetter, make_trash, open_home
from assistant.index.memory_index import MemoryIndex
from assistant.memory.log import MemoryChange, Origin
from assistant.messages import Msg
from assistant.models.chat import ChatModel, connect_compactor, connect_model
from assistant.models.connection_report import ConnectionReport
from assistant.models.connection_test import test_connection
from assistant.models.story import STORY_WINDOW_TOKENS, Story, connect_story, note_day, read_story
from assistant.prompts import Language, language_of
from assistant.sessions.session_file import Session
from assistant.settings import Settings, load_settings
from assistant.show_me import Show, Shows
from assistant.text_encoding import read_any_text
from assistant.tokens import TokenCounter
from assistant.workspace import MEMORY_FILES, Workspace

Connect = Callable[[Settings], Awaitable[ChatModel]]
ReadSettings = Callable[[], Settings]

SMALL_WINDOW_TOKENS = 16_000
"""Below this window an agent gets no tools but those on its memory."""
OFFLINE_PATIENCE_SECONDS = 30.0
"""How long the built-in assistant waits for the index when it has only just been opened."""
_LANGUAGE_MESSAGES = 5
_DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class ShowPace:
    """How fast the sample conversation plays: seconds between two pieces of an answer, and between two steps."""

    piece_seconds: float = 0.0
    pause_seconds: float = 0.0


SHOW_PACE = ShowPace(0.02, 4.0)
"""A pace at which one can read along."""

log = logging.getLogger(__name__)


class Assistant:
    """One home that is open: its model, its conversations, its memory."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        model: ChatModel,
        compactor: ChatModel | None,
        index: MemoryIndex,
        other_owner: HomeInUseError | None = None,
        read_settings: ReadSettings | None = None,
    ) -> None:
        """`other_owner` says who owns the home where this process does not; `read_settings` reads them once more."""
        self.settings = settings
        self.store = store
        self.index = index
        self.model = model
        self.other_owner = other_owner
        self.is_recall_on = settings.recall == "on"
        """The person's switch; it begins as the settings say and holds until the program ends."""
        self._compactor = compactor
        self._read_settings = read_settings or partial(load_settings, settings.home)
        self.counter = TokenCounter(model.vocabulary)
        self.memory_log, self.notes = store.memory_log, store.notes
        self.flushes = FlushTasks(self._make_flusher(), self._tell_flush)
        self._samples: dict[str, Assistant] = {}
        self.shows = Shows(self._open_show)
        self.conversations = Conversations(store.sessions, self._open_conversation, model.how, self.start_show)
        self.forgetter = make_forgetter(store, index, self._end_all)
        self.trash = make_trash(store, index, self._stop_flushes)
        self.notes.on_change.append(in_this_loop(self._tell_change))

    @property
    def workspace(self) -> Workspace:
        """The home's files."""
        return self.store.workspace

    @property
    def policy(self) -> CompactionPolicy:
        """The compaction numbers of a new conversation."""
        return policy_for(self.settings.policy, self.model.window_tokens, overrides_of(self.settings))

    @property
    def has_file_tools(self) -> bool:
        """False where tools are off, the model calls none, or the window is too small for their schemas."""
        is_able = self.model.calls_tools and self.model.window_tokens >= SMALL_WINDOW_TOKENS
        return self.settings.tools != "off" and is_able

    @property
    def has_memory_tools(self) -> bool:
        """False where memory is off or the model calls no tools."""
        return self.settings.memory == "on" and self.model.calls_tools

    @property
    def artifact_reader(self) -> ArtifactReader:
        """The tool that opens the full text of a shortened result."""
        return "Read" if self.has_file_tools else "memory_get" if self.has_memory_tools else "none"

    @property
    def can_recall(self) -> bool:
        """False where memory is off, and for the offline assistant, which looks by itself."""
        return self.settings.memory == "on" and self.model.is_language_model

    def at_home(self, session_id: str) -> Assistant:
        """The assistant in whose home a conversation is: the sample's for the sample, else this one."""
        return self._samples.get(session_id, self)

    async def start_show(self, language: Language) -> Conversation:
        """Begin the sample conversation, which plays by itself in a home that is thrown away."""
        return (await self.shows.start(language)).conversation

    async def submit(self, conversation: Conversation, text: str, /) -> Conversation:
        """Run a slash command or ask; returns the conversation the person is in then."""
        return await submit(self.conversations, conversation, text, self.at_home(conversation.session_id).forgetter)

    async def reconnect_model(self) -> None:
        """Look for a model anew, with the settings as they are now; open conversations go on with what is found."""
        settings = self._read_settings()
        model = await connect_model(settings)
        compactor = await connect_compactor(settings, model)
        await self.close()
        self.settings, self.model, self._compactor = settings, model, compactor
        self.counter = TokenCounter(model.vocabulary)
        self.flushes = FlushTasks(self._make_flusher(), self._tell_flush)
        self.conversations.reopen(model.how)

    async def test_connection(self) -> ConnectionReport:
        """One short reply and one tool call of the model in use."""
        test = await test_connection(self.model, self._home_language())
        if test.problem is not None:
            return ConnectionReport(False, test.problem)
        return ConnectionReport(
            True,
            f"{self.model.name} answered in {test.reply_seconds:.1f} s and called a tool in {test.tool_seconds:.1f} s.",
        )

    @property
    def file_cap_chars(self) -> int:
        """Characters of a memory file that the prompt takes."""
        return FILE_MAX_CHARS

    async def propose_tidying(self, names: Sequence[str] = MEMORY_FILES) -> Tidying:
        """Lines that could go from memory files above 80 % of their cap: by code, and by the model where it is fit.

        The notice says whether the model was asked.
        """
        notes = [self.notes.read(name) for name in names]
        tidying = await asyncio.to_thread(propose_tidying, notes)
        for note in nearly_full(notes):
            fit = self._compactor if self.settings.memory == "on" else None
            if fit is None:
                return tidying.told("No model was asked: none is here that writes summaries, or memory is off.")
            if self.counter.text(note.text) > fit.window_tokens // 2:
                tidying = tidying.told(f"{note.name} is too long for the model to be asked about all of it.")
                continue
            try:
                more = await ask_for_proposals(note, make_ask(fit.model), self._home_language())
            except ModelError as error:
                return tidying.told(f"The model could not be asked: {error}")
            tidying = merge_proposals(tidying, more).told(
                f"The model was asked about {note.name} and named {count_lines(len(more))}."
            )
        return tidying

    def tidy(self, name: str, accepted: Sequence[TidyProposal]) -> Tidied:
        """Take the accepted lines out of a file: a change like any other, that *History* restores.

        Raises `ConflictError` when somebody writes to the file at this moment.
        """
        note = self.notes.read(name)
        tidied = without_accepted(note.text, [proposal for proposal in accepted if proposal.name == name])
        if tidied.removed:
            self.notes.save(name, tidied.text, note.digest, TIDY_WRITER)
        return tidied

    async def close(self) -> None:
        """End every turn, let the flushes write, let go of the models."""
        await self.shows.close()
        await self.conversations.close()
        await self.flushes.close()
        await self.model.close()
        if self._compactor is not None:
            await self._compactor.close()

    async def _end_all(self) -> None:
        """No turn and no flush runs on return: what they were told must not be written after it was forgotten.

        What was cut goes on from the journal, when its conversation is opened again. Raises `HomeInUseError` where
        another process owns the home.
        """
        if self.other_owner is not None:
            raise self.other_owner
        await self.conversations.close()
        await self.flushes.cut()
        self.flushes = FlushTasks(self._make_flusher(), self._tell_flush)
        await self.conversations.close()

    async def _stop_flushes(self, session_ids: set[str]) -> None:
        """What is deleted for good is not written into memory any more."""
        await self.flushes.cut_of(session_ids)

    def _make_flusher(self) -> Flusher:
        fit = self._compactor if self.settings.memory == "on" else None
        return Flusher(
            model=FlushModel(fit.model, fit.window_tokens) if fit else None,
            notes=self.notes,
            memory_log=self.memory_log,
            journal=self.store.journal,
            workspace=self.workspace,
            counter=self.counter,
            language=self._home_language,
            now=self.store.clock.now,
        )

    def _open_conversation(self, session: Session) -> Conversation:
        store, events = self.store, EventLog()
        state = restore_state(session)

        def language() -> Language:
            return self._language_of(state.context, session.summary)

        def turn_id() -> str:
            return next((message.id for message in reversed(state.context) if message.role == "user"), "")

        keeper = SessionKeeper(session, state, store.journal, store.sessions, store.clock.now, language)
        rules = Rules(self.settings.tools, self.workspace.root, self.workspace.files_folder)
        backend = ToolBackend(
            self.workspace.root,
            self.workspace.files_folder,
            self.workspace.is_memory_file,
            self._write_memory(session.session_id, turn_id),
        )
        desk = MemoryDesk(
            notes=self.notes,
            index=self.index,
            artifacts=store.artifacts,
            session_id=session.session_id,
            turn_id=turn_id,
            context_ids=lambda: {message.id for message in state.context},
            language=language,
            now=store.clock.now,
            trashed_ids=store.journal.deleted_ids,
            # The built-in assistant has nothing to say before the index is there; a model would be kept waiting.
            patience_seconds=0.0 if self.model.is_language_model else OFFLINE_PATIENCE_SECONDS,
        )
        skills_folder = self.workspace.skills_folder
        toolkit = build_toolkit(
            backend=backend,
            start_folder=self.workspace.files_folder,
            skills=SkillShelf(skills_folder, events.emit) if skill_files(skills_folder) else None,
            language=language(),
            has_file_tools=self.has_file_tools,
            own_tools=memory_tools(desk) if self.has_memory_tools else [],
        )
        policy = self.policy
        source = PromptSource(
            workspace=self.workspace,
            language=language,
            today=lambda: store.clock.now().date(),
            has_tools=self.has_file_tools,
            max_tokens=policy.threshold // 2,
            count=self.counter.text,
            read_text=read_any_text,
        )
        prompt = SystemPromptHook(source, events.emit)
        context = Context(
            keeper=keeper,
            toolkit=toolkit,
            prompt=prompt,
            policy=policy,
            counter=self.counter,
            artifacts=store.artifacts,
            artifact_reader=self.artifact_reader,
            workspace=self.workspace,
            ask=make_ask(self._compactor.model) if self._compactor else None,
            summariser_window_tokens=self._compactor.window_tokens if self._compactor else None,
            language=language,
            emit=events.emit,
            on_compacted=self.flushes.start,
        )
        compaction = MemoryCompactionHook(context)
        steps = StepHook(keeper.keep, self.settings.max_steps)
        recall = self._recall_hook(language) if self.can_recall else None
        hooks = [
            prompt,
            compaction,
            *([recall] if recall else []),
            steps,
            OutputLimitHook(language),
            ArgumentsHook(language),
            ApprovalHook(rules, language),
            ToolResultHook(context.cap),
        ]
        agent = build_agent(self.model.model, toolkit, state, hooks)
        conversation = Conversation(
            keeper=keeper,
            runner=AgentRunner(agent, rules),
            context=context,
            compaction=compaction,
            steps=steps,
            recall=recall,
            desk=desk,
            journal=store.journal,
            memory_log=store.memory_log,
            events=events,
            workspace=self.workspace,
            language=language,
            now=store.clock.now,
        )
        conversation.take_up_queued()
        self.flushes.resume(session.session_id, session.compaction_id)
        return conversation

    def _language_of(self, messages: Sequence[Msg], summary: str) -> Language:
        """The one that is set, else that of what the person said lately."""
        if self.settings.language != "auto":
            return self.settings.language
        said = [message.get_text_content() or "" for message in messages if message.role == "user"]
        return language_of("\n".join(said[-_LANGUAGE_MESSAGES:]) or summary)

    def _home_language(self) -> Language:
        """The language of notes: the one that is set, else that of the memory files."""
        if self.settings.language != "auto":
            return self.settings.language
        return language_of("".join(read_any_text(self.workspace.root / name) for name in MEMORY_FILES))

    def _recall_hook(self, language: Callable[[], Language]) -> RecallHook:
        return RecallHook(
            self.index, language, self.counter.text, lambda: self.is_recall_on, self.store.journal.deleted_ids
        )

    def _write_memory(self, session_id: str, turn_id: Callable[[], str]) -> WriteMemory:
        def write(path: Path, text: str) -> None:
            name = self.workspace.relative_name(path)
            self.notes.save(name, text, self.notes.read(name).digest, Origin("assistant", session_id, turn_id()))

        return write

    @asynccontextmanager
    async def _open_show(self, language: Language) -> AsyncGenerator[Show]:
        async with open_sample(self.settings, language, SHOW_PACE) as sample:
            session_id = sample.show.conversation.session_id
            self._samples[session_id] = sample.assistant
            try:
                yield sample.show
            finally:
                del self._samples[session_id]

    def _tell_change(self, change: MemoryChange) -> None:
        if conversation := self.conversations.opened(change.session_id):
            conversation.emit(told_change(change))

    def _tell_flush(self, session_id: str, event: FlushFinished) -> None:
        if conversation := self.conversations.opened(session_id):
            conversation.emit(event)


async def _retire_daily(assistant: Assistant) -> None:
    """Remove full tool results that are older than `retention_days`, now and once a day; those of pins stay."""
    store = assistant.store
    while True:
        days = assistant.policy.retention_days
        try:
            pinned = await asyncio.to_thread(store.sessions.pinned_artifacts)
            await asyncio.to_thread(store.artifacts.remove_expired, days, pinned, store.clock.now())
        except OSError as error:
            log.warning("old tool results could not be removed: %s", error)
        await asyncio.sleep(_DAY_SECONDS)


def as_guest(settings: Settings, folder: Path) -> Settings:
    """What a visitor of a public page runs on: the built-in assistant, no tools, a home that is thrown away."""
    return settings.model_copy(update={"home": folder, "provider": "offline", "tools": "off", "embedder": "none"})


def as_member(settings: Settings, account: Account) -> Settings:
    """What a person beside the owner runs on: a home of their own, the owner's model, and no tools on the machine.

    Whoever approves their own calls could read the owner's home.
    """
    home = Workspace(settings.home).users_folder / account.folder
    return settings.model_copy(update={"home": home, "tools": "off"})


@asynccontextmanager
async def open_guest(settings: Settings, address: str = "") -> AsyncGenerator[Assistant]:
    """The assistant of one visitor; their words go with its home when it closes."""
    with TemporaryDirectory(prefix="palimpsest-", ignore_cleanup_errors=True) as folder:
        guest = as_guest(settings, Path(folder))
        async with open_assistant(guest, address, read_settings=lambda: guest) as assistant:
            yield assistant


def open_member(settings: Settings, account: Account, address: str = "") -> AbstractAsyncContextManager[Assistant]:
    """The assistant of a person beside the owner, whose settings are made of the owner's also when read once more."""
    return open_assistant(
        as_member(settings, account),
        address,
        read_settings=lambda: as_member(load_settings(settings.home), account),
    )


@asynccontextmanager
async def open_assistant(
    settings: Settings,
    address: str = "",
    connect: Connect = connect_model,
    *,
    may_be_owned: bool = False,
    read_settings: ReadSettings | None = None,
) -> AsyncGenerator[Assistant]:
    """The assistant of a home that this process owns while it is open; `address` is where its page is.

    With `may_be_owned` it talks, in conversations that nobody has open, also where another process owns the home. Else
    raises `HomeInUseError` then; `SettingsError` and `ModelError` when no model can be had.
    """
    async with AsyncExitStack() as stack:
        home = await stack.enter_async_context(open_home(settings, address, may_be_owned=may_be_owned))
        model = await connect(settings)
        compactor = await connect_compactor(settings, model)
        assistant = Assistant(settings, home.store, model, compactor, home.index, home.other_owner, read_settings)
        stack.push_async_callback(assistant.close)
        if home.is_owned:
            stack.push_async_callback(cancel_task, asyncio.create_task(_retire_daily(assistant), name="retention"))
        yield assistant


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample conversation, and the assistant in whose home it plays."""

    show: Show
    assistant: Assistant


@asynccontextmanager
async def open_show(settings: Settings, language: Language, pace: ShowPace) -> AsyncGenerator[Show]:
    """Like `open_sample`, for who wants to see the conversation alone."""
    async with open_sample(settings, language, pace) as sample:
        yield sample.show


@asynccontextmanager
async def open_sample(settings: Settings, language: Language, pace: ShowPace) -> AsyncGenerator[Sample]:
    """The sample conversation in a home that is thrown away; it plays a step for each `next_step`, or all by `play`.

    Who answers, the window and the numbers of compaction are the story's; what is private to the owner stays out.
    """
    with TemporaryDirectory(prefix="palimpsest-show-") as folder:
        settings = _show_settings(settings, Path(folder), language)
        today = Clock(settings).now().date()
        story = read_story(language, today)
        _furnish(Workspace(settings.home), story, language, today)

        async def connect(_: Settings) -> ChatModel:
            return connect_story(story, language, pace.piece_seconds)

        async with open_assistant(settings, connect=connect) as assistant:

            async def settle() -> None:
                await assistant.flushes.wait()
                await assistant.index.sync_words()

            conversation = assistant.conversations.create(story.title)
            yield Sample(Show(settings.home, story, conversation, settle, pace.pause_seconds), assistant)


def _show_settings(settings: Settings, home: Path, language: Language) -> Settings:
    numbers = dict.fromkeys((field.name for field in fields(PolicyOverrides)), None)
    # Public pages have many visitors, and a paid server has no use for the story.
    is_local = not settings.is_public and settings.embedder in ("default", "none")
    chosen: dict[str, object] = {
        "home": home,
        "language": language,
        "policy": "copaw",
        "max_input_length": STORY_WINDOW_TOKENS,
        "tools": "off",
        "memory": "on",
        "recall": "off",
        "compactor_model": "",
        "embedder": settings.embedder if is_local else "none",
        "memory_store_backend": "local",
        "host": "",
        "space_id": "",
    }
    return settings.model_copy(update=numbers | chosen)


def _furnish(workspace: Workspace, story: Story, language: Language, today: date) -> None:
    """The home of somebody who is known already and has written a note."""
    workspace.create(language)
    workspace.bootstrap_path.unlink()
    replace_text(workspace.note_path(note_day(today)), story.note.lstrip())
