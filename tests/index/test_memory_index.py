"""The index as the rest of the program uses it."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from assistant.config.settings import StoreBackend
from assistant.index.chunker import JournalText
from assistant.index.memory_index import IndexStatus, MemoryIndex, SearchAnswer
from assistant.index.packing import Room
from assistant.index.quotes import Quote
from assistant.index.search_notices import LATE, NO_EMBEDDER, NO_INDEX, NOT_OWNER
from assistant.index.vectors.embeddings import OfflineEmbedder, Vectors
from tests.index.fakes import HashEmbedder
from tests.index.homes import opened, places, write


async def test_a_hit_names_its_place_and_shows_its_words(home: Path) -> None:
    write(home, "memory/2026-11-30.md", "# Monday\n\n## Tea\n\nShe likes green tea.\nSencha above all.\n")
    async with opened(home, HashEmbedder()) as index:
        answer = await index.search("green tea")
    assert answer.notices == ()
    (hit,) = answer.hits
    assert (hit.path, hit.first_line, hit.last_line, hit.heading, hit.day) == (
        "memory/2026-11-30.md",
        5,
        6,
        "Monday > Tea",
        "2026-11-30",
    )
    assert hit.snippet == hit.text == "She likes green tea.\nSencha above all."
    assert 0.1 <= hit.relevance <= 1.0


async def test_an_empty_home_answers_with_nothing_and_then_finds_what_comes(home: Path) -> None:
    async with opened(home, HashEmbedder()) as index:
        assert await index.search("tea") == SearchAnswer(())
        write(home, "memory/a.md", "green tea")
        await index.sync()
        assert places(await index.search("tea")) == [("memory/a.md", 1)]


@pytest.mark.parametrize("query", ["", "  \n", "\ud800", "?!", "的", "*" * 100_000])
async def test_no_question_is_too_odd_to_ask(home: Path, query: str) -> None:
    write(home, "memory/a.md", "green tea")
    async with opened(home, HashEmbedder()) as index:
        assert isinstance(await index.search(query), SearchAnswer)


async def test_two_languages_find_each_other_and_nonsense_finds_nothing(home: Path) -> None:
    write(home, "memory/2026-11-29.md", "# Work\nThe project is written in Python and uses SQLite for storage.\n")
    write(home, "memory/2026-11-28.md", "# 饮食\n她早上喜欢喝绿茶，不喝咖啡。\n")
    async with opened(home, OfflineEmbedder()) as index:
        assert places(await index.search("这个项目使用什么编程语言和数据库？")) == [("memory/2026-11-29.md", 2)]
        assert places(await index.search("What does she like to drink in the morning?")) == [
            ("memory/2026-11-28.md", 2)
        ]
        assert places(await index.search("Who composed the opera Rusalka?")) == []
        assert places(await index.search("怎样更换散热器的排气阀？")) == []


MANY_THINGS = """# Things around the house

