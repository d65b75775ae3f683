"""Puts the owner's files into the system prompt, and keeps it as it is from one compaction to the next.

What the assistant itself wrote into a file stands in the conversation already, so it changes nothing. What the person
wrote makes the prompt anew, once, and they are told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agentscope.agent import Agent
from agentscope.middleware import MiddlewareBase

from assistant.agent.prompt_basis import PromptBasis, read_basis
from assistant.agent.session_state import SessionState
from assistant.agent.system_prompt import PromptTexts, SystemPrompt, ToolScope, compose_system_prompt
from assistant.config.words import say
from assistant.errors import WorkspaceError
from assistant.memory.notes import Notes
from assistant.messages.events import Event, Notice
from assistant.storage.workspace import FILE_MAX_CHARS, MEMORY_FILES, PROMPT_FILES


@dataclass(frozen=True, slots=True)
class PromptSource:
    """What the system prompt is made of besides the files."""

    state: SessionState
    tools: ToolScope
    max_tokens: int
    count: Callable[[str], int]
    notes: Notes


class SystemPromptHook(MiddlewareBase):
    """Composes the prompt before each model call; unchanged files cost one look at their times."""

    def __init__(self, source: PromptSource, emit: Callable[[Event], None]) -> None:
        self._source = source
        self._emit = emit
        self._seen: tuple[object, ...] = ()
        self._reported: frozenset[str] = frozenset()
        self._basis = PromptBasis("")
        self.skills = ""
        """What AgentScope says about skills; empty where there are none."""
        self._prompt: SystemPrompt | None = None

    @property
    def prompt(self) -> SystemPrompt:
        """The prompt as the next model call would get it."""
        state = self._source.state
        watched = (*map(_stamp, self._paths()), state.now().date(), state.language, self.skills)
        seen = (*watched, state.frozen_prompt.basis)
        if self._prompt is None or seen != self._seen:
            self._basis = self._basis_now()
            self._prompt = self._compose(self._basis)
            self._seen = (*watched, state.frozen_prompt.basis)
            self._emit_shortened(self._prompt)
        return self._prompt

    async def on_system_prompt(self, agent: Agent, current_prompt: str) -> str:
        """Our prompt, with what AgentScope says about skills in it; it is kept from here on."""
        self.skills = current_prompt.strip()
        text = self.prompt.text
        if self._source.state.frozen_prompt.basis is None:
            self._source.state.frozen_prompt.basis = self._basis
        return text

    def holds(self, name: str, text: str) -> bool:
        """True where every line of a text of this file stands in the prompt."""
        lines = set(_lines(self._basis.files.get(name, "")))
        return lines.issuperset(_lines(text))

    def _basis_now(self) -> PromptBasis:
        """What is kept, unless the person changed it since; before the first model call what is on disk."""
        state = self._source.state
        kept, found = state.frozen_prompt.basis, read_basis(state.workspace, state.now().date().isoformat())
        if kept is None:
            return found
        changed = [name for name in PROMPT_FILES if self._is_changed_by_person(name, kept, found)]
        if not changed and kept.bootstrap == found.bootstrap:
            return kept
        state.frozen_prompt.basis = found
        if changed:
            self._emit(Notice(say("agent", "prompt_renewed", names=", ".join(changed)), "info"))
        return found

    def _is_changed_by_person(self, name: str, kept: PromptBasis, found: PromptBasis) -> bool:
        digest = kept.digests.get(name, "")
        if digest == found.digests[name]:
            return False
        try:
            return name not in MEMORY_FILES or self._source.notes.is_changed_by_person(name, digest)
        except WorkspaceError:
            # A link, or a file that cannot be locked: nobody knows who wrote, so the prompt follows it.
            return True

    def _paths(self) -> list[Path]:
        workspace = self._source.state.workspace
        return [*(workspace.root / name for name in PROMPT_FILES), workspace.bootstrap_path]

    def _compose(self, basis: PromptBasis) -> SystemPrompt:
        source = self._source
        return compose_system_prompt(
            PromptTexts(basis.files, basis.bootstrap),
            language=source.state.language,
            today=basis.day,
            home=source.state.workspace.root,
            files_folder=source.state.workspace.files_folder,
            tools=source.tools,
            skills=self.skills,
            max_tokens=source.max_tokens,
            count=source.count,
        )

    def _emit_shortened(self, prompt: SystemPrompt) -> None:
        for name in sorted(set(prompt.shortened) - self._reported):
            self._emit(Notice(say("agent", "file_too_long", name=name, limit=FILE_MAX_CHARS)))
        self._reported = frozenset(prompt.shortened)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)
