"""Asks a given callable for the summary, checks each answer, retries once with the reason, and joins the parts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from assistant.compaction.summary.sections import (
    USER_MESSAGES_KEY,
    FilledSection,
    Section,
    merge_repeated,
    read_sections,
    sections_for,
)
from assistant.compaction.summary.summary_check import Rejection, clean_answer, reject_summary
from assistant.compaction.summary.summary_prompt import (
    TURN_PREFIX_CAP_RATIO,
    SummaryPrompt,
    SummaryTask,
    build_summary_prompt,
    history_prompt,
    turn_prefix_prompt,
)
from assistant.config.plain_reasons import plain_reason
from assistant.config.prompts import render
from assistant.errors import ModelError
from assistant.messages.tokens import TokenCounter

Ask = Callable[[str, str], Awaitable[str]]
"""`(system, user) -> answer`. Raises `ModelError` or `TimeoutError` when there is no answer."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Valid sections, a running turn's last; `carried_over` are titles of those the model left out."""

    sections: tuple[FilledSection, ...]
    carried_over: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SummaryFailure:
    """No valid summary: the prompts, every raw answer, and why."""

    prompt: SummaryPrompt
    raw: tuple[str, ...]
    reason: Rejection
    detail: str = ""


async def summarise(
    task: SummaryTask, ask: Ask, counter: TokenCounter, titles: Sequence[Section]
) -> Summary | SummaryFailure:
    """The summary of a task, piece by piece. `titles` are the sections' names in another language."""
    dialogue = _Dialogue(task, ask, counter)
    history = await _summarise_history(dialogue, titles)
    if isinstance(history, SummaryFailure):
        return history
    notes = await _summarise_turn_prefix(dialogue)
    if isinstance(notes, SummaryFailure):
        return notes
    running = task.running_turn
    sections = tuple(section for section in history.sections if section.key != running.key)
    if notes:
        sections = (*sections, FilledSection(running.key, running.title, notes))
    return replace(history, sections=sections)


class _Dialogue:
    """One task's questions to the model and every raw answer."""

    def __init__(self, task: SummaryTask, ask: Ask, counter: TokenCounter) -> None:
        self.task = task
        self._prompt = build_summary_prompt(task)
        self._answers: list[str] = []
        self._ask = ask
        self._counter = counter

    async def answer(
        self, user: str, asked: Sequence[Section], titles: Sequence[Section], source_tokens: int, cap_tokens: int
    ) -> str | SummaryFailure:
        """A valid answer, asked for twice at most. One still over the cap is handed back: it is cut later."""
        language = self.task.language
        reason: Rejection = "no_answer"
        question, text = user, ""
        for _ in range(2):
            try:
                answer = await self._ask(self._prompt.system, question)
            except (ModelError, TimeoutError) as error:
                return self._failure("no_answer", plain_reason(error))
            self._answers.append(answer)
            text = clean_answer(answer)
            rejection = reject_summary(text, asked, titles, language, source_tokens, cap_tokens, self._counter)
            if rejection is None:
                return text
            reason = rejection
            question = render(
                "summary_retry",
                language,
                prompt=user,
                reason=rejection,
                first_title=asked[0].title,
                source_tokens=source_tokens,
                max_tokens=cap_tokens,
            )
        return text if reason == "too_long" else self._failure(reason)

    def _failure(self, reason: Rejection, detail: str = "") -> SummaryFailure:
        return SummaryFailure(self._prompt, tuple(self._answers), reason, detail)


async def _summarise_history(dialogue: _Dialogue, titles: Sequence[Section]) -> Summary | SummaryFailure:
    task = dialogue.task
    sections = task.previous
    carried: dict[str, None] = {}
    for piece in task.history_pieces:
        user = history_prompt(task, piece, sections)
        text = await dialogue.answer(user, task.sections, titles, task.history_tokens, task.cap_tokens)
        if isinstance(text, SummaryFailure):
            return text
        written = merge_repeated(read_sections(text, task.sections, titles), task.sections)
        earlier = merge_repeated(sections, task.sections)
        carried.update(dict.fromkeys(s.title for s in task.sections if _is_left_out(s.key, written, earlier)))
        bodies = {s.key: written.get(s.key, "").strip() or earlier.get(s.key, "") for s in task.sections}
        sections = tuple(FilledSection(s.key, s.title, bodies[s.key]) for s in task.sections)
    return Summary(sections, tuple(carried))


async def _summarise_turn_prefix(dialogue: _Dialogue) -> str | SummaryFailure:
    task = dialogue.task
    asked = sections_for("turn_prefix", task.language)
    titles_of_prefix = sections_for("turn_prefix", "en" if task.language == "zh" else "zh")
    cap = round(task.cap_tokens * TURN_PREFIX_CAP_RATIO)
    notes = task.earlier_turn_notes
    for piece in task.turn_prefix_pieces:
        user = turn_prefix_prompt(task, piece, notes)
        text = await dialogue.answer(user, asked, titles_of_prefix, task.turn_prefix_tokens, cap)
        if isinstance(text, SummaryFailure):
            return text
        bodies = merge_repeated(read_sections(text, asked, titles_of_prefix), asked)
        notes = "\n\n".join(f"### {s.title}\n{bodies[s.key]}" for s in asked if s.key in bodies)
    return notes


def _is_left_out(key: str, written: dict[str, str], earlier: dict[str, str]) -> bool:
    is_empty = not written.get(key, "").strip()
    return key != USER_MESSAGES_KEY and is_empty and bool(earlier.get(key, "").strip())
