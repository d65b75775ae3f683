"""The models that answer in conversations, and what they and the settings allow there."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.agent.system_prompt import ToolScope
from assistant.compaction.policy import CompactionPolicy, overrides_of, policy_for
from assistant.compaction.shorten.artifact_reference import ArtifactReader
from assistant.config.settings import Settings
from assistant.messages.tokens import TokenCounter
from assistant.models.chat_model import ChatModel
from assistant.models.windows import FILE_TOOLS_TOKENS


@dataclass(frozen=True, slots=True)
class Models:
    """The model that answers, the one that summarises and writes memory where one is fit, and what counts tokens.

    `settings` are those they were opened with.
    """

    settings: Settings
    answering: ChatModel
    compacting: ChatModel | None
    counter: TokenCounter

    @property
    def policy(self) -> CompactionPolicy:
        """The compaction numbers of a new conversation."""
        return policy_for(self.settings.policy, self.answering.window_tokens, overrides_of(self.settings))

    @property
    def has_file_tools(self) -> bool:
        """False where tools are off, the model calls none, or the window is too small for their schemas."""
        is_able = self.answering.calls_tools and self.answering.window_tokens >= FILE_TOOLS_TOKENS
        return self.settings.has_machine_tools and is_able

    @property
    def has_memory_tools(self) -> bool:
        """False where memory is off or the model calls no tools."""
        return self.settings.memory == "on" and self.answering.calls_tools

    @property
    def tool_scope(self) -> ToolScope:
        """What the model of a new conversation can call."""
        return "all" if self.has_file_tools else "memory" if self.has_memory_tools else "none"

    @property
    def artifact_reader(self) -> ArtifactReader:
        """The tool that opens the full text of a shortened result."""
        return "Read" if self.has_file_tools else "memory_get" if self.has_memory_tools else "none"

    @property
    def can_recall(self) -> bool:
        """False where memory is off, and for the offline assistant, which looks by itself."""
        return self.settings.memory == "on" and self.answering.is_language_model

    async def close(self) -> None:
        """Let go of the models; may be called twice."""
        await self.answering.close()
        if self.compacting is not None:
            await self.compacting.close()
