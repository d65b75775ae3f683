"""The numbers of compaction: two presets as data, each field settable by the setting of the same name."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Literal

from assistant.config.settings import Settings

PresetName = Literal["copaw", "skill_compose"]

OVERFLOW_RATIO = 0.95
"""Share of the window at which no guard holds any more and the digest may stand in for a summary."""
UNDO_RATIO = 0.9
"""The trigger of a session whose newest compaction was undone, until enough new content came in."""
GUARD_RATIO = 0.1
"""Share of the window that a compaction must free, and that must come in before the next one."""
PIN_RATIO = 0.1
RECENT_RESULTS_RATIO = 0.4
"""Share of what is left below the threshold that the recent tool results may fill together."""
BROWSER_TOOLS = ("browser_*", "mcp__*browser*", "mcp__*playwright*")
_SUMMARY_RATIO = 0.1


@dataclass(frozen=True, slots=True)
class CompactionPolicy:
    """When to compact and what to keep. Tokens unless the name says otherwise."""

    preset: PresetName
    max_input_length: int
    memory_compact_ratio: float
    compact_threshold: int | None
    """Wins over the ratio."""
    memory_reserve_ratio: float
    reserve_cap_tokens: int | None
    max_recent_turns: int | None
    recent_n: int
    recent_max_bytes: int
    old_max_bytes: int
    retention_days: int
    tool_result_max_chars: int | None
    safety_factor: float
    keep_recent_messages: int | None
    summary_max_tokens: int
    fires_on_reported_usage: bool
    """True: compaction starts when the provider's count of the last request is over the threshold."""
    browser_tools: tuple[str, ...] = BROWSER_TOOLS

    @property
    def threshold(self) -> int:
        """Where compaction starts; never above the point where it must."""
        chosen = self.compact_threshold or self.max_input_length * self.memory_compact_ratio * self.safety_factor
        return min(round(chosen), self.overflow_tokens)

    @property
    def overflow_tokens(self) -> int:
        """Where compaction must happen whatever the guards say."""
        return round(self.max_input_length * OVERFLOW_RATIO)

    @property
    def reserve(self) -> int:
        """What recent messages may keep."""
        share = round(self.max_input_length * self.memory_reserve_ratio)
        return share if self.reserve_cap_tokens is None else min(share, self.reserve_cap_tokens)

    @property
    def guard_tokens(self) -> int:
        """What a compaction must free, and what must come in before the next one."""
        return round(self.max_input_length * GUARD_RATIO)

    @property
    def pin_tokens(self) -> int:
        """What all pins of a conversation may cost together."""
        return round(self.max_input_length * PIN_RATIO)

    @property
    def summary_cap_tokens(self) -> int:
        """What a summary may cost."""
        return min(self.summary_max_tokens, round(self.max_input_length * _SUMMARY_RATIO))


@dataclass(frozen=True, slots=True)
class PolicyOverrides:
    """What the owner set; None leaves the preset's value."""

    max_input_length: int | None = None
    memory_compact_ratio: float | None = None
    compact_threshold: int | None = None
    memory_reserve_ratio: float | None = None
    max_recent_turns: int | None = None
    recent_n: int | None = None
    recent_max_bytes: int | None = None
    old_max_bytes: int | None = None
    retention_days: int | None = None
    tool_result_max_chars: int | None = None
    safety_factor: float | None = None
    keep_recent_messages: int | None = None
    summary_max_tokens: int | None = None


_COPAW = CompactionPolicy(
    preset="copaw",
    max_input_length=128_000,
    memory_compact_ratio=0.7,
    compact_threshold=None,
    memory_reserve_ratio=0.1,
    reserve_cap_tokens=12_800,
    max_recent_turns=None,
    recent_n=3,
    recent_max_bytes=50_000,
    old_max_bytes=3_000,
    retention_days=30,
    tool_result_max_chars=None,
    safety_factor=1.0,
    keep_recent_messages=None,
    summary_max_tokens=4_096,
    fires_on_reported_usage=False,
)

PRESETS: dict[PresetName, CompactionPolicy] = {
    "copaw": _COPAW,
    "skill_compose": replace(
        _COPAW,
        preset="skill_compose",
        max_input_length=200_000,
        memory_reserve_ratio=0.25,
        reserve_cap_tokens=None,
        max_recent_turns=5,
        fires_on_reported_usage=True,
    ),
}


def policy_for(
    preset: PresetName, window_tokens: int | None, overrides: PolicyOverrides | None = None
) -> CompactionPolicy:
    """The preset fitted to a model's window (None: unknown), then the owner's values.

    `copaw` uses at most 128,000 tokens of a larger window, `skill_compose` all of it; an override may go above both.
    """
    policy = PRESETS[preset]
    if window_tokens is not None:
        usable = window_tokens if preset == "skill_compose" else min(window_tokens, policy.max_input_length)
        policy = replace(policy, max_input_length=usable)
    values = {name: value for name, value in asdict(overrides or PolicyOverrides()).items() if value is not None}
    return replace(policy, **values)


def overrides_of(settings: Settings) -> PolicyOverrides:
    """The owner's values for the policy."""
    return PolicyOverrides(**settings.model_dump(include={field.name for field in fields(PolicyOverrides)}))
