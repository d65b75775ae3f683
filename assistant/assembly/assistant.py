"""Where objects are made, connected and closed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from assistant.agent.attachments.file_reading import GivenFile, read_file
from assistant.agent.flush import Flusher, FlushModel
from assistant.agent.flush_tasks import FlushTasks
from assistant.agent.hooks.recall import RecallCost
from assistant.agent.memory_room import most_recall_tokens
from assistant.agent.summariser import make_ask
from assistant.agent.tools.mcp_file import NO_SERVERS, read_servers
from assistant.agent.tools.mcp_servers import McpServers, open_servers
from assistant.agent.tools.tool_backend import shell_environment
from assistant.assembly.answering_models import Models
from assistant.assembly.conversation_factory import ConversationFactory
from assistant.assembly.home import Home, cancel_task, in_this_loop, make_forgetter, make_trash, open_home
from assistant.assembly.own_profiles import OwnProfiles
from assistant.assembly.own_settings import OwnSettings
from assistant.assembly.profile_models import ProfileModels
from assistant.compaction.policy import CompactionPolicy
from assistant.compaction.record import CompactionRecord
from assistant.config.profiles import Profile, Profiles, is_main, no_profile
from assistant.config.prompts import language_of
from assistant.config.settings import Settings, load_settings, variables_of
from assistant.config.words import Language, say, speak
from assistant.conversation.commands import COMMANDS, Command, Submitted, submit, waiting_text
from assistant.conversation.conversation import Conversation
from assistant.conversation.conversations import Conversations
from assistant.conversation.left import LeftConversations
from assistant.conversation.past import change_event
from assistant.errors import ModelError, PalimpsestError, SettingsError
from assistant.memory.consolidator import Consolidator
from assistant.memory.log import MemoryChange
from assistant.memory.needless_lines import TidyProposal
from assistant.memory.tidy import (
    TIDY_WRITER,
    Tidied,
    Tidying,
    TidyModel,
    propose_with_model,
    without_accepted,
)
from assistant.memory.waiting import WaitingLine
from assistant.messages.events import FlushFinished, Notice
from assistant.messages.tokens import TokenCounter
from assistant.models.chat_model import (
    ChatModel,
    connect_available,
    connect_compactor,
    connect_model,
    connect_or_stand_in,
)
from assistant.models.connection_report import ConnectionReport
from assistant.models.connection_test import test_connection
from assistant.models.profile_settings import settings_with
from assistant.storage.refused_parts import KEPT_DAYS, KEPT_DAYS_ON_THIS_MACHINE, RefusedParts
from assistant.storage.sessions.session_file import Session
from assistant.storage.text_files import read_any_text
from assistant.storage.workspace import FILE_MAX_CHARS, MEMORY_FILES, Workspace

Connect = Callable[[Settings], Awaitable[ChatModel]]
ReadSettings = Callable[[], Settings]

_DAY_SECONDS = 86_400
_LOOK_SECONDS = 60.0
FIRST_LOOK_SECONDS = 5.0
"""How long after the start a model that could not be had is looked for again; each pause is twice the one before."""
LAST_LOOK_SECONDS = 300.0
"""The longest pause between two looks."""


log = logging.getLogger(__name__)


class Assistant:
    """One home that is open: its model, its conversations, its memory."""

    def __init__(
        self,
        home: Home,
        model: ChatModel,
        compactor: ChatModel | None,
        read_settings: ReadSettings | None = None,
        outside: McpServers | None = None,
    ) -> None:
        """`read_settings` reads the settings once more; `outside` are the tools of the owner's MCP servers."""
        self.store, self.index = home.store, home.index
        self.other_owner = home.other_owner
        """Says who owns the home where this process does not."""
        self._read_settings = read_settings or partial(load_settings, home.settings.home)
        self.own_settings = OwnSettings(home.settings.home, is_owner=read_settings is None and home.is_owned)
        """What the owner sets from the page."""
        self.own_profiles = OwnProfiles(self.own_settings)
        """The profiles that the owner makes from the page."""
        self.memory_log, self.notes = home.store.memory_log, home.store.notes
        models = self._with_hidden_keys(home.settings, model, compactor)
        # Who talks beside the process that owns the home is the same person, and has chosen the same.
        profiles_path = home.store.workspace.profiles_path if read_settings is None else None
        profiles = ProfileModels(profiles_path, self._connect_profile)
        servers = outside or McpServers(NO_SERVERS, home.store.workspace.files_folder)
        servers.on_notice.append(self._emit_server_notice)
        self._factory = ConversationFactory(models, profiles, home.store, home.index, servers, self._flush_later)
        self.flushes = self._make_flushes()
        self.commands: dict[str, Command] = {**COMMANDS}
        """The slash commands by name; a program may add its own."""
        self._guests: dict[str, Assistant] = {}
        self.conversations = Conversations(home.store.sessions, self._open_conversation, lambda: self.profiles.default)
        self.left = LeftConversations(
            self.conversations, home.store.sessions, home.store.journal, self._flush_left, home.store.clock.now
        )
        self.consolidator = Consolidator(home.store.workspace, home.store.admission, home.store.clock.now)
        self.forgetter = make_forgetter(home.store, home.index, self._end_all)
        self.trash = make_trash(home.store, home.index, self._stop_flushes, self.conversations.all_open)
        self.notes.on_change.append(in_this_loop(self._emit_change))
        self.store.admission.on_wait.append(self._emit_waiting)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._factory.settings

    @property
    def model(self) -> ChatModel:
        """The model that answers."""
        return self._factory.models.answering

    @property
    def counter(self) -> TokenCounter:
        """What counts tokens for the model that answers."""
        return self._factory.models.counter

    @property
    def profiles(self) -> Profiles:
        """Who else can answer in a conversation."""
        return self._factory.profiles.profiles

    async def connect_profile(self, name: str) -> ChatModel:
        """The model of a profile; raises `ModelError` or `SettingsError` where it cannot be had now, or is none."""
        if is_main(name):
            return self.model
        if profile := self.profiles.named(name):
            return (await self._factory.profiles.of(profile)).answering
        raise no_profile(name, self.profiles)

    @property
    def is_recall_on(self) -> bool:
        """The person's switch of the search before each turn."""
        return self._factory.recall_switch.is_on

    @is_recall_on.setter
    def is_recall_on(self, is_on: bool) -> None:
        self._factory.recall_switch.is_on = is_on

    @property
    def recall_cost(self) -> RecallCost:
        """What recall hands over."""
        switch = self._factory.recall_switch
        return RecallCost(most_recall_tokens(self.policy), switch.messages, switch.tokens_a_message)

    @property
    def workspace(self) -> Workspace:
        """The home's files."""
        return self.store.workspace

    @property
    def policy(self) -> CompactionPolicy:
        """The compaction numbers of a new conversation."""
        return self._factory.models.policy

    @property
    def has_file_tools(self) -> bool:
        """True where conversations get shell and file tools."""
        return self._factory.models.has_file_tools

    @property
    def can_recall(self) -> bool:
        """True where memory can be searched before each turn."""
        return self._factory.models.can_recall

    def owner_of(self, session_id: str) -> Assistant:
        """The assistant in whose home a conversation is: that of a guest for a guest, else this one."""
        return self._guests.get(session_id, self)

    @contextmanager
    def host(self, guest: Conversation, owner: Assistant) -> Generator[None]:
        """Meanwhile a conversation of another assistant's home is found here too, and in no list."""
        self._guests[guest.session_id] = owner
        self.conversations.take_in(guest)
        try:
            yield
        finally:
            self.conversations.let_go(guest)
            del self._guests[guest.session_id]

    async def submit(self, conversation: Conversation, text: str, files: Sequence[GivenFile] = (), /) -> Submitted:
        """Run a slash command or ask, with files where there are any: the front door of page, terminal and notebook."""
        forgetter = self.owner_of(conversation.session_id).forgetter
        submitted = await submit(
            self.conversations, conversation, text, forgetter, self.commands, self.consolidate, files
        )
        if submitted.conversation.session_id != conversation.session_id:
            self.left.leave(conversation.session_id)
        return submitted

    async def read_attached(self, name: str, path: Path) -> GivenFile:
        """A file that was attached, as it goes into a message. Raises `AttachmentError` where it cannot be read."""
        return await read_file(name, path, shell_environment())

    async def reconnect_model(self) -> None:
        """Look for a model again, with the settings as they are now; open conversations go on with what is found.

        Raises `ModelError` where the model cannot be had; what answered until now goes on answering.
        """
        settings = self._read_settings()
        model = await connect_or_stand_in(settings)
        if model.is_stand_in:
            if self.model.is_stand_in:
                self._say_why(model.how)
            raise ModelError(model.how)
        await self._use(settings, model)

    async def take_settings(self) -> None:
        """Go on with the settings as they are kept now, and with the model they name; open conversations too.

        Where that model cannot be had the built-in assistant answers, and says why.
        """
        settings = self._read_settings()
        if settings.language != "auto":
            # Else the page speaks as the browser that loads it.
            speak(settings.language)
        await self._use(settings, await connect_or_stand_in(settings, self.own_settings.places))

    async def take_profiles(self) -> None:
        """Go on with the profiles as they are kept now: each is connected anew when it is needed next."""
        await self.flushes.close()
        self.flushes = self._make_flushes()
        # A turn that began meanwhile is not cut for it.
        await self._factory.gate.until_idle()
        await self._factory.profiles.close()

    async def _use(self, settings: Settings, model: ChatModel) -> None:
        compactor = await connect_compactor(settings, model)
        for found in (model, compactor):
            if found is not None:
                self.store.refused_parts.forget(found.title)
        _leave_out_refused(self.store.refused_parts, model, compactor)
        await self.close()
        self._factory.models = self._with_hidden_keys(settings, model, compactor)
        self.flushes = self._make_flushes()

    def _say_why(self, reason: str) -> None:
        """The model is still away, for this reason now."""
        models = self._factory.models
        if reason != models.answering.how:
            self._factory.models = replace(models, answering=replace(models.answering, how=reason))

    async def test_connection(self) -> ConnectionReport:
        """One short reply and one tool call of the model in use."""
        test = await test_connection(self.model, self._home_language())
        if test.problem is not None:
            return ConnectionReport(False, test.problem)
        return ConnectionReport(
            True,
            say("models", "test_ok", name=self.model.name, reply=test.reply_seconds, tool=test.tool_seconds),
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
        fit = self._factory.models.compacting if self.settings.memory == "on" else None
        model = TidyModel(make_ask(fit.model), fit.window_tokens // 2, self.counter.text) if fit else None
        return await propose_with_model(notes, model, self._home_language())

    async def consolidate(self, *, is_asked_for: bool = True) -> str:
        """Let what the notes have for USER.md and MEMORY.md wait for the person; says what came of it.

        Unasked, a model that costs money is used only where the settings say so.
        """
        fit = self._factory.models.compacting if self.settings.memory == "on" else None
        if fit and not (is_asked_for or fit.is_local or self.settings.consolidate == "on"):
            fit = None
        model = TidyModel(make_ask(fit.model), fit.window_tokens // 2, self.counter.text) if fit else None
        return (await self.consolidator.run(model, self._home_language())).notice

    async def consolidate_at_night(self) -> None:
        """Consolidate where it is due tonight; on a machine of one's own not beside a turn."""
        is_off = self.settings.consolidate == "off" or not self._factory.are_remembered
        if is_off or self.store.forget_files.is_pending or not self.consolidator.is_due:
            return
        await self._factory.gate.until_idle()
        try:
            await self.consolidate(is_asked_for=False)
        except (PalimpsestError, OSError) as error:
            log.warning("the notes could not be consolidated: %s", error)

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
        await self.left.close()
        await self.conversations.close()
        await self.flushes.close()
        await self._factory.models.close()
        await self._factory.profiles.close()

    async def _end_all(self) -> None:
        """No turn and no flush runs on return: what they were given must not be written after it was forgotten.

        What was cut goes on from the journal, when its conversation is opened again. Raises `HomeInUseError` where
        another process owns the home.
        """
        if self.other_owner is not None:
            raise self.other_owner
        await self.left.close()
        await self.conversations.close()
        await self.flushes.cut()
        self.flushes = self._make_flushes()
        await self.conversations.close()

    async def _stop_flushes(self, session_ids: set[str]) -> None:
        """What is deleted for good is not written into memory any more."""
        await self.flushes.cut_of(session_ids)

    def _make_flusher(self) -> Flusher:
        return Flusher(
            model_of=self._flush_model,
            admission=self.store.admission,
            journal=self.store.journal,
            workspace=self.workspace,
            language=self._home_language,
            now=self.store.clock.now,
        )

    async def _flush_model(self, session_id: str) -> FlushModel | None:
        """Who writes down what was said in a conversation: nobody else than who answered in it."""
        if not self.settings.may_write_memory:
            return None
        models = await self._models_of(session_id)
        fit = models.compacting if models else None
        if models is None or fit is None:
            return None
        return FlushModel(fit.model, fit.window_tokens, models.counter, fit.is_local and fit.is_language_model)

    async def _models_of(self, session_id: str) -> Models | None:
        """What was chosen for a conversation; None where that cannot be had now, or is gone: no other may read it."""
        name = await asyncio.to_thread(self.store.sessions.profile_of, session_id)
        if not name:
            return self._factory.models
        if not (profile := self.profiles.named(name)):
            return None
        try:
            return await self._factory.profiles.of(profile)
        except (ModelError, SettingsError) as error:
            log.warning("the profile %s cannot be had: %s", profile.name, error)
            return None

    async def _connect_profile(self, profile: Profile) -> Models:
        settings = settings_with(self.settings, profile)
        model = await connect_available(settings, self.own_settings.places)
        compactor = await connect_compactor(settings, model)
        _leave_out_refused(self.store.refused_parts, model, compactor)
        return self._with_hidden_keys(settings, model, compactor)

    def _with_hidden_keys(self, settings: Settings, model: ChatModel, compactor: ChatModel | None) -> Models:
        for one in filter(None, (model, compactor)):
            one.hide(self.store.known.mask_bytes)
        factors = self.store.token_factors
        counter = TokenCounter(model.vocabulary, factors.of(model.title), partial(factors.keep, model.title))
        return Models(settings, model, compactor, counter)

    def _make_flushes(self) -> FlushTasks:
        flusher, hold = self._make_flusher(), self.store.sessions.open_lock
        return FlushTasks(flusher, self._emit_flush, hold, self._factory.gate)

    def _flush_later(self, compaction: CompactionRecord) -> None:
        self.flushes.resume(compaction.session_id, compaction.compaction_id)

    def _flush_left(self, session_id: str, compaction_id: str | None) -> bool:
        return self._factory.are_remembered and self.flushes.leave(session_id, compaction_id)

    def _open_conversation(self, session: Session) -> Conversation:
        conversation = self._factory.open(session)
        self.flushes.resume(session.session_id, session.compaction_id)
        return conversation

    def _home_language(self) -> Language:
        """The language of notes: the one that is set, else that of the memory files."""
        if self.settings.language != "auto":
            return self.settings.language
        return language_of("".join(read_any_text(self.workspace.root / name) for name in MEMORY_FILES))

    def _emit_change(self, change: MemoryChange) -> None:
        if conversation := self.conversations.opened(change.session_id):
            conversation.emit(change_event(change))

    def _emit_server_notice(self, notice: Notice) -> None:
        if not self.has_file_tools:
            return
        for conversation in self.conversations.all_open():
            conversation.emit_kept(notice)

    def _emit_waiting(self, line: WaitingLine) -> None:
        if conversation := self.conversations.opened(line.session_id):
            conversation.emit_kept(Notice(waiting_text(line)))

    def _emit_flush(self, session_id: str, event: FlushFinished) -> None:
        if conversation := self.conversations.opened(session_id):
            conversation.emit(event)


async def _retire_daily(assistant: Assistant) -> None:
    """Remove full tool results that are older than `retention_days`, now and once a day; those of pins stay."""
    store = assistant.store
    while True:
        days = assistant.policy.retention_days
        try:
            pinned = store.sessions.pinned_artifacts
            await asyncio.to_thread(store.artifacts.remove_expired, days, pinned, store.clock.now())
        except OSError as error:
            log.warning("old tool results could not be removed: %s", error)
        await asyncio.sleep(_DAY_SECONDS)


def _leave_out_refused(kept: RefusedParts, *models: ChatModel | None) -> None:
    """Send nothing that the servers of these models refused before, and keep what they refuse from now on."""
    for model in models:
        if model is not None:
            days = KEPT_DAYS_ON_THIS_MACHINE if model.is_local else KEPT_DAYS
            model.leave_out(kept.of(model.title, days), partial(kept.add, model.title))


async def _remember_left(assistant: Assistant) -> None:
    """Write down what was said in conversations that were left, and, at the start, in those that a shutdown cut."""
    while True:
        # What is being forgotten must not be read for it.
        if not assistant.store.forget_files.is_pending:
            assistant.left.look(assistant.settings.flush_idle_minutes)
        await asyncio.sleep(_LOOK_SECONDS)


async def _consolidate_nightly(assistant: Assistant) -> None:
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        await assistant.consolidate_at_night()


async def _look_for_model(assistant: Assistant) -> None:
    """Connect the model that was asked for as soon as it can be had; each look is later than the one before.

    A turn that runs is not cut for it.
    """
    pause_seconds = FIRST_LOOK_SECONDS
    while assistant.model.is_stand_in:
        await asyncio.sleep(pause_seconds)
        pause_seconds = min(2 * pause_seconds, LAST_LOOK_SECONDS)
        if assistant.model.is_stand_in and not any(one.is_running for one in assistant.conversations.all_open()):
            with suppress(ModelError, SettingsError):
                await assistant.reconnect_model()


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
        _leave_out_refused(home.store.refused_parts, model, compactor)
        outside: McpServers | None = None
        if settings.has_machine_tools:
            workspace = home.store.workspace
            listed = await asyncio.to_thread(read_servers, workspace.mcp_path, variables_of(settings.home))
            outside = await stack.enter_async_context(open_servers(listed, workspace.files_folder))
        assistant = Assistant(home, model, compactor, read_settings, outside)
        stack.push_async_callback(assistant.close)
        if model.is_stand_in:
            stack.push_async_callback(cancel_task, asyncio.create_task(_look_for_model(assistant), name="model"))
        if home.is_owned:
            stack.push_async_callback(cancel_task, asyncio.create_task(_retire_daily(assistant), name="retention"))
            stack.push_async_callback(cancel_task, asyncio.create_task(_remember_left(assistant), name="left"))
        if home.is_owned and address:
            night = asyncio.create_task(_consolidate_nightly(assistant), name="consolidation")
            stack.push_async_callback(cancel_task, night)
        yield assistant
