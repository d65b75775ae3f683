"""What is left of what was said: facts planted before five compactions, and LoCoMo's own questions at 16,000 tokens.

Without a model three scripted summarisers write summaries and notes, and a question finds the three sentences that are
nearest to it by meaning. `--base-url URL --model NAME` lets a real model write and answer. A question of LoCoMo is
asked as in a turn: beside the context there is what recall hands over, and the result of one search of memory. What a
reader finds in everything that was said is the most that it could find in what is left.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from agentscope.model import ChatResponse

from assistant.assembly.assistant import Assistant, open_assistant
from assistant.config.settings import Settings
from assistant.conversation.conversation import Conversation
from assistant.index.packing import Room
from assistant.index.quotes import Quote
from assistant.index.vectors.embeddings import OfflineEmbedder
from assistant.messages.blocks import TextBlock, UserMsg
from assistant.messages.events import ContextCompressed
from benchmarks.figures import Figure, report
from benchmarks.remembered import recalled
from benchmarks.replaying.dialogue import DATA_VARIABLE, LOCOMO_NAME, MissingDataError
from tests.fakes.players import Quality, RuleBasedPlayer
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import ChatRequest, Reply, sentences

WINDOW_TOKENS = 16_000
COMPACTIONS = 5
QUALITIES: tuple[Quality, ...] = ("good", "lossy", "failing")
_SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"
_TURNS_A_MESSAGE = 5
_SHORT_CHARS = 12
_ADVERSARIAL = 5
_ANSWER = "Answer in a few words from this text alone.\n\n<text>\n{text}\n</text>\n\nQuestion: {question}"

_SENTENCES_READ = 3
_SEARCH_TOKENS = 2_000
_MOST_FILLER = 60

Answer = Callable[[str, str], Awaitable[list[str]]]
"""(all that is known, question) → what is answered; one of several counts."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, what a right answer holds, and the sentences that tell it."""

    text: str
    gold: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """What the assistant has at hand after a conversation, as text."""

    context: str
    memory: str
    compactions: int


class Summariser(RuleBasedPlayer):
    """Writes summaries and notes in one quality: a lossy note has every other line, a failing one is an error."""

    def __call__(self, request: ChatRequest) -> Reply:
        """The reply; only that to a flush differs from the player's own."""
        reply = super().__call__(request)
        if "add_lines" not in request.tools or self.quality == "good":
            return reply
        if self.quality == "failing":
            return Reply(text="no notes today", status=500)
        halved = [
            replace(call, arguments={**call.arguments, "lines": _lines_of(call.arguments)[::2]})
            for call in reply.calls
            if isinstance(call.arguments, dict)
        ]
        return replace(reply, calls=tuple(halved))


