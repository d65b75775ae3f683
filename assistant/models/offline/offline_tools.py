"""Tools as the offline assistant sees them: what is offered, what it calls, what came back."""

from __future__ import annotations

from dataclasses import dataclass, field

SHOWN_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool the model may call: its name, and for arguments with a closed set of values those values."""

    name: str
    choices: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A tool call to make."""

    tool: str
    arguments: dict[str, str | int | bool]


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a call of this turn brought."""

    tool: str
    state: str
    text: str

    @property
    def shown(self) -> str:
        """As much of it as a reply shows."""
        text = self.text.strip()
        return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]} …"
