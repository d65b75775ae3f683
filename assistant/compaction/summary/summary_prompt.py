"""What a summariser is asked: the older part and the previous summary as prompts. No model is called here."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.compaction.policy import CompactionPolicy, PresetName
from assistant.compaction.split import Split
from assistant.compaction.summary.file_tracking import without_file_lists
from assistant.compaction.summary.quoted_history import (
    fence_safe,
    shorten_for_reading,
    split_in_pieces,
    write_transcript,
)
from assistant.compaction.summary.sections import (
    RUNNING_TURN_KEY,
    FilledSection,
    Section,
    read_sections,
    running_turn_section,
    sections_for,
    write_sections,
)
from assistant.config.prompts import render
from assistant.config.words import Language
from assistant.messages.blocks import TextBlock
from assistant.messages.tokens import TokenCounter

TURN_PREFIX_CAP_RATIO = 0.5
"""Share of the summary's cap for the part about a running turn."""
# One piece of conversation leaves room in the summariser's window for the previous summary, the answer, the
# instructions, and for what a count before calibration misses.
_PIECE_RATIO = 0.8
_INSTRUCTION_TOKENS = 1_000
_MIN_PIECE_TOKENS = 400
_REQUEST_BYTES = 4_000
_HOMES_OF_PLAIN_WORDS = ("context", "current_state")


@dataclass(frozen=True, slots=True)
class SummaryPrompt:
    """Ready prompts; a user part is empty when there is nothing to ask about it."""

    system: str
    history_user: str
    turn_prefix_user: str


@dataclass(frozen=True, slots=True)
class SummaryTask:
    """All that goes into a summary: pieces of conversation in order, each small enough for one call."""

    sections: tuple[Section, ...]
    language: Language
    history_pieces: tuple[str, ...]
    turn_prefix_pieces: tuple[str, ...]
    request: str
    previous: tuple[FilledSection, ...]
    """Sections of the previous summary; empty for a first one."""
    hint: str
    cap_tokens: int
    history_tokens: int
    turn_prefix_tokens: int

    @property
    def running_turn(self) -> Section:
        """The section about a running turn."""
        return running_turn_section(self.language)

    @property
    def is_same_turn(self) -> bool:
        """True when only further steps of the running turn are folded, so that its earlier notes are continued."""
        return not self.history_pieces

    @property
    def earlier_turn_notes(self) -> str:
        """What the previous summary holds about the running turn."""
        notes = [section.body for section in self.previous if section.key == RUNNING_TURN_KEY]
        return "\n".join(notes) if self.is_same_turn else ""


def summary_task(
    split: Split,
    previous_summary: str,
    policy: CompactionPolicy,
    language: Language,
    counter: TokenCounter,
    *,
    hint: str = "",
    summariser_window_tokens: int | None = None,
) -> SummaryTask:
    """The task for a split. `summariser_window_tokens` is the window of the model that is asked, None: the chat's."""
    window = summariser_window_tokens or policy.max_input_length
    cap = policy.summary_cap_tokens
    beside = counter.text(previous_summary) + 2 * cap + _INSTRUCTION_TOKENS
    piece_tokens = max(_MIN_PIECE_TOKENS, min(round(window * _PIECE_RATIO), window - beside))
    history = write_transcript(split.older)
    prefix = write_transcript(split.turn_prefix)
    sections = sections_for(policy.preset, language)
    return SummaryTask(
        sections=sections,
        language=language,
        history_pieces=tuple(split_in_pieces(history, piece_tokens, counter)),
        turn_prefix_pieces=tuple(split_in_pieces(prefix, piece_tokens, counter)),
        request=_request_text(split),
        previous=read_previous(previous_summary, policy.preset, language),
        hint=fence_safe(hint.strip()),
        cap_tokens=cap,
        history_tokens=sum(counter.text(entry) for entry in history),
        turn_prefix_tokens=sum(counter.text(entry) for entry in prefix),
    )


def read_previous(previous_summary: str, preset: PresetName, language: Language) -> tuple[FilledSection, ...]:
    """The sections of a previous summary, its file lists left out; words before the first heading are key context."""
    asked = (*sections_for(preset, language), running_turn_section(language))
    home = next(section for section in asked if section.key in _HOMES_OF_PLAIN_WORDS)
    text = f"## {home.title}\n{without_file_lists(previous_summary)}"
    found = read_sections(text, asked, other_titles(preset, language))
    return tuple(section for section in found if section.body.strip())


def other_titles(preset: PresetName, language: Language) -> tuple[Section, ...]:
    """The same sections in the other language, by which a model may have named them."""
    other: Language = "en" if language == "zh" else "zh"
    return (*sections_for(preset, other), running_turn_section(other))


def build_summary_prompt(task: SummaryTask) -> SummaryPrompt:
    """The prompts for the first pieces of a task; later pieces are asked as updates of the answer before."""
    return SummaryPrompt(
        system=render("summary_system", task.language),
        history_user=history_prompt(task, task.history_pieces[0], task.previous) if task.history_pieces else "",
        turn_prefix_user=turn_prefix_prompt(task, task.turn_prefix_pieces[0], task.earlier_turn_notes)
        if task.turn_prefix_pieces
        else "",
    )


def history_prompt(task: SummaryTask, piece: str, previous: tuple[FilledSection, ...]) -> str:
    """One piece of history to summarise from scratch, or as an update of `previous`."""
    asked = {"sections": task.sections, "max_tokens": task.cap_tokens, "hint": task.hint}
    if not any(section.body.strip() for section in previous):
        return render("summary_initial", task.language, conversation=piece, **asked)
    return render(
        "summary_update",
        task.language,
        conversation=piece,
        previous_summary=fence_safe(write_sections(previous)),
        has_running_turn=any(section.key == RUNNING_TURN_KEY for section in previous),
        running_turn_title=task.running_turn.title,
        **asked,
    )


def turn_prefix_prompt(task: SummaryTask, piece: str, earlier: str) -> str:
    """One piece of a running turn to summarise; `earlier` is what was noted of steps before it."""
    return render(
        "summary_turn_prefix",
        task.language,
        conversation=piece,
        request=task.request,
        earlier=fence_safe(earlier),
        sections=sections_for("turn_prefix", task.language),
        max_tokens=round(task.cap_tokens * TURN_PREFIX_CAP_RATIO),
        hint=task.hint,
    )


def _request_text(split: Split) -> str:
    if split.request is None:
        return ""
    text = "\n".join(block.text for block in split.request.content if isinstance(block, TextBlock))
    # It stays in the context whole; here it only shows what the steps are for.
    return fence_safe(shorten_for_reading(text, _REQUEST_BYTES))
