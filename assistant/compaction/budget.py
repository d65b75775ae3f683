"""How full the window is, what may be kept, and whether compaction is due: functions of numbers alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from assistant.compaction.policy import UNDO_RATIO, CompactionPolicy

Urgency = Literal["none", "due", "must"]
"""`due`: a summary or nothing; `must`: the request would not fit, the digest may stand in."""
Hold = Literal["none", "gate", "cooldown", "undone", "failed"]
"""Why no compaction starts although the trigger is reached."""


@dataclass(frozen=True, slots=True)
class Occupied:
    """Tokens of each part of a request."""

    system: int
    tools: int
    summary: int
    pins: int
    messages: int

    @property
    def fixed(self) -> int:
        """What compaction of messages cannot free."""
        return self.system + self.tools + self.summary + self.pins

    @property
    def total(self) -> int:
        """The whole request."""
        return self.fixed + self.messages


@dataclass(frozen=True, slots=True)
class Guards:
    """Token totals of this session at earlier events; None where there was none since the newest compaction."""

    after_last_compaction: int | None = None
    at_last_undo: int | None = None
    at_last_failure: int | None = None


@dataclass(frozen=True, slots=True)
class Budget:
    """The answer of one check. `left_tokens` may be negative; `keep_tokens` is what a split may keep."""

    occupied: Occupied
    threshold_tokens: int
    context_limit: int
    left_tokens: int
    keep_tokens: int
    urgency: Urgency
    hold: Hold

    @property
    def total_tokens(self) -> int:
        """The whole request."""
        return self.occupied.total


def measure(
    occupied: Occupied,
    policy: CompactionPolicy,
    guards: Guards | None = None,
    *,
    reported_tokens: int = 0,
    is_refused: bool = False,
    is_manual: bool = False,
) -> Budget:
    """One check of a request.

    `reported_tokens` is the provider's count of the last request (0: none yet); `is_refused` says that the provider
    called this request too long; `is_manual` that the person asked, so that no guard holds.
    """
    guards = guards or Guards()
    left = policy.threshold - occupied.fixed
    is_overflow = is_refused or occupied.total >= policy.overflow_tokens
    urgency: Urgency = "none"
    hold: Hold = "none"
    if is_overflow:
        urgency = "must"
    elif is_manual:
        urgency = "due"
    elif _is_trigger_reached(occupied.total, policy, reported_tokens):
        hold = _hold(occupied.total, left, policy, guards)
        urgency = "due" if hold == "none" else "none"
    elif left <= 0:
        hold = "gate"
    keep = 0 if is_overflow else max(0, min(policy.reserve, left // 2))
    return Budget(occupied, policy.threshold, policy.max_input_length, left, keep, urgency, hold)


def next_trigger(policy: CompactionPolicy, guards: Guards) -> int:
    """The total at which the next compaction starts by itself: the threshold, or more while a guard holds."""
    levels = [guards.at_last_failure, guards.after_last_compaction]
    held = [level + policy.guard_tokens for level in levels if level is not None]
    if guards.at_last_undo is not None:
        raised = math.ceil(policy.max_input_length * UNDO_RATIO)
        held.append(min(raised, guards.at_last_undo + policy.guard_tokens))
    return min(max(policy.threshold, *held), policy.overflow_tokens) if held else policy.threshold


def fits_alone(message_tokens: int, fixed_tokens: int, policy: CompactionPolicy) -> bool:
    """True when a message could be sent if nothing else but the fixed parts stood in the window."""
    return message_tokens + fixed_tokens < policy.overflow_tokens


def level_within(sizes: Sequence[int], budget: int) -> int:
    """The level to which all larger sizes must be cut so that their sum fits the budget; no size is cut if it fits."""
    rest = budget
    for index, size in enumerate(sorted(sizes)):
        level = rest // (len(sizes) - index)
        if size > level:
            return level
        rest -= size
    return max(sizes, default=0)


def _is_trigger_reached(total_tokens: int, policy: CompactionPolicy, reported_tokens: int) -> bool:
    if policy.fires_on_reported_usage and reported_tokens > 0:
        return reported_tokens > policy.threshold
    return total_tokens >= policy.threshold


def _hold(total_tokens: int, left_tokens: int, policy: CompactionPolicy, guards: Guards) -> Hold:
    def is_recent(level: int | None) -> bool:
        return level is not None and total_tokens - level < policy.guard_tokens

    if left_tokens <= 0:
        return "gate"
    if is_recent(guards.at_last_undo) and total_tokens < policy.max_input_length * UNDO_RATIO:
        return "undone"
    if is_recent(guards.at_last_failure):
        return "failed"
    if is_recent(guards.after_last_compaction):
        return "cooldown"
    return "none"
