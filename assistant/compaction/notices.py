"""What the person is told when a compaction was held back, failed or stood in for."""

from __future__ import annotations

from assistant.compaction.budget import Budget
from assistant.compaction.policy import CompactionPolicy
from assistant.compaction.summary.summary import SummaryFailure
from assistant.compaction.summary.summary_check import Rejection
from assistant.messages.events import Notice

_REASONS: dict[Rejection, str] = {
    "no_answer": "the model gave no answer",
    "no_headings": "the answer had none of the sections asked for",
    "too_short": "the answer was too short",
    "too_long": "the answer was too long",
    "wrong_language": "the answer was in another language",
}


def gate_notice(budget: Budget) -> Notice:
    """The fixed parts leave no room below the threshold."""
    return Notice(
        f"System prompt, tools, summary and pins take {budget.occupied.fixed:,} tokens, and compaction starts at "
        f"{budget.threshold_tokens:,}, so there is nothing to gain from compaction. Shorten the memory files, unpin "
        "something, or raise the threshold."
    )


def too_little_notice(budget: Budget) -> Notice:
    """Why a compaction the person asked for folded nothing."""
    kept = f", and so do the newest {budget.keep_tokens:,} tokens" if budget.keep_tokens > 0 else ""
    # Who has seen a compression knows what it looks like.
    hint = "" if budget.occupied.summary else " To see a compression now, type /show."
    return Notice(
        f"Nothing to compress yet: your messages take {budget.occupied.messages:,} tokens. "
        f"The newest turn stays as it is{kept}.{hint}",
        level="info",
    )


def failure_notice(failure: SummaryFailure) -> Notice:
    """No summary, and the history is as it was."""
    return Notice(f"No compaction took place: {_reason(failure)}. All messages stay; it is tried again later.")


def fallback_notice(failure: SummaryFailure) -> Notice:
    """The digest stands in."""
    return Notice(f"A digest written without a model stands in for the summary: {_reason(failure)}.")


def over_notice(total_tokens: int, policy: CompactionPolicy) -> Notice:
    """Even what is always kept does not fit."""
    return Notice(
        f"What must be kept takes {total_tokens:,} of {policy.max_input_length:,} tokens and does not fit the window. "
        "Save the text as a file and have it read in parts, or use a model with a larger window."
    )


def _reason(failure: SummaryFailure) -> str:
    text = _REASONS[failure.reason]
    return f"{text} ({failure.detail})" if failure.detail else text
