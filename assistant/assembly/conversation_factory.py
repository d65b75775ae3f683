"""How a conversation is put together: its state, its tools, its window, its loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from assistant.agent.allowances import Allowances
from assistant.agent.compactor import Compactor
from assistant.agent.hooks.prompt_refresh import PromptSource, SystemPromptHook
from assistant.agent.hooks.recall import RecallHook, RecallSwitch
from assistant.agent.loop import AgentLoop
from assistant.agent.memory_room import MemoryRoom
from assistant.agent.session_state import SessionState
from assistant.agent.summariser import Summariser, make_ask
from assistant.agent.system_prompt import ToolScope
from assistant.agent.tools.approvals import Rules
from assistant.agent.tools.mcp_servers import McpServers
from assistant.agent.tools.memory_tools import MemoryTools
from assistant.agent.tools.skills import SkillLoader, skill_files
from assistant.agent.tools.tool_backend import ToolBackend
from assistant.agent.tools.toolkit import AgentTools, build_toolkit
from assistant.agent.turn_gate import TurnGate
from assistant.agent.window import ContextWindow
from assistant.assembly.home import Store
from assistant.compaction.policy import CompactionPolicy, overrides_of, policy_for
from assistant.compaction.record import CompactionRecord
from assistant.compaction.shorten.artifact_reference import ArtifactReader
from assistant.config.settings import Settings
from assistant.conversation.conversation import Conversation
from assistant.conversation.event_log import EventLog
from assistant.index.memory_index import MemoryIndex
from assistant.memory.log import Origin
from assistant.messages.events import Notice
from assistant.messages.tokens import TokenCounter
from assistant.models.chat_model import ChatModel
from assistant.models.windows import FILE_TOOLS_TOKENS
from assistant.storage.sessions.session_file import Session
from assistant.storage.temporary_homes import is_temporary

OFFLINE_PATIENCE_SECONDS = 30.0
"""How long the built-in assistant waits for the index when it has only just been opened."""


@dataclass(frozen=True, slots=True)
class Models:
    """The model that answers, the one that summarises and writes memory where one is fit, and what counts tokens."""

    answering: ChatModel
    compacting: ChatModel | None
    counter: TokenCounter


class ConversationFactory:
    """Opens the conversations of a home, each with what the settings and the models allow it."""

    def __init__(
        self,
        settings: Settings,
        models: Models,
        store: Store,
        index: MemoryIndex,
        outside: McpServers,
        on_compacted: Callable[[CompactionRecord], None],
    ) -> None:
        """`outside` are the tools of the owner's MCP servers."""
        self.settings = settings
        self.models = models
        self.recall_switch = RecallSwitch(settings.recall == "on")
        """It begins as the settings say and holds until the program ends."""
        self.gate = TurnGate(index.pace)
        """Knows whether a turn runs in one of the conversations."""
        self._store = store
        self._index = index
        self._outside = outside
        self._on_compacted = on_compacted

    @property
    def policy(self) -> CompactionPolicy:
        """The compaction numbers of a new conversation."""
        return policy_for(self.settings.policy, self.models.answering.window_tokens, overrides_of(self.settings))

    @property
    def has_file_tools(self) -> bool:
        """False where tools are off, the model calls none, or the window is too small for their schemas."""
        model = self.models.answering
        is_able = model.calls_tools and model.window_tokens >= FILE_TOOLS_TOKENS
        return self.settings.has_machine_tools and is_able

    @property
    def has_memory_tools(self) -> bool:
        """False where memory is off or the model calls no tools."""
        return self.settings.memory == "on" and self.models.answering.calls_tools

    @property
    def tool_scope(self) -> ToolScope:
        """What the model of a new conversation can call."""
        return "all" if self.has_file_tools else "memory" if self.has_memory_tools else "none"

    @property
    def are_remembered(self) -> bool:
        """True where what is said is written to memory when a conversation is left."""
        return self.settings.memory == "on" and not is_temporary(self.settings.home)

    @property
    def artifact_reader(self) -> ArtifactReader:
        """The tool that opens the full text of a shortened result."""
        return "Read" if self.has_file_tools else "memory_get" if self.has_memory_tools else "none"

    @property
    def can_recall(self) -> bool:
        """False where memory is off, and for the offline assistant, which looks by itself."""
        return self.settings.memory == "on" and self.models.answering.is_language_model

    def use(self, settings: Settings, models: Models) -> None:
        """Open conversations with other settings and models from now on."""
        self.settings = settings
        self.models = models

    def open(self, session: Session) -> Conversation:
        """The conversation of a session, with what was queued when it was closed."""
        state = self._state_of(session)
        events = EventLog(self._store.known.mask)
        memory = self._memory_for(state)
        tools = self._tools_for(state, memory, events)
        window = self._window_for(state, tools, events)
        compactor = Compactor(state, window, self._summariser(), events.emit, self._on_compacted)
        recall = self._recall_for(state, window.prompt) if self.can_recall else None
        loop = AgentLoop(state, self.models.answering.model, tools, compactor, recall, self.settings.max_steps)
        conversation = Conversation(state, loop, compactor, events, memory, self.gate)
        for problem in self._outside.problems if self.has_file_tools else ():
            conversation.emit_kept(Notice(problem))
        conversation.take_up_queued()
        return conversation

    def _state_of(self, session: Session) -> SessionState:
        store, chosen = self._store, self.settings.language
        language = None if chosen == "auto" else chosen
        state = SessionState(session, store.workspace, store.journal, store.sessions, store.clock, language)
        state.is_remembered = self.are_remembered
        state.sees_pictures = self.models.answering.sees_pictures
        return state

    def _memory_for(self, state: SessionState) -> MemoryTools:
        # The built-in assistant has nothing to say before the index is there; a model would be kept waiting.
        patience_seconds = 0.0 if self.models.answering.is_language_model else OFFLINE_PATIENCE_SECONDS
        store = self._store
        return MemoryTools(
            state, store.admission, self._index, store.artifacts, self._room_for(state), patience_seconds
        )

    def _tools_for(self, state: SessionState, memory: MemoryTools, events: EventLog) -> AgentTools:
        workspace = state.workspace
        has_skills = bool(skill_files(workspace.skills_folder))
        toolkit = build_toolkit(
            backend=self._tool_backend(state),
            start_folder=workspace.files_folder,
            skills=SkillLoader(workspace.skills_folder, events.emit) if has_skills else None,
            language=lambda: state.language,
            has_file_tools=self.has_file_tools,
            own_tools=memory.for_model() if self.has_memory_tools else [],
            outside=self._outside,
        )
        rules = Rules(self.settings.tools, workspace.root, workspace.files_folder)
        store = self._store
        always = None if is_temporary(workspace.root) else store.allowed_calls
        allowances = Allowances(state, always, rules, store.known, events.emit)
        return AgentTools(toolkit, rules, store.artifacts, self.artifact_reader, store.known, allowances)

    def _tool_backend(self, state: SessionState) -> ToolBackend:
        workspace, notes = state.workspace, self._store.notes

        def write_memory(path: Path, text: str) -> None:
            name = workspace.relative_name(path)
            notes.save(name, text, notes.read(name).digest, Origin("assistant", state.session_id, state.turn_id))

        return ToolBackend(workspace.root, workspace.files_folder, workspace.is_memory_file, write_memory)

    def _window_for(self, state: SessionState, tools: AgentTools, events: EventLog) -> ContextWindow:
        policy, counter = self.policy, self.models.counter
        source = PromptSource(state, self.tool_scope, policy.threshold // 2, counter.text, self._store.notes)
        return ContextWindow(state, tools, SystemPromptHook(source, events.emit), policy, counter, events.emit)

    def _summariser(self) -> Summariser | None:
        fit = self.models.compacting
        return Summariser(make_ask(fit.model), fit.window_tokens) if fit else None

    def _recall_for(self, state: SessionState, prompt: SystemPromptHook) -> RecallHook:
        return RecallHook(state, self._index, self._room_for(state), prompt, self.recall_switch)

    def _room_for(self, state: SessionState) -> MemoryRoom:
        return MemoryRoom(state, self.policy, self.models.counter)
