"""How large a session is, raw and as a model sees it, and what of each class there is."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.openclaw.classify import CLASSES, Classified, LineClass
from assistant.openclaw.draft import Draft
from assistant.openclaw.survey import Survey


@dataclass(frozen=True, slots=True)
class Size:
    """How large a session is: the raw file, and what of it a model gets to see."""

    chars: int
    tokens: int
    context_chars: int
    context_tokens: int


@dataclass(frozen=True, slots=True)
class ClassCount:
    """What there was of one class, and what became of it."""

    name: LineClass
    lines: int
    chars: int
    tokens: int
    removed: int
    shortened: int


def measure_session(survey: Survey) -> Size:
    """The size of a session by both counts."""
    context = [survey.lines[at] for at in survey.walk.context]
    return Size(
        chars=survey.chars,
        tokens=int(sum(line.tokens for line in survey.lines)),
        context_chars=sum(line.content_chars for line in context),
        context_tokens=int(sum(line.content_tokens for line in context)),
    )


def count_classes(survey: Survey, classified: Classified, draft: Draft) -> tuple[ClassCount, ...]:
    """What there was of each class, and what the draft does with it."""
    counts: list[ClassCount] = []
    for name in CLASSES:
        members = [at for at, found in enumerate(classified.classes) if found == name]
        counts.append(
            ClassCount(
                name=name,
                lines=len(members),
                chars=sum(survey.lines[at].chars for at in members),
                tokens=int(sum(survey.lines[at].tokens for at in members)),
                removed=sum(at in draft.removed for at in members),
                shortened=sum(at in draft.rewritten and at not in draft.removed for at in members),
            )
        )
    return tuple(counts)
