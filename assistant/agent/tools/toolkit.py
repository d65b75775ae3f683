"""The agent's tools: AgentScope's own shell and file tools on our backend, skills, and what is passed in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from agentscope.tool import ToolBase, Toolkit

from assistant.agent.allowances import Allowances
from assistant.agent.tools.approvals import Rules
from assistant.agent.tools.file_tools import make_file_tools
from assistant.agent.tools.mcp_servers import McpServers
from assistant.agent.tools.outside_tool import OutsideTool
from assistant.agent.tools.skills import SkillLoader
from assistant.agent.tools.tool_backend import ToolBackend
from assistant.compaction.shorten.artifact_reference import ArtifactReader
from assistant.config.prompts import render
from assistant.config.words import Language
from assistant.storage.artifacts import Artifacts
from assistant.text.known_secrets import KnownSecrets

_DESCRIBED = (
    "Bash",
    "Read",
    "Write",
    "Edit",
    "Glob",
    "Grep",
    "Skill",
    "memory_search",
    "memory_get",
    "memory_save",
)
"""The tools with a description of ours, in the prompt of their name."""
_SKILL_ARGUMENTS = {"type": "object", "properties": {"skill": {"type": "string"}}, "required": ["skill"]}


@dataclass(frozen=True, slots=True)
class AgentTools:
    """What the agent of one conversation works with."""

    toolkit: LiveToolkit
    rules: Rules
    """Which calls run at once, which ask the person, and which are refused."""
    artifacts: Artifacts
    artifact_reader: ArtifactReader
    """The tool that opens the full text of a shortened result."""
    known: KnownSecrets
    """What is taken out of every result."""
    allowances: Allowances
    """Which calls that would ask run at once, because the person allowed them before."""


class LiveToolkit(Toolkit):
    """AgentScope's toolkit with the tools of servers as they are now: a slow server brings its tools later.

    Our own tools are described in the language that the conversation has when they are offered.
    """

    def __init__(
        self,
        tools: list[ToolBase],
        skills: SkillLoader | None,
        outside: McpServers | None,
        language: Callable[[], Language],
    ) -> None:
        super().__init__(tools=tools, skills_or_loaders=[skills] if skills else [])
        self.builtin_skill_viewer.tool.input_schema = _SKILL_ARGUMENTS
        self._outside = outside
        self._language = language

    async def get_tool_schemas(self, groups: list[str] | None = None) -> list[dict[str, object]]:
        """What the model is offered."""
        await self._take_outside_tools()
        self._describe()
        # AgentScope does not say what is in a schema.
        asked = super().get_tool_schemas(groups)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return cast(list[dict[str, object]], await asked)

    async def get_skill_instructions(self, activated_groups: list[str] | None = None) -> str | None:
        """What the prompt says of skills; None where there are none."""
        skills = await self._get_available_skills(activated_groups)
        return render("skills", self._language(), skills=list(skills.values())) if skills else None

    async def check_tool_available(self, tool_name: str, activated_groups: list[str]) -> ToolBase:
        """The tool that a call names, which a person may have allowed before this process began."""
        await self._take_outside_tools()
        return await super().check_tool_available(tool_name, activated_groups)

    def _describe(self) -> None:
        (group,) = self.tool_groups
        for tool in (self.builtin_skill_viewer.tool, *group.tools):
            if tool.name in _DESCRIBED and not isinstance(tool, OutsideTool):
                tool.description = render(f"tool_{tool.name.lower()}", self._language())

    async def _take_outside_tools(self) -> None:
        if self._outside is None:
            return
        await self._outside.settle()
        (group,) = self.tool_groups
        own = [tool for tool in group.tools if not isinstance(tool, OutsideTool)]
        group.tools = [*own, *self._outside.tools]


def build_toolkit(
    *,
    backend: ToolBackend,
    start_folder: Path,
    skills: SkillLoader | None,
    language: Callable[[], Language],
    has_file_tools: bool,
    own_tools: Sequence[ToolBase] = (),
    outside: McpServers | None = None,
) -> LiveToolkit:
    """The toolkit of one conversation. Each agent needs its own: AgentScope adds and removes tools while it replies.

    Without file tools there are no skills, which are read and carried out with them, and no tools from outside.
    """
    tools: list[ToolBase] = list(own_tools)
    if not has_file_tools:
        return LiveToolkit(tools, None, None, language)
    return LiveToolkit([*tools, *make_file_tools(backend, start_folder)], skills, outside, language)
