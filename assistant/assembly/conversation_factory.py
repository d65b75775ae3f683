"""How a conversation is put together: its state, its tools, its window, its loop."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from assistant.agent.allowances import Allowances
from assistant.agent.compactor import Compactor
from assistant.agent.hooks.prompt_refresh import PromptSource, SystemPromptHook
from assistant.agent.hooks.recall import RecallHook, RecallSwitch
from assistant.agent.loop import AgentLoop
from assistant.agent.memory_room import MemoryRoom
from assistant.agent.session_state import SessionState
from assistant.agent.summariser import Summariser, make_ask
from assistant.agent.tools.approvals import Rules
from assistant.agent.tools.mcp_servers import McpServers
from assistant.agent.tools.memory_tools import MemoryTools
from assistant.agent.tools.skills import SkillLoader, skill_files
from assistant.agent.tools.tool_backend import ToolBackend
from assistant.agent.tools.toolkit import AgentTools, build_toolkit
from assistant.agent.turn_gate import TurnGate
from assistant.agent.window import ContextWindow
from assistant.assembly.answering_models import Models
from assistant.assembly.home import Store
from assistant.assembly.model_switch import ModelSources, SessionModel
from assistant.assembly.profile_models import ProfileModels
from assistant.compaction.record import CompactionRecord
from assistant.config.settings import Settings
from assistant.config.words import say
from assistant.conversation.answering import Answering
from assistant.conversation.conversation import Conversation
from assistant.conversation.event_log import EventLog
from assistant.index.memory_index import MemoryIndex
from assistant.memory.log import Origin
from assistant.messages.events import Notice
from assistant.storage.sessions.session_file import Session
from assistant.storage.temporary_homes import is_temporary

log = logging.getLogger(__name__)

OFFLINE_PATIENCE_SECONDS = 30.0
"""How long the built-in assistant waits for the index when it has only just been opened."""


class ConversationFactory:
    """Opens the conversations of a home, each with what the settings and the models allow it."""

    def __init__(
        self,
        models: Models,
        profiles: ProfileModels,
        store: Store,
        index: MemoryIndex,
        outside: McpServers,
        on_compacted: Callable[[CompactionRecord], None],
    ) -> None:
        """`models` answer by the settings, `profiles` beside them; `outside` are the tools of MCP servers."""
        self.models = models
        """What answers where no profile was chosen."""
        self.profiles = profiles
        self.recall_switch = RecallSwitch(models.settings.recall == "on")
        """It begins as the settings say and holds until the program ends."""
        self.gate = TurnGate(index.pace)
        """Knows whether a turn runs in one of the conversations."""
        self._store = store
        self._index = index
        self._outside = outside
        self._on_compacted = on_compacted

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.models.settings

    @property
    def are_remembered(self) -> bool:
        """True where what is said is written to memory when a conversation is left."""
        return self.settings.memory == "on" and not is_temporary(self.settings.home)

    def open(self, session: Session) -> Conversation:
        """The conversation of a session, with what was queued when it was closed."""
        state = self._state_of(session)
        events = EventLog(self._store.known.mask)
        switch = SessionModel(state, events, ModelSources(lambda: self.models, self.profiles, self._answering))
        conversation = Conversation(state, switch.first(), events, switch, self.gate)
        for problem in self._outside.problems if self.models.has_file_tools else ():
            conversation.emit_kept(Notice(problem))
        if session.damaged_path is not None:
            self._tell_damaged(conversation, session.damaged_path)
        conversation.take_up_queued()
        return conversation

    def _tell_damaged(self, conversation: Conversation, path: Path) -> None:
        """Keep the file that could not be read beside the one that takes its place; told once, for it is gone then."""
        try:
            name = self._store.sessions.put_aside(path)
        except OSError:
            log.exception("the damaged file %s could not be put aside", path.name)
            return
        conversation.emit_kept(Notice(say("conversation", "session_rebuilt", name=name)))

    def _answering(self, state: SessionState, events: EventLog, models: Models) -> Answering:
        """All of a conversation that is made for the model that answers in it."""
        memory = self._memory_for(state, models)
        tools = self._tools_for(state, memory, events, models)
        window = self._window_for(state, tools, events, models)
        compactor = Compactor(state, window, _summariser(models), events.emit, self._on_compacted)
        recall = self._recall_for(state, window.prompt, models) if models.can_recall else None
        max_steps = models.settings.max_steps
        loop = AgentLoop(state, models.answering.model, tools, compactor, recall, max_steps)
        return Answering(models.answering, loop, compactor, memory)

    def _state_of(self, session: Session) -> SessionState:
        store, chosen = self._store, self.settings.language
        language = None if chosen == "auto" else chosen
        state = SessionState(session, store.workspace, store.journal, store.sessions, store.clock, language)
        state.is_remembered = self.are_remembered
        return state

    def _memory_for(self, state: SessionState, models: Models) -> MemoryTools:
        # The built-in assistant has nothing to say before the index is there; a model would be kept waiting.
        patience_seconds = 0.0 if models.answering.is_language_model else OFFLINE_PATIENCE_SECONDS
        store = self._store
        return MemoryTools(
            state, store.admission, self._index, store.artifacts, _room_for(state, models), patience_seconds
        )

    def _tools_for(self, state: SessionState, memory: MemoryTools, events: EventLog, models: Models) -> AgentTools:
        workspace = state.workspace
        has_skills = bool(skill_files(workspace.skills_folder))
        toolkit = build_toolkit(
            backend=self._tool_backend(state),
            start_folder=workspace.files_folder,
            skills=SkillLoader(workspace.skills_folder, events.emit) if has_skills else None,
            language=lambda: state.language,
            has_file_tools=models.has_file_tools,
            own_tools=memory.for_model() if models.has_memory_tools else [],
            outside=self._outside,
        )
        rules = Rules(models.settings.tools, workspace.root, workspace.files_folder)
        store = self._store
        always = None if is_temporary(workspace.root) else store.allowed_calls
        allowances = Allowances(state, always, rules, store.known, events.emit)
        return AgentTools(toolkit, rules, store.artifacts, models.artifact_reader, store.known, allowances)

    def _tool_backend(self, state: SessionState) -> ToolBackend:
        workspace, notes = state.workspace, self._store.notes

        def write_memory(path: Path, text: str) -> None:
            name = workspace.relative_name(path)
            notes.save(name, text, notes.read(name).digest, Origin("assistant", state.session_id, state.turn_id))

        return ToolBackend(workspace.root, workspace.files_folder, workspace.is_memory_file, write_memory)

    def _window_for(self, state: SessionState, tools: AgentTools, events: EventLog, models: Models) -> ContextWindow:
        policy, counter = models.policy, models.counter
        source = PromptSource(state, models.tool_scope, policy.threshold // 2, counter.text, self._store.notes)
        return ContextWindow(state, tools, SystemPromptHook(source, events.emit), policy, counter, events.emit)

    def _recall_for(self, state: SessionState, prompt: SystemPromptHook, models: Models) -> RecallHook:
        return RecallHook(state, self._index, _room_for(state, models), prompt, self.recall_switch)


def _summariser(models: Models) -> Summariser | None:
    fit = models.compacting
    return Summariser(make_ask(fit.model), fit.window_tokens) if fit else None


def _room_for(state: SessionState, models: Models) -> MemoryRoom:
    return MemoryRoom(state, models.policy, models.counter)
