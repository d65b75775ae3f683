"""The agent's tools: AgentScope's own shell and file tools on our backend, skills, and what is passed in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentscope.tool import Bash, Edit, Glob, Grep, Read, ToolBase, Toolkit, Write

from assistant.agent.skills import SkillShelf
from assistant.agent.tool_backend import ToolBackend
from assistant.prompts import Language, render


class DescribedRead(Read):
    """AgentScope's Read with a description of ours (its own is a property that cannot be set)."""

    _description = ""

    @property
    def description(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What the model is told the tool does."""
        return self._description

    @description.setter
    def description(self, text: str) -> None:
        self._description = text


def build_toolkit(
    *,
    backend: ToolBackend,
    start_folder: Path,
    skills: SkillShelf | None,
    language: Language,
    has_file_tools: bool,
    own_tools: Sequence[ToolBase] = (),
) -> Toolkit:
    """The toolkit of one conversation. Each agent needs its own: AgentScope adds and removes tools while it replies.

    Without file tools there are no skills: they are read and carried out with them.
    """
    tools: list[ToolBase] = list(own_tools)
    if has_file_tools:
        tools += _file_tools(backend, start_folder, language)
    return Toolkit(tools=tools, skills_or_loaders=[skills] if skills and has_file_tools else [])


def _file_tools(backend: ToolBackend, start_folder: Path, language: Language) -> list[ToolBase]:
    tools: list[ToolBase] = [
        Bash(cwd=start_folder, backend=backend),
        DescribedRead(model_input_types=[], backend=backend),
        Write(backend=backend),
        Edit(backend=backend),
        Glob(backend=backend),
        Grep(backend=backend),
    ]
    for tool in tools:
        tool.description = render(f"tool_{tool.name.lower()}", language)
    return tools
