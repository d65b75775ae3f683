"""A few notes and questions in two languages, by which an embedder is centred, and calibrated if nobody has done so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assistant.index.text.terms import content_terms, every_term
from assistant.index.vectors.calibration import Calibration, MatchSignals, calibrate, direction_of
from assistant.index.vectors.centring import Centring

Embed = Callable[[Sequence[str]], Awaitable[npt.NDArray[np.float32]]]
"""One vector of length 1 a text."""

SAMPLES_VERSION = 1
"""Changes with the texts: what was measured by others is measured again."""


@dataclass(frozen=True, slots=True)
class CalibrationSample:
    """A note, a question it answers, and a question no note answers, in one language."""

    note: str
    related: str
    unrelated: str


ENGLISH = (
    CalibrationSample(
        "The project is written in Python and keeps its data in SQLite.",
        "Which programming language does the project use?",
        "How is steel hardened?",
    ),
    CalibrationSample(
        "Prefers green tea in the morning and no coffee after noon.",
        "What is drunk in the morning?",
        "What is the capital of Mongolia?",
    ),
    CalibrationSample(
        "The flat is on the third floor; the spare key lies under the red flower pot.",
        "Where is the spare key?",
        "How do bats find their way in the dark?",
    ),
    CalibrationSample(
        "The flight to Lisbon leaves on Friday at seven in the evening.",
        "When does the plane leave?",
        "What caused the French Revolution?",
    ),
    CalibrationSample(
        "The dog is allergic to chicken and gets fish instead.",
        "What may the dog not eat?",
        "Which gas do stars burn?",
    ),
    CalibrationSample(
        "The release was moved from Monday to Thursday because the tests were too slow.",
        "Why was the release postponed?",
        "How many strings has a harp?",
    ),
    CalibrationSample(
        "Practises the cello every evening for half an hour.",
        "Which instrument is practised?",
        "How deep is the Mariana Trench?",
    ),
    CalibrationSample(
        "The doctor advised less salt and a walk after dinner.",
        "What did the doctor recommend?",
        "What is a prime number?",
    ),
    CalibrationSample(
        "The garden needs new soil before the tomatoes are planted in May.",
        "What has to be done in the garden?",
        "How does a jet engine work?",
    ),
    CalibrationSample(
        "The budget for the kitchen is eight thousand, half of it for the cupboards.",
        "How much may the kitchen cost?",
        "Which alphabet did the Phoenicians use?",
    ),
)
CHINESE = (
    CalibrationSample("项目用 Python 编写，数据保存在 SQLite 里。", "项目用的是什么编程语言？", "钢是怎样淬火的？"),
    CalibrationSample("早上喜欢喝绿茶，中午以后不喝咖啡。", "早上喝什么？", "蒙古的首都是哪里？"),
    CalibrationSample("公寓在三楼，备用钥匙放在红色花盆下面。", "备用钥匙在哪里？", "蝙蝠在黑暗中如何辨别方向？"),
    CalibrationSample("去里斯本的航班星期五晚上七点起飞。", "飞机几点起飞？", "法国大革命的起因是什么？"),
    CalibrationSample("狗对鸡肉过敏，所以改吃鱼。", "狗不能吃什么？", "恒星燃烧的是哪种气体？"),
    CalibrationSample("因为测试太慢，发布从星期一推迟到星期四。", "为什么推迟发布？", "竖琴有多少根弦？"),
    CalibrationSample("每天晚上练半小时大提琴。", "练的是什么乐器？", "马里亚纳海沟有多深？"),
    CalibrationSample("医生建议少吃盐，晚饭后散步。", "医生有什么建议？", "什么是质数？"),
    CalibrationSample("五月种番茄之前，花园要换新土。", "花园里要做什么？", "喷气发动机的原理是什么？"),
    CalibrationSample("厨房预算八千，其中一半用来买橱柜。", "厨房打算花多少钱？", "腓尼基人使用哪种字母？"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """What these texts tell of an embedder."""

    centring: Centring
    calibration: Calibration
    """Rougher than measured on much text, far better than another model's."""


async def measure_embedder(embed: Embed) -> Measurement:
    """Embed the texts once, and read from their vectors how the embedder's cosines are to be taken."""
    samples = (*ENGLISH, *CHINESE)
    notes = [sample.note for sample in samples]
    questions = [*(sample.related for sample in samples), *(sample.unrelated for sample in samples)]
    vectors = await embed([*notes, *questions])
    of_notes, of_questions = vectors[: len(notes)], vectors[len(notes) :]
    centring = Centring(of_questions.mean(axis=0), of_notes.mean(axis=0))
    cosines = (of_questions - centring.question) @ (of_notes - centring.text).T
    related: list[list[MatchSignals]] = []
    unrelated: list[list[MatchSignals]] = []
    for number, question in enumerate(questions):
        asked = related if number < len(notes) else unrelated
        for home in (slice(0, len(ENGLISH)), slice(len(ENGLISH), None)):
            pairs = zip(notes[home], cosines[number, home], strict=True)
            asked.append([_signals_of(question, note, float(cosine)) for note, cosine in pairs])
    return Measurement(centring, calibrate(related, unrelated))


def _signals_of(question: str, note: str, cosine: float) -> MatchSignals:
    return MatchSignals(_share(question, note), cosine, direction_of(question, note))


def _share(question: str, note: str) -> float:
    terms, there = content_terms(question), set(every_term(note))
    return sum(term in there for term in terms) / len(terms) if terms else 0.0
