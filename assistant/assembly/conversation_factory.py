"""How a conversation is put together: its tools, its prompt, its context, its agent with all hooks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.agent.build import build_agent, restore_state
from assistant.agent.compactor import make_ask
from assistant.agent.context import Context
from assistant.agent.hooks.approval import ApprovalHook
from assistant.agent.hooks.arguments import ArgumentsHook
from assistant.agent.hooks.compaction import MemoryCompactionHook
from assistant.agent.hooks.output_limit import OutputLimitHook
from assistant.agent.hooks.recall import RecallHook
from assistant.agent.hooks.steps import StepHook
from assistant.agent.hooks.system_prompt import PromptSource, SystemPromptHook
from assistant.agent.hooks.tool_results import ToolResultHook
from assistant.agent.hooks.whole_calls import WholeCallHook
from assistant.agent.runner import AgentRunner
from assistant.agent.session_state import SessionKeeper
from assistant.agent.tools.approvals import Rules
from assistant.agent.tools.mcp_servers import McpTools
from assistant.agent.tools.memory_tools import MemoryDesk, memory_tools
from assistant.agent.tools.skills import SkillShelf, skill_files
from assistant.agent.tools.tool_backend import ToolBackend
from assistant.agent.tools.toolkit import build_toolkit
from assistant.assembly.home import Store
from assistant.compaction.policy import CompactionPolicy, overrides_of, policy_for
from assistant.compaction.record import CompactionRecord
from assistant.compaction.shorten.artifact_reference import ArtifactReader
from assistant.config.prompts import Language, language_of
from assistant.config.settings import Settings
from assistant.conversation.conversation import Conversation
from assistant.conversation.event_log import EventLog
from assistant.conversation.turns import Turns
from assistant.index.memory_index import MemoryIndex
from assistant.memory.log import Origin
from assistant.messages.blocks import Msg
from assistant.messages.events import Notice
from assistant.messages.tokens import TokenCounter
from assistant.models.chat import ChatModel
from assistant.storage.sessions.session_file import Session
from assistant.storage.text_files import read_any_text

SMALL_WINDOW_TOKENS = 16_000
"""Below this window an agent gets no tools but those on its memory."""
OFFLINE_PATIENCE_SECONDS = 30.0
"""How long the built-in assistant waits for the index when it has only just been opened."""
_LANGUAGE_MESSAGES = 5


@dataclass(frozen=True, slots=True)
class Opening:
    """What all conversations of a home stand on, and what each may do with this model and these settings."""

    settings: Settings
    store: Store
    index: MemoryIndex
    model: ChatModel
    compactor: ChatModel | None
    outside: McpTools
    """The tools of the owner's MCP servers."""
    counter: TokenCounter
    is_recall_on: Callable[[], bool]
    on_compacted: Callable[[CompactionRecord], None]

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

    def open(self, session: Session) -> Conversation:
        """The conversation of a session, with what was queued when it was closed."""
        store, events, state = self.store, EventLog(), restore_state(session)

        def language() -> Language:
            return self._language_of(state.context, session.summary)

        keeper = SessionKeeper(session, state, store.journal, store.sessions, store.clock.now, language)
        rules = Rules(self.settings.tools, store.workspace.root, store.workspace.files_folder)
        desk = self._desk(keeper, language)
        skills_folder = store.workspace.skills_folder
        toolkit = build_toolkit(
            backend=self._tool_backend(keeper),
            start_folder=store.workspace.files_folder,
            skills=SkillShelf(skills_folder, events.emit) if skill_files(skills_folder) else None,
            language=language(),
            has_file_tools=self.has_file_tools,
            own_tools=memory_tools(desk) if self.has_memory_tools else [],
            outside_tools=self.outside.tools,
        )
        prompt = SystemPromptHook(self._prompt_source(language), events.emit)
        context = Context(
            keeper=keeper,
            toolkit=toolkit,
            prompt=prompt,
            policy=self.policy,
            counter=self.counter,
            artifacts=store.artifacts,
            artifact_reader=self.artifact_reader,
            workspace=store.workspace,
            ask=make_ask(self.compactor.model) if self.compactor else None,
            summariser_window_tokens=self.compactor.window_tokens if self.compactor else None,
            language=language,
            emit=events.emit,
            on_compacted=self.on_compacted,
        )
        compaction = MemoryCompactionHook(context)
        recall = self._recall(language) if self.can_recall else None
        steps = StepHook(keeper.keep, self.settings.max_steps)
        hooks = [
            WholeCallHook(language),
            prompt,
            compaction,
            *([recall] if recall else []),
            steps,
            OutputLimitHook(language),
            ArgumentsHook(language),
            ApprovalHook(rules, language),
            ToolResultHook(context.cap),
        ]
        runner = AgentRunner(build_agent(self.model.model, toolkit, state, hooks), rules)
        turns = Turns(
            keeper=keeper,
            runner=runner,
            journal=store.journal,
            events=events,
            context=context,
            steps=steps,
            recall=recall,
            workspace=store.workspace,
            language=language,
            now=store.clock.now,
        )
        conversation = Conversation(
            keeper=keeper,
            runner=runner,
            turns=turns,
            context=context,
            compaction=compaction,
            desk=desk,
            journal=store.journal,
            memory_log=store.memory_log,
            events=events,
            workspace=store.workspace,
            language=language,
            now=store.clock.now,
        )
        for problem in self.outside.problems if self.has_file_tools else ():
            conversation.emit_kept(Notice(problem))
        conversation.take_up_queued()
        return conversation

    def _desk(self, keeper: SessionKeeper, language: Callable[[], Language]) -> MemoryDesk:
        store = self.store
        return MemoryDesk(
            notes=store.notes,
            index=self.index,
            artifacts=store.artifacts,
            session_id=keeper.session.session_id,
            turn_id=lambda: _turn_id(keeper.state.context),
            context_ids=lambda: {message.id for message in keeper.state.context},
            language=language,
            now=store.clock.now,
            trashed_ids=store.journal.deleted_ids,
            # The built-in assistant has nothing to say before the index is there; a model would be kept waiting.
            patience_seconds=0.0 if self.model.is_language_model else OFFLINE_PATIENCE_SECONDS,
        )

    def _tool_backend(self, keeper: SessionKeeper) -> ToolBackend:
        workspace, notes = self.store.workspace, self.store.notes

        def write_memory(path: Path, text: str) -> None:
            name = workspace.relative_name(path)
            origin = Origin("assistant", keeper.session.session_id, _turn_id(keeper.state.context))
            notes.save(name, text, notes.read(name).digest, origin)

        return ToolBackend(workspace.root, workspace.files_folder, workspace.is_memory_file, write_memory)

    def _prompt_source(self, language: Callable[[], Language]) -> PromptSource:
        return PromptSource(
            workspace=self.store.workspace,
            language=language,
            today=lambda: self.store.clock.now().date(),
            has_tools=self.has_file_tools,
            max_tokens=self.policy.threshold // 2,
            count=self.counter.text,
            read_text=read_any_text,
        )

    def _recall(self, language: Callable[[], Language]) -> RecallHook:
        return RecallHook(self.index, language, self.counter.text, self.is_recall_on, self.store.journal.deleted_ids)

    def _language_of(self, messages: Sequence[Msg], summary: str) -> Language:
        """The one that is set, else that of what the person said lately."""
        if self.settings.language != "auto":
            return self.settings.language
        asked = (message for message in reversed(messages) if message.role == "user")
        newest = itertools.islice(asked, _LANGUAGE_MESSAGES)
        return language_of("\n".join(message.get_text_content() or "" for message in newest) or summary)


def _turn_id(messages: Sequence[Msg]) -> str:
    """The newest question's id, which names its turn."""
    return next((message.id for message in reversed(messages) if message.role == "user"), "")
