"""A few notes and questions in two languages, by which an embedder is centred, and calibrated if nobody has done so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from pydantic import TypeAdapter

from assistant.config.words import LANGUAGES, Language, read_table
from assistant.index.text.terms import content_terms, every_term
from assistant.index.vectors.calibration import Calibration, MatchSignals, calibrate, direction_of
from assistant.index.vectors.centring import Centring

Embed = Callable[[Sequence[str]], Awaitable[npt.NDArray[np.float32]]]
"""One vector of length 1 a text."""

SAMPLES_VERSION = 1
"""Changes with the texts: what was measured by others is measured again."""


@dataclass(frozen=True, slots=True)
class CalibrationExample:
    """A note, a question it answers, and a question no note answers, in one language."""

    note: str
    related: str
    unrelated: str


_SAMPLES = TypeAdapter(list[CalibrationExample])


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """What was measured of an embedder with these texts."""

    centring: Centring
    calibration: Calibration
    """Rougher than measured on much text, far better than another model's."""


async def measure_embedder(embed: Embed) -> Measurement:
    """Embed the texts once, and read from their vectors how the embedder's cosines are to be taken."""
    by_language = [calibration_examples(language) for language in LANGUAGES]
    examples = [example for several in by_language for example in several]
    notes = [example.note for example in examples]
    questions = [*(example.related for example in examples), *(example.unrelated for example in examples)]
    vectors = await embed([*notes, *questions])
    of_notes, of_questions = vectors[: len(notes)], vectors[len(notes) :]
    centring = Centring(of_questions.mean(axis=0), of_notes.mean(axis=0))
    cosines = (of_questions - centring.question) @ (of_notes - centring.text).T
    related: list[list[MatchSignals]] = []
    unrelated: list[list[MatchSignals]] = []
    for number, question in enumerate(questions):
        asked = related if number < len(notes) else unrelated
        first = 0
        for several in by_language:
            home = slice(first, first := first + len(several))
            pairs = zip(notes[home], cosines[number, home], strict=True)
            asked.append([_signals_of(question, note, float(cosine)) for note, cosine in pairs])
    return Measurement(centring, calibrate(related, unrelated))


def calibration_examples(language: Language) -> list[CalibrationExample]:
    """The texts of a language."""
    return _SAMPLES.validate_python(read_table("calibration", language)["samples"])


def _signals_of(question: str, note: str, cosine: float) -> MatchSignals:
    return MatchSignals(_share(question, note), cosine, direction_of(question, note))


def _share(question: str, note: str) -> float:
    terms, there = content_terms(question), set(every_term(note))
    return sum(term in there for term in terms) / len(terms) if terms else 0.0
