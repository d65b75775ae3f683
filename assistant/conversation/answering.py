"""Who answers in a conversation now, and what the conversation works with meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from assistant.agent.compactor import Compactor
from assistant.agent.loop import AgentLoop
from assistant.agent.tools.memory_tools import MemoryTools
from assistant.config.profiles import Profiles
from assistant.models.chat_model import ChatModel


@dataclass(frozen=True, slots=True)
class Answering:
    """A model, and all of a conversation that is made for this model."""

    model: ChatModel
    loop: AgentLoop
    compactor: Compactor
    memory: MemoryTools


class ModelSwitch(Protocol):
    """Knows which profile a conversation has chosen."""

    @property
    def profiles(self) -> Profiles:
        """What can be chosen beside the settings' own."""
        ...

    @property
    def chosen(self) -> str:
        """The profile that is to answer; the settings' own, too, where the chosen one is gone."""
        ...

    def choose(self, name: str) -> None:
        """Let this profile answer from the next turn on; raises `SettingsError` where there is none of that name."""
        ...

    async def renewed(self) -> Answering | None:
        """What to go on with where another model is to answer than does now; None where all stays as it is."""
        ...