def main() -> int:
    """Measure and report; the exit code is 0 unless something broke."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="figures as lines of JSON")
    parser.add_argument("--base-url", default="", help="an OpenAI-compatible server that writes and answers")
    parser.add_argument("--model", default="", help="its model")
    parser.add_argument("--api-key", default="none")
    options = parser.parse_args()
    figures: list[Figure] = []
    for quality in ("model",) if options.base_url else QUALITIES:
        figures += asyncio.run(_measure(quality, options))
    return report(figures)


async def _measure(quality: str, options: argparse.Namespace) -> list[Figure]:
    player = (
        None
        if options.base_url
        else StrictProvider(Summariser(quality=_quality(quality)), window_tokens=WINDOW_TOKENS, chunk_chars=2_000)
    )
    with tempfile.TemporaryDirectory() as folder, player or nullcontext():
        address = {"base_url": player.base_url if player else options.base_url, "model": options.model}
        chosen = {**address, "provider": "openai", "api_key": options.api_key, "max_input_length": WINDOW_TOKENS}
        settings = Settings.model_validate(
            {**chosen, "memory_store_backend": "local", "recall": "off", "language": "en"}
        )
        figures = await _measure_facts(settings.model_copy(update={"home": Path(folder) / "facts"}), quality)
        try:
            figures += await _measure_locomo(settings.model_copy(update={"home": Path(folder) / "locomo"}), quality)
        except MissingDataError as error:
            print(error, file=sys.stderr)
    return figures


async def _measure_facts(settings: Settings, quality: str) -> list[Figure]:
    facts = list(planted_facts())
    messages = [f"{_SMALL_TALK[index % len(_SMALL_TALK)]} {fact.evidence[0]}" for index, fact in enumerate(facts)]
    share = len(messages) // COMPACTIONS
    async with open_assistant(settings) as assistant:
        conversation = assistant.conversations.create()
        for start in range(0, len(messages), share):
            for message in messages[start : start + share]:
                await _say(conversation, message)
            await _fill_until_compacted(conversation, start // share)
        known = await _known(assistant, conversation)
        answer = await _answer_by(assistant, is_scripted=quality != "model")
        name = f"{quality}: {len(facts)} facts, {known.compactions} compactions"
        said = "\n".join(fact.evidence[0] for fact in facts)
        return [
            Figure(f"{name}, all that was said", await _score(said, facts, answer), "%"),
            Figure(f"{name}, still in context", await _score(known.context, facts, answer), "%"),
            Figure(f"{name}, in a memory file", await _score(known.memory, facts, answer), "%"),
            Figure(f"{name}, in a search", await _score_search(assistant, facts, answer), "%"),
        ]


async def _measure_locomo(settings: Settings, quality: str) -> list[Figure]:
    turns, questions = locomo_material()
    async with open_assistant(settings) as assistant:
        conversation = assistant.conversations.create()
        ids: dict[str, str] = {}
        messages = [
            "\n".join(turns[start : start + _TURNS_A_MESSAGE]) for start in range(0, len(turns), _TURNS_A_MESSAGE)
        ]
        for message in messages:
            await _say(conversation, message)
            ids |= _ids_in_context(conversation)
        known = await _known(assistant, conversation)
        await assistant.index.sync()
        answer = await _answer_by(assistant, is_scripted=quality != "model")
        newest = _newest(messages, assistant)
        truncated = _Asked(
            assistant, newest, frozenset(ids[text] for text in messages if text in newest and text in ids)
        )
        compacted = _Asked(assistant, known.context, frozenset(_ids_in_context(conversation).values()))
        whole = await _score("\n".join(turns), questions, answer)
        cut = await _score(newest, questions, answer)
        turn = await _score_asked(compacted.turn, questions, answer)
        figures = {
            "no compaction, no window": whole,
            "truncation": cut,
            "truncation and recall": await _score_asked(truncated.with_recall, questions, answer),
            f"{known.compactions} compactions without recall": await _score(known.context, questions, answer),
            "compactions and recall": await _score_asked(compacted.with_recall, questions, answer),
            "compactions, recall and one search": turn,
        }
        name = f"{quality}: LoCoMo, {len(questions)} questions"
        return [
            *(Figure(f"{name}, {how}", value, "%") for how, value in figures.items()),
            Figure(f"{name}, a turn against no compaction", 100 * turn / whole, "%", at_least=90.0),
            Figure(f"{name}, a turn above truncation", turn - cut, "points", at_least=0.0),
        ]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a model has at hand when it is asked: the context, and what memory brings that is not in it."""

    assistant: Assistant
    context: str
    known_ids: frozenset[str]

    async def with_recall(self, question: str) -> str:
        quotes = await recalled(self.assistant.index, question, known_ids=self.known_ids)
        return f"{self.context}\n{_text_of(quotes)}"

    async def turn(self, question: str) -> str:
        found = await self.assistant.index.search_widely(question)
        quotes = await self.assistant.index.quote(question, found.hits, Room(_SEARCH_TOKENS), self.known_ids)
        return f"{await self.with_recall(question)}\n{_text_of(quotes)}"


