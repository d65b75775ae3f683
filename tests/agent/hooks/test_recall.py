"""What memory holds is handed over before a turn: found, told, given once, and gone when the turn ends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assistant.agent.hooks.recall import MAX_TOKENS, choose_lines
from assistant.index.search import SearchHit
from assistant.messages.events import Event, Recalled, RecalledLine
from assistant.models.scripted import ScriptedModel, ScriptedRequest
from tests.fakes.home import SUMMARY, say, scripted_assistant, text
from tests.index.homes import write

NOTE = "memory/2026-11-27.md"
FACT = "The dentist is in Harbour Lane, on the second floor."
QUESTION = "Where is the dentist in Harbour Lane?"
LONG = "The cellar was swept and the boats were counted. " * 200


def hit(path: str, snippet: str = "likes green tea", message_id: str = "") -> SearchHit:
    """A sure hit of one line."""
    return SearchHit(
        path=path,
        first_line=4,
        last_line=4,
        line=4,
        heading="",
        day="",
        kind="note",
        session_id="",
        message_id=message_id,
        text=snippet,
        snippet=snippet,
        relevance=0.87654,
    )


def by_words(text: str) -> int:
    """A word is a token here."""
    return len(text.split())


def recalled_in(events: Sequence[Event]) -> list[RecalledLine]:
    """The lines that were told as recalled."""
    return [line for event in events if isinstance(event, Recalled) for line in event.lines]


def words_of(request: ScriptedRequest) -> str:
    """Everything a request says, hints included."""
    return json.dumps([message.model_dump(mode="json") for message in request.messages])


def test_a_line_names_its_place_and_how_sure_it_is() -> None:
    assert choose_lines([hit(NOTE)], set(), by_words) == (RecalledLine(NOTE, 4, "likes green tea", 0.877),)


def test_what_the_model_reads_anyway_is_not_recalled() -> None:
    hits = [hit("USER.md"), hit("MEMORY.md"), hit("dialog/2026-11-27.jsonl", message_id="m1"), hit(NOTE)]
    assert [line.path for line in choose_lines(hits, {"m1"}, by_words)] == [NOTE]
    assert [line.path for line in choose_lines(hits, {"m2"}, by_words)] == ["dialog/2026-11-27.jsonl", NOTE]


def test_three_lines_are_enough_and_a_huge_one_gives_way_to_those_that_fit() -> None:
    hits = [hit(f"memory/2026-11-0{day}.md") for day in range(1, 6)]
    assert len(choose_lines(hits, set(), by_words)) == 3
    huge = replace(hits[1], snippet="word " * MAX_TOKENS)
    assert [line.path for line in choose_lines([hits[0], huge, hits[2]], set(), by_words)] == [
        "memory/2026-11-01.md",
        "memory/2026-11-03.md",
    ]


async def test_a_question_about_the_past_is_answered_from_memory_without_a_search_by_the_model(home: Path) -> None:
    write(home, NOTE, f"# Friday\n\n- {FACT}\n")
    model = ScriptedModel([[text("In Harbour Lane.")], [text("You are welcome.")]])
    async with scripted_assistant(home, model, memory="on") as assistant:
        await assistant.index.sync()
        conversation = assistant.conversations.create()
        first = await say(assistant, conversation, QUESTION)
        second = await say(assistant, conversation, "Which opera did Rusalka sing?")
        context = [item.text for item in conversation.context_items()]

    (line,) = recalled_in(first)
    assert (line.path, line.line, line.text) == (NOTE, 3, f"- {FACT}")
    assert f"[{NOTE}:3] - {FACT}" in words_of(model.requests[0])
    assert recalled_in(second) == []
    assert FACT not in words_of(model.requests[1])
    assert [words for words in context if FACT in words] == []


async def test_recall_can_be_switched_off(home: Path) -> None:
    write(home, NOTE, f"- {FACT}\n")
    model = ScriptedModel([[text("I do not know.")]])
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        await assistant.index.sync()
        told = await say(assistant, assistant.conversations.create(), QUESTION)
    assert recalled_in(told) == []
    assert FACT not in words_of(model.requests[0])


async def test_what_was_recalled_is_neither_summarised_nor_learnt_nor_found_again(home: Path) -> None:
    write(home, NOTE, f"- {FACT}\n")
    model = ScriptedModel([[text("There.")], [text("Noted.")], [text(SUMMARY)], [text("NO_REPLY")]])
    async with scripted_assistant(home, model, memory="on") as assistant:
        await assistant.index.sync()
        conversation = assistant.conversations.create()
        assert len(recalled_in(await say(assistant, conversation, QUESTION))) == 1
        await say(assistant, conversation, LONG)
        await say(assistant, conversation, "/compact")
        await assistant.flushes.wait()
        await assistant.index.sync()
        found = await assistant.index.search("second floor", 20)

    summarised, flushed = (words_of(request) for request in model.requests[2:])
    assert QUESTION in summarised
    assert FACT not in summarised
    assert QUESTION in flushed
    # The note itself is shown, so that nothing in it is written again.
    assert FACT in flushed.partition("<conversation>")[0]
    assert FACT not in flushed.partition("<conversation>")[2]
    assert [hit.path for hit in found.hits] == [NOTE]


async def test_recall_begins_as_the_settings_say_and_follows_its_switch(home: Path) -> None:
    model = ScriptedModel([[text("One.")], [text("Two.")], [text("Three.")]])
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        assistant.notes.add_lines("memory/2026-11-29.md", "Events", ["filler", "Compared hotels in Alfama"], "owner")
        question = "Which hotels did we compare in Alfama?"
        switched: list[list[str]] = []
        for is_on in (assistant.is_recall_on, True, False):
            assistant.is_recall_on = is_on
            events = await say(assistant, assistant.conversations.create(), question)
            switched.append([line.path for line in recalled_in(events) if line.path.startswith("memory/")])
    assert switched == [[], ["memory/2026-11-29.md"], []]


async def test_a_recalled_line_names_the_line_and_the_message_it_comes_from(home: Path) -> None:
    model = ScriptedModel([[text("Noted.")], [text("On the fridge.")], [text("I do not know.")]])
    async with scripted_assistant(home, model, memory="on", recall="on") as assistant:
        first = assistant.conversations.create()
        await say(assistant, first, "The gate code hangs on the fridge")
        await assistant.index.sync_words()
        events = await say(assistant, assistant.conversations.create(), "Where hangs the gate code?")
        line, *_ = recalled_in(events)
        assert line.session_id == first.session_id
        assert line.message_id in {message.id for message in assistant.store.sessions.load(first.session_id).messages}

        await assistant.conversations.trash(first.session_id)
        events = await say(assistant, assistant.conversations.create(), "Where hangs the gate code?")
        assert first.session_id not in {line.session_id for line in recalled_in(events)}
