"""What memory holds is handed over before a turn: found, told, given once, and there until a compaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assistant.agent.hooks.recall import RecallCost, is_about_memory
from assistant.agent.memory_room import STANDING_SHARE, most_recall_tokens
from assistant.index.search import SearchHit
from assistant.messages.blocks import block_keys, block_text
from assistant.messages.events import Event, Recalled, RecalledLine, RecallRefused, TurnFinished
from assistant.messages.hints import RECALL_SOURCE, hints_from
from assistant.models.scripted import ScriptedModel, ScriptedRequest
from assistant.storage.journal.journal import Journal
from assistant.storage.journal.rows import DroppedRow
from assistant.storage.workspace import Workspace
from tests.fakes.home import SUMMARY, say, scripted_assistant, text, until
from tests.index.homes import write

NOTE = "memory/2026-11-27.md"
FACT = "The dentist is in Harbour Lane, on the second floor."
QUESTION = "Where is the dentist in Harbour Lane?"
LONG = "The cellar was swept and the boats were counted. " * 200


def hits_of(*relevances: float) -> list[SearchHit]:
    """Hits of these relevances."""
    return [SearchHit("memory/a.md", 1, 1, "", "x", "x", relevance, "note", "") for relevance in relevances]


def recalled_in(events: Sequence[Event]) -> list[RecalledLine]:
    """The lines that were told as recalled."""
    return [line for event in events if isinstance(event, Recalled) for line in event.lines]


def words_of(request: ScriptedRequest) -> str:
    """Everything a request says, hints included."""
    return json.dumps([message.model_dump(mode="json") for message in request.messages])


def said_in_request(request: ScriptedRequest) -> list[tuple[str, str]]:
    """Each block of a request with the role of its message."""
    return [(message.role, block_text(block)) for message in request.messages for block in message.content]


@pytest.mark.parametrize(
    ("relevances", "is_recalled"),
    [
        ((), False),
        ((0.9, 0.8, 0.8, 0.8, 0.8, 0.8), True),
        ((0.3, 0.25, 0.25, 0.25, 0.25, 0.25), False),
        ((0.3, 0.25, 0.25, 0.25, 0.25, 0.05), True),
        ((0.3,), True),
        ((0.2,), False),
    ],
    ids=["nothing", "a sure one", "one of many", "one above the rest", "the only one", "hardly anything"],
)
def test_recall_speaks_up_when_the_best_hit_is_clearly_above_the_unrelated_ones(
    relevances: tuple[float, ...], is_recalled: bool
) -> None:
    assert is_about_memory(hits_of(*relevances)) is is_recalled


async def test_what_the_model_reads_anyway_is_not_recalled(home: Path) -> None:
    write(home, NOTE, f"- {FACT}\n")
    model = ScriptedModel([[text("There.")]])
    async with scripted_assistant(home, model, memory="on") as assistant:
        write(home, "MEMORY.md", f"- {FACT} Ring twice.\n")
        await assistant.index.sync()
        events = await say(assistant, assistant.conversations.create(), QUESTION)
    assert [line.path for line in recalled_in(events)] == [NOTE]


async def test_the_question_comes_last(home: Path) -> None:
    write(home, NOTE, f"- {FACT}\n")
    model = ScriptedModel([[text("There.")]])
    async with scripted_assistant(home, model, memory="on") as assistant:
        await assistant.index.sync()
        await say(assistant, assistant.conversations.create(), QUESTION)
    *_, recalled, question = model.requests[0].messages
    assert FACT in str(recalled.content)
    assert question.get_text_content() == QUESTION


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
    assert (line.place, line.day, line.text) == (f"{NOTE}:3", "2026-11-27", f"- {FACT}")
    assert f"[{NOTE}:3 | 2026-11-27]\\n- {FACT}" in words_of(model.requests[0])
    assert recalled_in(second) == []
    before = said_in_request(model.requests[0])
    assert said_in_request(model.requests[1])[: len(before)] == before
    assert [FACT in words for words in context].count(True) == 1


async def test_what_was_recalled_is_not_recalled_again_while_it_stands_in_the_context(home: Path) -> None:
    write(home, NOTE, f"- {FACT}\n")
    model = ScriptedModel([[text("There.")], [text("As I said.")]])
    async with scripted_assistant(home, model, memory="on") as assistant:
        await assistant.index.sync()
        conversation = assistant.conversations.create()
        asked = [recalled_in(await say(assistant, conversation, QUESTION)) for _ in range(2)]
    # A conversation that is left is written to memory, and asks the model as well.
    async with scripted_assistant(home, again := ScriptedModel([[text("Fine.")]] * 4), memory="on") as assistant:
        await assistant.index.sync()
        conversation = assistant.conversations.open(conversation.session_id)
        asked.append(recalled_in(await say(assistant, conversation, QUESTION)))
    assert [len(lines) for lines in asked] == [1, 0, 0]
    before = said_in_request(model.requests[1])
    after = next(said_in_request(request) for request in again.requests if "Bash" in request.tools)
    assert after[: len(before)] == before


async def test_a_line_that_was_changed_since_is_recalled(home: Path) -> None:
    write(home, NOTE, f"- {FACT}\n")
    model = ScriptedModel([[text("There.")], [text("It moved.")]])
    async with scripted_assistant(home, model, memory="on") as assistant:
        await assistant.index.sync()
        conversation = assistant.conversations.create()
        await say(assistant, conversation, QUESTION)
        write(home, NOTE, "- The dentist in Harbour Lane moved to the third floor.\n")
        await assistant.index.sync()
        asked = recalled_in(await say(assistant, conversation, QUESTION))
    assert [line.text for line in asked] == ["- The dentist in Harbour Lane moved to the third floor."]


async def test_what_was_recalled_leaves_together_once_it_takes_too_much(home: Path) -> None:
    names = ("Alder", "Birch", "Cedar", "Damson")
    for number, name in enumerate(names, 1):
        lines = (
            f"- {name} Street has house {house}, where the {name} tailor keeps {house} coats.\n" for house in range(40)
        )
        write(home, f"memory/2026-11-0{number}.md", "".join(lines))
    model = ScriptedModel([[text("So many.")]] * 4, context_size=16_000)
    async with scripted_assistant(home, model, memory="on") as assistant:
        await assistant.index.sync()
        conversation = assistant.conversations.create()
        for name in names:
            assert recalled_in(await say(assistant, conversation, f"How many coats are in {name} Street?"))
        limit = assistant.policy.max_input_length * STANDING_SHARE
        sizes = [
            sum(map(assistant.counter.block, hints_from(RECALL_SOURCE, request.messages))) for request in model.requests
        ]
    assert max(sizes) <= limit
    hints = [hints_from(RECALL_SOURCE, request.messages) for request in model.requests]
    assert [len(standing) for standing in hints] == [1, 1, 1, 1]
    assert ["Damson" in block_text(standing[-1]) for standing in hints][-1]


async def test_what_left_to_make_room_is_recalled_again_with_the_rest(home: Path) -> None:
    write(home, NOTE, f"- {FACT}\n")
    streets = [f"- Alder Street has house {house}, where the tailor keeps {house} coats.\n" for house in range(60)]
    write(home, "memory/2026-11-28.md", "".join(streets))
    model = ScriptedModel([[text("There.")]] * 3, context_size=16_000)
    async with scripted_assistant(home, model, memory="on") as assistant:
        await assistant.index.sync()
        conversation = assistant.conversations.create()
        asked = [
            recalled_in(await say(assistant, conversation, said))
            for said in (QUESTION, "How many coats are in Alder Street?", f"{QUESTION} And coats in Alder Street?")
        ]
    assert [[FACT in line.text for line in lines].count(True) for lines in asked] == [1, 0, 1]
    assert len(hints_from(RECALL_SOURCE, model.requests[2].messages)) == 1


async def test_what_a_compaction_took_is_looked_up_again_in_the_same_turn_and_told(home: Path) -> None:
    write(home, NOTE, f"- {FACT}\n")
    counted = "\n".join(f"Boat {number} was counted and the cellar was swept." for number in range(200))
    model = ScriptedModel([[text("There.")], [text("Yes.")], [text(counted)], [text(SUMMARY)], *[[text("There.")]] * 4])
    async with scripted_assistant(home, model, memory="on", compact_threshold=9_000) as assistant:
        await assistant.index.sync()
        conversation = assistant.conversations.create()
        told = [recalled_in(await say(assistant, conversation, said)) for said in (QUESTION, counted, counted)]
        events = await say(assistant, conversation, QUESTION)
    assert [len(lines) for lines in told] == [1, 0, 0]
    assert f"- {FACT}" in [line.text for line in recalled_in(events)]
    assert [event.type for event in events if event.type in ("context_compressed", "recalled")] == [
        "context_compressed",
        "recalled",
    ]
    asked = [request for request in model.requests if "Bash" in request.tools]
    assert FACT in words_of(asked[-1])


async def test_what_stays_with_the_newest_question_over_a_compaction_is_not_recalled_again(home: Path) -> None:
    write(home, NOTE, f"- {FACT}\n")
    model = ScriptedModel([[text("Yes.")], [text("There.")], [text(SUMMARY)], *[[text("There.")]] * 4])
    async with scripted_assistant(home, model, memory="on") as assistant:
        await assistant.index.sync()
        conversation = assistant.conversations.create()
        for said in (LONG, QUESTION, "/compact"):
            await say(assistant, conversation, said)
        assert conversation.compaction_id is not None
        again = recalled_in(await say(assistant, conversation, QUESTION))
    last = [request for request in model.requests if "Bash" in request.tools][-1]
    assert (again, len(hints_from(RECALL_SOURCE, last.messages))) == ([], 1)


async def test_what_was_recalled_for_a_message_leaves_with_it_when_that_is_edited(home: Path) -> None:
    write(home, NOTE, f"- {FACT}\n")
    model = ScriptedModel([[text("There.")], [text("Good morning.")]])
    async with scripted_assistant(home, model, memory="on") as assistant:
        await assistant.index.sync()
        conversation = assistant.conversations.create()
        await say(assistant, conversation, QUESTION)
        (question,) = conversation.questions()
        start = conversation.next_number
        conversation.edit(question.message_id, "Good morning")
        await until(conversation, TurnFinished, start)
    assert (question.later_messages, FACT in words_of(model.requests[1])) == (1, False)


async def test_what_was_recalled_leaves_with_its_message_where_a_kill_came_between(
    home: Path,
) -> None:
    write(home, NOTE, f"- {FACT}\n")
    async with scripted_assistant(home, ScriptedModel([[text("There.")]]), memory="on") as assistant:
        await assistant.index.sync()
        conversation = assistant.conversations.create()
        await say(assistant, conversation, QUESTION)
        hint, *rest = assistant.store.sessions.load(conversation.session_id).messages
    assert FACT in str(hint.content)
    # The journal says that the message left; the session file was not written any more.
    dropped = DroppedRow(conversation.session_id, tuple(block_keys(rest)), "edit", "2026-11-30T09:15:00+00:00")
    Journal(Workspace(home), lambda: datetime.now(UTC)).append([dropped])
    again = ScriptedModel([[text("Good morning.")]] * 2)
    async with scripted_assistant(home, again, memory="on") as assistant:
        conversation = assistant.conversations.open(conversation.session_id)
        await say(assistant, conversation, "Good morning")
    assert not any(FACT in words_of(request) for request in again.requests)


async def test_a_retry_is_given_what_was_recalled_the_first_time(home: Path) -> None:
    write(home, NOTE, f"- {FACT}\n")
    model = ScriptedModel([[text("Hm.")], [text("There.")]])
    async with scripted_assistant(home, model, memory="on") as assistant:
        await assistant.index.sync()
        conversation = assistant.conversations.create()
        await say(assistant, conversation, QUESTION)
        start = conversation.next_number
        conversation.retry()
        await until(conversation, TurnFinished, start)
    assert said_in_request(model.requests[1]) == said_in_request(model.requests[0])


async def test_what_another_conversation_wrote_into_a_file_of_the_prompt_since_is_recalled(home: Path) -> None:
    model = ScriptedModel([[text("Hello.")], [text("There.")]])
    async with scripted_assistant(home, model, memory="on") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Good morning")
        assistant.notes.add_lines("MEMORY.md", "Facts", [FACT], "flush")
        await assistant.index.sync()
        asked = recalled_in(await say(assistant, conversation, QUESTION))
    assert [(line.path, line.text) for line in asked] == [("MEMORY.md", f"- {FACT}")]


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


async def test_a_passage_that_was_not_helpful_stays_out_of_its_conversation_after_a_restart_too(home: Path) -> None:
    write(home, NOTE, f"- {FACT}\n")
    # A conversation that is left is written to memory, and asks the model as well.
    model = ScriptedModel([[text("There.")], [text("Hm.")], *[[text("Fine.")]] * 4])
    async with scripted_assistant(home, model, memory="on") as assistant:
        await assistant.index.sync()
        conversation = assistant.conversations.create()
        (line,) = recalled_in(await say(assistant, conversation, QUESTION))
        conversation.refuse_recall(line)
        assert NOTE not in [line.path for line in recalled_in(await say(assistant, conversation, QUESTION))]
        assert FACT in words_of(model.requests[0])
        assert FACT not in words_of(model.requests[1])
        other = assistant.conversations.create()
        assert NOTE in [line.path for line in recalled_in(await say(assistant, other, QUESTION))]

    async with scripted_assistant(home, ScriptedModel([[text("Fine.")]] * 4), memory="on") as assistant:
        await assistant.index.sync()
        conversation = assistant.conversations.open(conversation.session_id)
        assert RecallRefused(line.mark) in conversation.attach().history
        assert NOTE not in [line.path for line in recalled_in(await say(assistant, conversation, QUESTION))]


async def test_what_recall_takes_is_counted(home: Path) -> None:
    write(home, NOTE, f"- {FACT}\n")
    model = ScriptedModel([[text("There.")], [text("Hm.")]])
    async with scripted_assistant(home, model, memory="on") as assistant:
        await assistant.index.sync()
        assert assistant.recall_cost == RecallCost(most_recall_tokens(assistant.policy), 0, 0)
        conversation = assistant.conversations.create()
        events = await say(assistant, conversation, QUESTION)
        (tokens,) = [event.tokens for event in events if isinstance(event, Recalled)]
        assert tokens >= assistant.counter.text(FACT)
        await say(assistant, conversation, "Explain the Sicilian Defence, Najdorf variation")
        assert (assistant.recall_cost.messages, assistant.recall_cost.tokens_a_message) == (2, round(tokens / 2))


@pytest.mark.parametrize(
    ("first", "follow_up", "note"),
    [
        ("Tell me about the kayak trip to Vis", "And when was that?", "The kayak trip to Vis was on 14 June."),
        ("说说我去黄山的旅行", "那是什么时候？", "去黄山的旅行是六月十四日。"),
    ],
    ids=["English", "Chinese"],
)
async def test_a_follow_up_is_looked_up_with_what_it_follows(home: Path, first: str, follow_up: str, note: str) -> None:
    model = ScriptedModel([[text("Gladly.")], [text("In June.")]])
    async with scripted_assistant(home, model, memory="on") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, first)
        write(home, NOTE, f"- {note}\n")
        await assistant.index.sync()
        events = await say(assistant, conversation, follow_up)
    assert [line.text for line in recalled_in(events)] == [f"- {note}"]
