"""A summariser that plays a script and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Answer = str | Exception | Callable[[str], str]


@dataclass
class ScriptedAsk:
    """Gives its answers in order, the last one again and again; an exception is raised, a callable gets the prompt."""

    answers: list[Answer]
    prompts: list[str] = field(default_factory=list)
    systems: list[str] = field(default_factory=list)

    async def __call__(self, system: str, user: str) -> str:
        answer = self.answers[min(len(self.prompts), len(self.answers) - 1)]
        self.systems.append(system)
        self.prompts.append(user)
        if isinstance(answer, Exception):
            raise answer
        return answer(user) if callable(answer) else answer