def _text_of(quotes: Sequence[Quote]) -> str:
    return "\n".join(row.text for quote in quotes for row in quote.rows)


def _ids_in_context(conversation: Conversation) -> dict[str, str]:
    """Text and id of each message of the person that the model still sees."""
    items = conversation.context_items()
    return {item.text: item.key.message_id for item in items if item.is_user and item.key is not None}


async def _score_asked(known: Callable[[str], Awaitable[str]], questions: Sequence[Question], answer: Answer) -> float:
    """Per cent of right answers, each from what is known for its question."""
    right = 0
    for question in questions:
        right += any(_is_right(given, question) for given in await answer(await known(question.text), question.text))
    return 100 * right / len(questions)


def planted_facts() -> Iterator[Question]:
    """A hundred facts, each with a question that says it in other words."""
    for number, thing in enumerate(_THINGS):
        for kind, (statement, question) in enumerate(_TEMPLATES):
            value = f"{_COLOURS[number]} {_PLACES[kind]}"
            yield Question(question.format(thing=thing), value, (statement.format(thing=thing, value=value),))


def locomo_material() -> tuple[list[str], list[Question]]:
    """The turns of LoCoMo's first dialogue, and its questions but for those that have no answer in it."""
    path = Path(os.environ.get(DATA_VARIABLE) or _SHARED_DATA) / LOCOMO_NAME
    if not path.is_file():
        raise MissingDataError(f"{path} is not there; `python -m benchmarks replay` says where to get it.")
    sample = json.loads(path.read_text(encoding="utf-8"))[0]
    conversation = sample["conversation"]
    turns: dict[str, str] = {}
    for number in range(1, 100):
        for turn in conversation.get(f"session_{number}", []):
            when = conversation[f"session_{number}_date_time"]
            turns[turn["dia_id"]] = f"{turn['speaker']} ({when}): {turn['text']}"
    questions = [
        Question(str(row["question"]), str(row["answer"]), tuple(turns.get(name, "") for name in row["evidence"]))
        for row in sample["qa"]
        if row["category"] != _ADVERSARIAL
    ]
    return list(turns.values()), questions


async def _score(known: str, questions: Sequence[Question], answer: Answer) -> float:
    """Per cent of right answers."""
    right = 0
    for question in questions:
        right += any(_is_right(given, question) for given in await answer(known, question.text))
    return 100 * right / len(questions)


async def _score_search(assistant: Assistant, questions: Sequence[Question], answer: Answer) -> float:
    """Per cent of right answers from what a search for the question shows, nothing of the context left out."""
    await assistant.index.sync()
    right = 0
    for question in questions:
        found = await assistant.index.search_widely(question.text)
        quotes = await assistant.index.quote(question.text, found.hits, Room(_SEARCH_TOKENS))
        shown = _text_of(quotes)
        right += any(_is_right(given, question) for given in await answer(shown, question.text)) if shown else False
    return 100 * right / len(questions)


def _is_right(given: str, question: Question) -> bool:
    """The very sentence that tells it, or the gold's words; of a long one three in four."""
    told = len(given) > _SHORT_CHARS and any(given in evidence for evidence in question.evidence)
    gold, found = Counter(_plain(question.gold)), Counter(_plain(given))
    return told or (gold & found).total() >= max(1, math.ceil(0.75 * gold.total()))


async def _answer_by(assistant: Assistant, *, is_scripted: bool) -> Answer:
    if is_scripted:
        reader = OfflineEmbedder()
        await reader.open()
        return _nearest_by(reader)

    async def ask(known: str, question: str) -> list[str]:
        stream = await assistant.model.model([UserMsg("user", _ANSWER.format(text=known, question=question))])
        assert not isinstance(stream, ChatResponse)
        chunks = [chunk async for chunk in stream]
        return ["".join(block.text for block in chunks[-1].content if isinstance(block, TextBlock))]

    return ask


