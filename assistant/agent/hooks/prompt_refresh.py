"""Puts the owner's files into the system prompt, read again whenever one of them changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agentscope.agent import Agent
from agentscope.middleware import MiddlewareBase

from assistant.agent.session_state import SessionState
from assistant.agent.system_prompt import PromptTexts, SystemPrompt, ToolScope, compose_system_prompt
from assistant.config.words import say
from assistant.messages.events import Event, Notice
from assistant.storage.workspace import FILE_MAX_CHARS, PROMPT_FILES

ReadText = Callable[[Path], str]


@dataclass(frozen=True, slots=True)
class PromptSource:
    """What the system prompt is made of besides the files."""

    state: SessionState
    tools: ToolScope
    max_tokens: int
    count: Callable[[str], int]
    read_text: ReadText


class SystemPromptHook(MiddlewareBase):
    """Composes the prompt before each model call; unchanged files cost one look at their times."""

    def __init__(self, source: PromptSource, emit: Callable[[Event], None]) -> None:
        self._source = source
        self._emit = emit
        self._seen: tuple[object, ...] = ()
        self._reported: frozenset[str] = frozenset()
        self._prompt: SystemPrompt | None = None

    @property
    def prompt(self) -> SystemPrompt:
        """The prompt as the next model call would get it."""
        source = self._source
        seen = (*map(_stamp, self._paths()), source.state.now().date(), source.state.language)
        if self._prompt is None or seen != self._seen:
            self._prompt = self._compose()
            self._seen = seen
            self._emit_shortened(self._prompt)
        return self._prompt

    async def on_system_prompt(self, agent: Agent, current_prompt: str) -> str:
        """Our prompt, then what AgentScope adds about skills."""
        return "\n\n".join(filter(None, [self.prompt.text, current_prompt.strip()]))

    def _paths(self) -> list[Path]:
        workspace = self._source.state.workspace
        return [*(workspace.root / name for name in PROMPT_FILES), workspace.bootstrap_path]

    def _compose(self) -> SystemPrompt:
        source = self._source
        *files, bootstrap = self._paths()
        texts = PromptTexts({path.name: source.read_text(path) for path in files}, source.read_text(bootstrap))
        return compose_system_prompt(
            texts,
            language=source.state.language,
            today=source.state.now().date(),
            home=source.state.workspace.root,
            files_folder=source.state.workspace.files_folder,
            tools=source.tools,
            max_tokens=source.max_tokens,
            count=source.count,
        )

    def _emit_shortened(self, prompt: SystemPrompt) -> None:
        for name in sorted(set(prompt.shortened) - self._reported):
            self._emit(Notice(say("agent", "file_too_long", name=name, limit=FILE_MAX_CHARS)))
        self._reported = frozenset(prompt.shortened)


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)
