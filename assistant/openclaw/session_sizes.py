"""How large a session is: estimated tokens of a text, the size of the file, and the share of each class."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from assistant.openclaw.compression_options import EstimatorName, Weigh
from assistant.openclaw.compression_plan import CompressionDraft
from assistant.openclaw.line_classes import CLASSES, Classified, LineClass
from assistant.openclaw.survey import Survey

CHARS_PER_TOKEN: dict[EstimatorName, float] = {"mixed": 3.0, "chinese": 1.5, "english": 4.0, "code": 3.5}
# Han, kana, hangul and full-width forms: about one token for one and a half characters.
_WIDE = re.compile("[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")


def choose_weigh(name: EstimatorName, count_tokens: Callable[[str], int] | None = None) -> Weigh:
    """The function that weighs a text in tokens; a tokenizer, where one is given, goes before the divisors."""
    if count_tokens is not None:
        return count_tokens
    if name == "auto":
        return _weigh_by_script
    divisor = CHARS_PER_TOKEN[name]
    return lambda text: len(text) / divisor


@dataclass(frozen=True, slots=True)
class SessionSize:
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


def measure_session(survey: Survey) -> SessionSize:
    """The size of a session by both counts."""
    context = [survey.lines[at] for at in survey.walk.context]
    return SessionSize(
        chars=survey.chars,
        tokens=int(sum(line.tokens for line in survey.lines)),
        context_chars=sum(line.content_chars for line in context),
        context_tokens=int(sum(line.content_tokens for line in context)),
    )


def count_classes(survey: Survey, classified: Classified, draft: CompressionDraft) -> tuple[ClassCount, ...]:
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


def _weigh_by_script(text: str) -> float:
    if text.isascii():
        return len(text) / CHARS_PER_TOKEN["english"]
    wide = len(_WIDE.findall(text))
    return wide / CHARS_PER_TOKEN["chinese"] + (len(text) - wide) / CHARS_PER_TOKEN["english"]