def _nearest_by(reader: OfflineEmbedder) -> Answer:
    vectors: dict[str, np.ndarray] = {}

    async def answer(known: str, question: str) -> list[str]:
        said = [line for line in dict.fromkeys(sentences(known)) if len(line) > _SHORT_CHARS and line[-1] not in "?？"]
        new = [line for line in (*said, question) if line not in vectors]
        if new:
            vectors.update(zip(new, await reader.embed(new), strict=True))
        likeness = np.array([vectors[line] @ vectors[question] for line in said])
        return [said[index] for index in np.argsort(-likeness)[:_SENTENCES_READ]]

    return answer


async def _fill_until_compacted(conversation: Conversation, done: int) -> None:
    """Small talk until the next compaction came by itself."""
    for index in range(_MOST_FILLER):
        if _compactions(conversation) > done:
            return
        await _say(conversation, _SMALL_TALK[index % len(_SMALL_TALK)] * 30)


def _compactions(conversation: Conversation) -> int:
    return sum(isinstance(event, ContextCompressed) for event in conversation.attach().history)


async def _say(conversation: Conversation, text: str) -> None:
    conversation.ask(text)
    await conversation.wait()


async def _known(assistant: Assistant, conversation: Conversation) -> Known:
    await assistant.flushes.wait()
    items = [item for item in conversation.context_items() if item.part in ("summary", "messages", "pins")]
    files = [path for path in assistant.workspace.memory_files() if path.is_file()]
    return Known(
        context="\n".join(item.text for item in items),
        memory="\n".join(path.read_text(encoding="utf-8") for path in files),
        compactions=_compactions(conversation),
    )


def _newest(turns: Sequence[str], assistant: Assistant) -> str:
    left, kept = assistant.policy.threshold, list[str]()
    for turn in reversed(turns):
        left -= assistant.counter.text(turn)
        if left < 0:
            break
        kept.append(turn)
    return "\n".join(reversed(kept))


def _plain(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def _lines_of(arguments: dict[str, object]) -> list[object]:
    lines = arguments.get("lines")
    return lines if isinstance(lines, list) else json.loads(str(lines))


def _quality(name: str) -> Quality:
    return next(quality for quality in QUALITIES if quality == name)


_THINGS = ("boat", "greenhouse", "workshop", "bakery", "orchard", "chapel", "ferry", "library", "windmill", "cottage")
_COLOURS = ("amber", "crimson", "ivory", "teal", "violet", "silver", "ochre", "indigo", "olive", "scarlet")
_PLACES = ("drawer", "lantern", "ledger", "barrel", "ribbon", "kettle", "compass", "blanket", "hammer", "basket")
# Statement and question share the thing they are about, and little else.
_TEMPLATES = (
    ("The spare key of my {thing} hangs in the {value}.", "Where do I find another way to unlock the {thing}?"),
    ("I decided to mark the {thing} at night with the {value}.", "By what can one see my {thing} in the dark?"),
    ("My costs for the {thing} stand in the {value}.", "Which thing records what the {thing} has swallowed in money?"),
    ("We keep water for the {thing} in the {value}.", "What holds the drinking supply at the {thing}?"),
    ("My prize for the {thing} was the {value}.", "What did the jury hand over on account of the {thing}?"),
    ("I prefer tea at the {thing} from the {value}.", "Out of what do hot drinks come when I am at the {thing}?"),
    ("My neighbour found the way to the {thing} by the {value}.", "What guided somebody next door to the {thing}?"),
    ("We cover the {thing} in winter with the {value}.", "What protects the {thing} in the cold months?"),
    ("I always repair the {thing} with the {value}.", "Which tool mends the {thing}?"),
    ("My lunch at the {thing} waits in the {value}.", "What do I open at noon to eat at the {thing}?"),
)
_SMALL_TALK = (
    "The morning was grey again and the trams ran late. ",
    "There was a long queue at the counter, as every week. ",
    "The radio played the same three songs until noon. ",
)


if __name__ == "__main__":
    sys.exit(main())