- The morning was grey again. The spare key of my greenhouse hangs in the crimson drawer.
- There was a long queue at the counter. I decided to mark the greenhouse at night with the crimson lantern.
- The radio played the same songs until noon. My costs for the greenhouse stand in the crimson ledger.
- The morning was grey again. We keep water for the greenhouse in the crimson barrel.
- There was a long queue at the counter. My prize for the greenhouse was the crimson ribbon.
- The radio played the same songs until noon. I prefer tea at the greenhouse from the crimson kettle.
- The morning was grey again. My neighbour found the way to the greenhouse by the crimson compass.
- There was a long queue at the counter. We cover the greenhouse in winter with the crimson blanket.
- The radio played the same songs until noon. I always repair the greenhouse with the crimson hammer.
"""


async def test_the_same_question_finds_the_same_passages_again_and_after_a_rebuild(home: Path) -> None:
    for day in range(1, 6):
        entries = "\n".join(f"- 0{hour}:15 {word} {day}" for hour, word in enumerate(("tea", "a bus", "rain", "soup")))
        write(home, f"memory/2026-11-0{day}.md", f"# Day {day}\n{entries}\n- the spare key hangs behind clock {day}")
    embedder = HashEmbedder()
    embedder.reads_lines = True

    async def asked(index: MemoryIndex) -> tuple[Quote, ...]:
        found = await index.search_widely("where does the spare key hang", 0.0)
        return await index.quote("where does the spare key hang", found.hits, Room(120))

    async with opened(home, embedder) as index:
        first = await asked(index)
        assert [row.text for row in first[0].rows if row.is_answer] == ["- the spare key hangs behind clock 5"]
        assert [await asked(index) for _ in range(3)] == [first] * 3
        await index.rebuild()
        assert await asked(index) == first
        assert len(embedder.embedded) == len(set(embedder.embedded))


async def test_one_sentence_among_many_of_a_chunk_is_found_by_what_it_means(home: Path) -> None:
    write(home, "MEMORY.md", MANY_THINGS)
    async with opened(home, OfflineEmbedder()) as index:
        await index.sync()
        (hit,) = (await index.search("What protects the greenhouse in the cold months?")).hits
        nothing = (await index.search("What is the tax rate on dividends in Estonia?")).hits
    assert (hit.path, hit.line, hit.snippet) == (
        "MEMORY.md",
        10,
        "We cover the greenhouse in winter with the crimson blanket.",
    )
    assert nothing == ()


async def test_a_short_chinese_question_ranks_the_shared_word_first(home: Path) -> None:
    write(home, "memory/a.md", "项目使用 Python")
    write(home, "memory/b.md", "今天和朋友去爬山")
    write(home, "memory/c.md", "开始背英文单词")
    async with opened(home, OfflineEmbedder()) as index:
        assert places(await index.search("项目语言"))[:1] == [("memory/a.md", 1)]


async def test_a_day_that_is_asked_for_comes_first(home: Path) -> None:
    for day in (25, 28, 29):
        write(home, f"memory/2026-11-{day}.md", f"We spoke about the garden, number {day}.")
    async with opened(home, HashEmbedder()) as index:
        for question, day in (("garden yesterday", 29), ("上周三 garden", 25), ("garden on 2026-11-28", 28)):
            assert places(await index.search(question))[0] == (f"memory/2026-11-{day}.md", 1)


async def test_conversations_are_found_with_session_and_message(home: Path) -> None:
    at = "2026-11-30T08:00:00+00:00"
    texts = [
        JournalText("s1", "m1", "user", "text", "Which tea do I like?", at, line=1),
        JournalText("s1", "m2", "assistant", "text", "You said sencha.", at, line=4),
        JournalText("s1", "m3", "assistant", "tool_result", "total 0 drwxr-xr-x", at, "Bash", line=5),
        JournalText("s1", "m4", "assistant", "tool_result", "sencha again", at, "memory_search", line=6),
    ]
    write(home, "dialog/2026-11-30.jsonl", "{}")
    embedder = HashEmbedder()
    async with opened(home, embedder, read_dialog=lambda path: texts) as index:
        said = (await index.search("sencha")).hits
        listed = (await index.search("drwxr-xr-x")).hits
    assert [(hit.session_id, hit.message_id, hit.first_line, hit.last_line, hit.kind) for hit in said] == [
        ("s1", "m2", 1, 4, "said")
    ]
    assert [(hit.message_id, hit.kind) for hit in listed] == [("m3", "tool_result")]
    assert embedder.embedded[0] == "user: Which tea do I like?\nassistant: You said sencha."
    assert embedder.embedded[1:] == ["sencha", "drwxr-xr-x"]


async def test_unchanged_text_is_never_embedded_again(home: Path) -> None:
    write(home, "memory/a.md", "# One\ngreen tea\n# Two\nblack coffee\n")
    write(home, "memory/b.md", "white wine")
    embedder = HashEmbedder()
    async with opened(home, embedder) as index:
        assert sorted(embedder.embedded) == ["One\ngreen tea", "Two\nblack coffee", "white wine"]
        embedder.embedded.clear()
        write(home, "memory/a.md", "# Zero\nnew words\n# One\ngreen tea\n# Two\nblack coffee\n")
        (home / "memory/b.md").rename(home / "memory/c.md")
        await index.sync()
        assert embedder.embedded == ["Zero\nnew words"]
        assert places(await index.search("white wine"))[0] == ("memory/c.md", 1)
    async with opened(home, embedder) as index:
        await index.rebuild()
        assert places(await index.search("green tea"))[0] == ("memory/a.md", 4)
        shutil.rmtree(home / "index")
        await index.rebuild()
    assert [text for text in embedder.embedded if text not in ("dimensions", "white wine", "green tea")] == [
        "Zero\nnew words"
    ]


async def test_without_an_embedder_words_answer_and_say_so(home: Path) -> None:
    write(home, "memory/a.md", "green tea")
    async with opened(home) as index:
        answer = await index.search("green tea")
        status = index.status()
    assert (places(answer), answer.hits[0].relevance, answer.notices) == (
        [("memory/a.md", 1)],
        1.0,
        (NO_EMBEDDER.text("en"),),
    )
    assert status == IndexStatus(1, 1, 0, 1.0, "text", (NO_EMBEDDER.text("en"),))


async def test_an_embedder_that_is_down_is_made_up_for_when_it_is_back(home: Path) -> None:
    write(home, "memory/a.md", "green tea")
    embedder = HashEmbedder()
    embedder.is_down = True
    async with opened(home, embedder) as index:
        answer = await index.search("green tea")
        assert places(answer) == [("memory/a.md", 1)]
        assert answer.notices == ("Searching by words alone for now: The embedder is down.",)
        embedder.is_down = False
        await index.sync()
        assert (await index.search("green tea")).notices == ()
        assert index.status() == IndexStatus(1, 1, 0, 1.0, "hybrid", ())


async def test_an_embedder_that_goes_down_leaves_words(home: Path) -> None:
    write(home, "memory/a.md", "green tea")
    embedder = HashEmbedder()
    async with opened(home, embedder) as index:
        embedder.is_down = True
        answer = await index.search("green tea")
    assert (places(answer), len(answer.notices)) == ([("memory/a.md", 1)], 1)


class SlowEmbedder(HashEmbedder):
    """Takes for ever for questions."""

    async def embed(self, texts: list[str]) -> Vectors:  # type: ignore[override]
        if texts == ["green tea now"]:
            await asyncio.Event().wait()
        return await super().embed(texts)


async def test_a_slow_embedder_is_not_waited_for(home: Path) -> None:
    write(home, "memory/a.md", "green tea")
    async with opened(home, SlowEmbedder(), vector_seconds=0.05) as index:
        answer = await index.search("green tea now")
    assert (places(answer), answer.notices) == ([("memory/a.md", 1)], (LATE.text("en"),))


async def test_another_model_makes_vectors_of_its_own_and_uses_none_of_the_old(home: Path) -> None:
    write(home, "memory/a.md", "green tea")
    async with opened(home, HashEmbedder("one")):
        pass
    other = HashEmbedder("two")
    async with opened(home, other) as index:
        assert "green tea" in other.embedded
        assert places(await index.search("green tea")) == [("memory/a.md", 1)]
    again = HashEmbedder("one", dimensions=32)
    async with opened(home, again) as index:
        assert index.status().pending == 0
        assert "green tea" in again.embedded


@pytest.mark.parametrize("backend", ["local", "chroma"])
async def test_a_lost_or_damaged_index_comes_back_from_the_files(home: Path, backend: StoreBackend) -> None:
    for number in range(20):
        write(home, f"memory/{number}.md", f"note about subject{number}")
    embedder = HashEmbedder()
    async with opened(home, embedder, backend=backend):
        pass
    embedder.embedded.clear()
    for path in (home / "index").rglob("*"):
        if path.is_file() and path.name in ("full_text.sqlite", "vectors.sqlite", "chroma.sqlite3"):
            path.write_bytes(b"\xff" * 5000)
    async with opened(home, embedder, backend=backend) as index:
        assert index.status() == IndexStatus(20, 20, 0, 1.0, "hybrid", ())
        assert places(await index.search("subject7"))[0] == ("memory/7.md", 1)
    assert [text for text in embedder.embedded if text.startswith("note")] == []


async def test_an_index_damaged_while_it_is_open_is_made_anew(home: Path) -> None:
    for number in range(200):
        write(home, f"memory/{number}.md", f"note about subject{number} " + "filler " * 200)
    async with opened(home) as index:
        path = home / "index" / "full_text.sqlite"
        with path.open("r+b") as file:
            file.write(b"\xff" * path.stat().st_size)
        answer = await index.search("subject7")
        await index.sync()
        write(home, "memory/new.md", "subject7 again")
        await index.sync()
        found = places(await index.search("subject7"))
    assert answer.notices[-1] == NO_INDEX.text("en") or places(answer) == [("memory/7.md", 1)]
    assert ("memory/7.md", 1) in found
    assert ("memory/new.md", 1) in found


async def test_a_process_that_does_not_own_the_home_searches_words(home: Path) -> None:
    write(home, "memory/a.md", "green tea")
    async with opened(home, is_owner=False) as stranger:
        assert await stranger.search("tea") == SearchAnswer((), (NO_INDEX.text("en"),))
        assert stranger.status().mode == "off"
    async with opened(home, HashEmbedder()), opened(home, HashEmbedder(), is_owner=False) as guest:
        answer = await guest.search("green tea")
        assert (places(answer), answer.notices) == ([("memory/a.md", 1)], (NOT_OWNER.text("en"),))


class UnmeasuredEmbedder(HashEmbedder):
    """An embedder nobody has measured."""

    calibration = None


async def test_an_embedder_is_measured_once(home: Path) -> None:
    write(home, "memory/a.md", "green tea")
    first, second = UnmeasuredEmbedder(), UnmeasuredEmbedder()
    async with opened(home, first) as index:
        assert places(await index.search("green tea")) == [("memory/a.md", 1)]
    async with opened(home, second):
        pass
    assert (len(first.sampled), second.sampled) == (60, [])


async def test_a_purge_leaves_no_trace_in_the_index(home: Path) -> None:
    path = write(home, "memory/a.md", "the password is xyzzyplugh\n\n# Tea\ngreen tea\n")
    async with opened(home, HashEmbedder(), backend="chroma") as index:
        path.write_text("# Tea\ngreen tea\n", encoding="utf-8")
        await index.purge()
        assert places(await index.search("green tea")) == [("memory/a.md", 2)]
        left = [path for path in (home / "index").rglob("*") if path.is_file() and b"xyzzyplugh" in path.read_bytes()]
    assert left == []


async def test_odd_encodings_are_told_of(home: Path) -> None:
    write(home, "memory/a.md", "")
    (home / "memory/a.md").write_bytes("绿茶很好喝".encode("gbk"))
    async with opened(home, HashEmbedder()) as index:
        assert places(await index.search("绿茶")) == [("memory/a.md", 1)]
        told = "memory/a.md is not UTF-8 and was read as gb18030. It becomes UTF-8 with the next change to it."
        assert index.status().notices == (told,)
