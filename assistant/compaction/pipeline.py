"""One check before a model call, from the gate to the new context: says what should be, commits nothing.

The caller stores the artifacts, writes the record to the journal, swaps the state and shows the notices.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from assistant.compaction.budget import Budget, Guards, Occupied, measure
from assistant.compaction.digest.digest import digest_sections
from assistant.compaction.notices import failure_notice, fallback_notice, gate_notice, over_notice, too_little_notice
from assistant.compaction.pins import Pin, pin_tokens, pins_to_quote, write_summary_message
from assistant.compaction.policy import CompactionPolicy
from assistant.compaction.record import CompactionRecord
from assistant.compaction.shorten.result_limits import Artifact, ArtifactPlace, shorten_results
from assistant.compaction.split import Split, split
from assistant.compaction.summary.file_tracking import FileLists, files_of, merge_files, read_file_lists
from assistant.compaction.summary.sections import USER_MESSAGES_KEY, write_sections
from assistant.compaction.summary.standing_orders import orders_in_summary, orders_of
from assistant.compaction.summary.summary import Ask, Summary, SummaryFailure, summarise
from assistant.compaction.summary.summary_document import DocumentParts, tokens_for_sections, write_document
from assistant.compaction.summary.summary_prompt import SummaryTask, other_titles, summary_task
from assistant.compaction.summary.user_messages import user_texts
from assistant.config.words import Language
from assistant.messages.blocks import Msg, block_keys
from assistant.messages.events import CompactionReason, Notice
from assistant.messages.hints import newest_hints, with_hints_before_question, without_hints
from assistant.messages.tokens import TokenCounter

_SUMMARY_SHARE = 1 / 3
"""Of what was folded a summary has about this much, as far as its cap allows (505 of 1,644 tokens where measured)."""


@dataclass(frozen=True, slots=True)
class CompactionRequest:
    """A context to check. `at` is a zone-aware ISO time; `reason` is `overflow` when the provider refused it."""

    messages: list[Msg]
    previous_summary: str
    policy: CompactionPolicy
    counter: TokenCounter
    system_tokens: int
    tool_tokens: int
    language: Language
    place: ArtifactPlace
    session_id: str
    compaction_id: str
    parent_id: str | None
    at: str
    reason: CompactionReason = "automatic"
    pins: tuple[Pin, ...] = ()
    guards: Guards = Guards()
    reported_tokens: int = 0
    hint: str = ""
    summariser_window_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The context to go on with. Without a record nothing was folded and `summary` is the previous one.

    `artifacts` must be stored before `messages` are used. `measured` is the check before folding, `after_tokens` the
    total of what is handed back; `is_over` says that even this does not fit the window.
    """

    messages: list[Msg]
    summary: str
    record: CompactionRecord | None
    artifacts: tuple[Artifact, ...]
    failure: SummaryFailure | None
    notices: tuple[Notice, ...]
    measured: Budget
    after_tokens: int
    shortened: int
    is_over: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What a compaction would do; nothing has been asked or changed. `split` is None when nothing would be folded."""

    messages: list[Msg]
    artifacts: tuple[Artifact, ...]
    shortened: int
    before_tokens: int
    budget: Budget
    split: Split | None
    task: SummaryTask | None
    notices: tuple[Notice, ...]


async def compact(request: CompactionRequest, ask: Ask | None) -> Outcome:
    """Shorten, split and summarise as far as the policy asks for. `ask` None: the digest replaces a summary."""
    plan = plan_compaction(request)
    if plan.split is None or plan.task is None:
        return _unfolded(request, plan)
    titles = other_titles(request.policy.preset, request.language)
    answer = None if ask is None else await summarise(plan.task, ask, request.counter, titles)
    if isinstance(answer, SummaryFailure) and plan.budget.urgency != "must":
        outcome = _unfolded(request, plan)
        return replace(outcome, failure=answer, notices=(*outcome.notices, failure_notice(answer)))
    return _folded(request, plan, plan.split, plan.task, answer)


def plan_compaction(request: CompactionRequest) -> Plan:
    """Everything before the summariser is asked: what is shortened, what would be folded and what would be asked."""
    before = _measure(request, request.messages)
    short = shorten_results(request.messages, request.policy, before.left_tokens, request.counter, request.place)
    budget = _measure(request, short.messages) if short.shortened else before
    plan = Plan(
        short.messages, short.artifacts, short.shortened, before.total_tokens, budget, split=None, task=None, notices=()
    )
    if budget.hold == "gate":
        return replace(plan, notices=(gate_notice(budget),))
    if budget.urgency == "none":
        return plan
    parts = _split_without_hints(request, short.messages, budget)
    is_too_little = _gained(request, budget, parts) < request.policy.guard_tokens and _is_guarded(request, budget)
    if parts.is_empty or is_too_little:
        return replace(plan, notices=(too_little_notice(budget),) if request.reason == "manual" else ())
    task = summary_task(
        parts,
        request.previous_summary,
        request.policy,
        request.language,
        request.counter,
        hint=request.hint,
        summariser_window_tokens=request.summariser_window_tokens,
    )
    return replace(plan, split=parts, task=task)


def _split_without_hints(request: CompactionRequest, messages: list[Msg], budget: Budget) -> Split:
    """The two parts without what was recalled, which leaves now; what belongs to the newest question stays with it."""
    parts = split(without_hints(messages), budget.keep_tokens, request.counter, request.policy)
    return replace(parts, kept=with_hints_before_question(parts.kept, newest_hints(messages)))


def _gained(request: CompactionRequest, budget: Budget, parts: Split) -> int:
    """What a compaction would free: what is folded, less what its summary is likely to grow by."""
    growth = round(parts.folded_tokens * _SUMMARY_SHARE)
    room = max(0, request.policy.summary_cap_tokens - budget.occupied.summary)
    return parts.folded_tokens - min(growth, room)


def _is_guarded(request: CompactionRequest, budget: Budget) -> bool:
    return request.reason == "automatic" and budget.urgency == "due"


def _measure(request: CompactionRequest, messages: list[Msg]) -> Budget:
    return measure(
        _occupied(request, request.previous_summary, messages),
        request.policy,
        request.guards,
        reported_tokens=request.reported_tokens,
        is_refused=request.reason == "overflow",
        is_manual=request.reason == "manual",
    )


def _occupied(request: CompactionRequest, summary: str, messages: list[Msg]) -> Occupied:
    quoted = pins_to_quote(request.pins, messages)
    pinned = pin_tokens(quoted, request.counter)
    message = write_summary_message(summary, quoted, request.language)
    return Occupied(
        system=request.system_tokens,
        tools=request.tool_tokens,
        summary=max(0, request.counter.text(message) - pinned),
        pins=pinned,
        messages=request.counter.messages(messages),
    )


def _unfolded(request: CompactionRequest, plan: Plan) -> Outcome:
    return _finish(
        request,
        Outcome(
            messages=plan.messages,
            summary=request.previous_summary,
            record=None,
            artifacts=plan.artifacts,
            failure=None,
            notices=plan.notices,
            measured=plan.budget,
            after_tokens=plan.budget.total_tokens,
            shortened=plan.shortened,
            is_over=False,
        ),
    )


def _folded(
    request: CompactionRequest, plan: Plan, parts: Split, task: SummaryTask, answer: Summary | SummaryFailure | None
) -> Outcome:
    files = merge_files(read_file_lists(request.previous_summary), files_of(parts.folded))
    summary = _write_summary(request, parts, task, answer, files)
    after = _occupied(request, summary, parts.kept).total
    is_fallback = not isinstance(answer, Summary)
    outcome = Outcome(
        messages=parts.kept,
        summary=summary,
        record=None,
        artifacts=plan.artifacts,
        failure=answer if isinstance(answer, SummaryFailure) else None,
        notices=(*plan.notices, fallback_notice(answer)) if isinstance(answer, SummaryFailure) else plan.notices,
        measured=plan.budget,
        after_tokens=after,
        shortened=plan.shortened,
        is_over=False,
    )
    outcome = _finish(request, outcome)
    record = CompactionRecord(
        session_id=request.session_id,
        compaction_id=request.compaction_id,
        parent_id=request.parent_id,
        at=request.at,
        keys=tuple(block_keys(parts.folded)),
        previous_summary=request.previous_summary,
        summary=summary,
        reason=request.reason,
        previous_tokens=plan.before_tokens,
        after_tokens=outcome.after_tokens,
        context_limit=request.policy.max_input_length,
        threshold_tokens=request.policy.threshold,
        folded_messages=len(parts.folded),
        kept_turns=parts.kept_turns,
        summary_tokens=request.counter.text(summary),
        fallback=is_fallback,
        carried_over=answer.carried_over if isinstance(answer, Summary) else (),
        read_files=files.read,
        modified_files=files.modified,
    )
    return replace(outcome, record=record)


def _write_summary(
    request: CompactionRequest,
    parts: Split,
    task: SummaryTask,
    answer: Summary | SummaryFailure | None,
    files: FileLists,
) -> str:
    said = (section.body for section in task.previous if section.key == USER_MESSAGES_KEY)
    earlier = [section for section in task.previous if section.key != USER_MESSAGES_KEY]
    document = DocumentParts(
        sections=(),
        asked=task.sections,
        new_user_entries=tuple(user_texts(parts.folded)),
        previous_user_section="\n".join(said),
        previous_text=write_sections(earlier),
        files=files,
        orders=(*orders_in_summary(request.previous_summary), *orders_of(parts.folded)),
    )
    if isinstance(answer, Summary):
        sections = answer.sections
    else:
        sections = digest_sections(
            parts.older,
            parts.turn_prefix,
            task.previous,
            request.policy.preset,
            request.language,
            tokens_for_sections(document, task.cap_tokens, request.counter, request.language),
            request.counter,
        )
    return write_document(replace(document, sections=sections), task.cap_tokens, request.counter, request.language)


def _finish(request: CompactionRequest, outcome: Outcome) -> Outcome:
    """Where even this is over the window, the results that always stay are cut like old ones; else it is said."""
    policy = request.policy
    if outcome.after_tokens < policy.overflow_tokens:
        return outcome
    short = shorten_results(outcome.messages, policy, 0, request.counter, request.place)
    after = _occupied(request, outcome.summary, short.messages).total
    is_over = after >= policy.overflow_tokens
    return replace(
        outcome,
        messages=short.messages,
        artifacts=(*outcome.artifacts, *short.artifacts),
        shortened=outcome.shortened + short.shortened,
        after_tokens=after,
        is_over=is_over,
        notices=(*outcome.notices, over_notice(after, policy)) if is_over else outcome.notices,
    )
