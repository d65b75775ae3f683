"""Notices to the person: a compaction was held back, failed, or a digest replaced its summary."""

from __future__ import annotations

from assistant.compaction.budget import Budget
from assistant.compaction.policy import CompactionPolicy
from assistant.compaction.summary.summary import SummaryFailure
from assistant.config.words import say
from assistant.messages.events import Notice


def gate_notice(budget: Budget) -> Notice:
    """The fixed parts leave no room below the threshold."""
    return Notice(say("compaction", "gate", fixed=budget.occupied.fixed, threshold=budget.threshold_tokens))


def too_little_notice(budget: Budget) -> Notice:
    """Why a compaction the person asked for folded nothing."""
    kept = say("compaction", "newest_kept", keep_tokens=budget.keep_tokens) if budget.keep_tokens > 0 else ""
    # Who has seen a compression knows what it looks like.
    hint = "" if budget.occupied.summary else say("compaction", "show_hint")
    return Notice(
        say("compaction", "too_little", messages=budget.occupied.messages, kept=kept, hint=hint),
        level="info",
    )


def failure_notice(failure: SummaryFailure) -> Notice:
    """No summary, and the history is as it was."""
    return Notice(say("compaction", "failed", reason=_reason(failure)))


def fallback_notice(failure: SummaryFailure) -> Notice:
    """The digest replaces the summary."""
    return Notice(say("compaction", "digest_instead", reason=_reason(failure)))


def over_notice(total_tokens: int, policy: CompactionPolicy) -> Notice:
    """Even what is always kept does not fit."""
    return Notice(say("compaction", "over", total=total_tokens, limit=policy.max_input_length))


def _reason(failure: SummaryFailure) -> str:
    text = say("compaction", failure.reason)
    return say("compaction", "with_detail", reason=text, detail=failure.detail) if failure.detail else text
