"""What a model, where one is set, may add: short forms of explanations and the bullets of the summary."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from assistant.config.prompts import language_of, render
from assistant.config.words import Language, say
from assistant.errors import ModelError
from assistant.openclaw.compression_options import AskModel, Mask, Options
from assistant.openclaw.entry_contents import condensed_mark, read_content
from assistant.openclaw.findings import SessionFinding
from assistant.openclaw.line_classes import Classified
from assistant.openclaw.rewriting import CONDENSED_CHARS
from assistant.openclaw.session_entries import SUMMARY_TAG, read_line
from assistant.openclaw.session_summary import (
    MAX_BULLETS,
    Bullet,
    bullets_from_notes,
    diary_name,
    read_summary,
    write_summary,
)
from assistant.openclaw.survey import Survey

_BATCH = 20
_MAX_BATCHES = 5
_EXCERPT_CHARS = 1_500
_NUMBERED = re.compile(r"^\s*(\d+)[.):：]\s*(\S.*)$")


@dataclass(frozen=True, slots=True)
class Advice:
    """What a model contributed: short forms of explanations by line index, and bullets for the summary."""

    gists: Mapping[int, str] = field(default_factory=dict[int, str])
    bullets: tuple[Bullet, ...] | None = None


def ask_for_advice(
    survey: Survey,
    classified: Classified,
    notes: Sequence[SessionFinding],
    options: Options,
    now: datetime,
    mask: Mask,
    ask: AskModel,
) -> tuple[Advice, tuple[str, ...]]:
    """The model's advice, and a sentence for each answer that could not be used; then code decides alone."""
    language = language_of(" ".join(line.opening for line in survey.lines[:200]))
    refused: list[str] = []
    gists: dict[int, str] = {}
    if options.mode == "standard":
        wordy = [
            at
            for at in survey.walk.path
            if classified.classes[at] == "P4"
            and survey.lines[at].kind == "assistant"
            and survey.lines[at].text_chars > CONDENSED_CHARS
        ]
        for start in range(0, min(len(wordy), _BATCH * _MAX_BATCHES), _BATCH):
            found = _ask_for_gists(survey, wordy[start : start + _BATCH], language, ask)
            gists.update(found)
            if not found:
                refused.append(say("openclaw_report", "gists_refused"))
                break
    bullets = _ask_for_bullets(survey, notes, language, now, mask, ask)
    if bullets is None:
        refused.append(say("openclaw_report", "summary_refused"))
    return Advice(gists, bullets), tuple(refused)


def _ask_for_gists(survey: Survey, lines: Sequence[int], language: Language, ask: AskModel) -> dict[int, str]:
    texts = [read_content(read_line(survey.lines[at].raw, at == 0)).text[:_EXCERPT_CHARS] for at in lines]
    prompt = render("openclaw_condense", language, texts=texts, limit_chars=CONDENSED_CHARS)
    gists: dict[int, str] = {}
    for line in _answer(ask, prompt).splitlines():
        found = _NUMBERED.match(line)
        number = int(found.group(1)) if found else 0
        if found and 1 <= number <= len(lines) and len(found.group(2)) <= 2 * CONDENSED_CHARS:
            at = lines[number - 1]
            gist = found.group(2).strip()
            if len(gist) < survey.lines[at].text_chars:
                gists[at] = f"{gist} {condensed_mark(survey.lines[at].text_chars - len(gist))}"
    return gists


def _ask_for_bullets(
    survey: Survey, notes: Sequence[SessionFinding], language: Language, now: datetime, mask: Mask, ask: AskModel
) -> tuple[Bullet, ...] | None:
    earlier = "\n\n".join(line.summary for line in survey.lines if line.summary)
    known = write_summary(bullets_from_notes(survey, notes, now, mask))
    tail = [
        f"{survey.lines[at].kind}: {survey.lines[at].opening}"
        for at in survey.walk.path[-40:]
        if survey.lines[at].opening
    ]
    prompt = render(
        "openclaw_summary",
        language,
        earlier=earlier,
        known=known,
        conversation=tail,
        diary=diary_name(now),
        max_bullets=MAX_BULLETS,
        tag=SUMMARY_TAG,
    )
    answer = _answer(ask, prompt)
    bullets = read_summary(answer).bullets if SUMMARY_TAG in answer else ()
    if not 0 < len(bullets) <= MAX_BULLETS:
        return None
    return tuple(
        replace(bullet, text=mask(bullet.text), reference=bullet.reference or _reference(bullet, notes, now))
        for bullet in bullets
    )


def _reference(bullet: Bullet, notes: Sequence[SessionFinding], now: datetime) -> str:
    stored = any(bullet.text in found.content or found.content in bullet.text for found in notes)
    return diary_name(now) if stored or bullet.tag in ("Decision", "Technical") else ""


def _answer(ask: AskModel, prompt: str) -> str:
    try:
        return ask(prompt)
    except ModelError:
        return ""
