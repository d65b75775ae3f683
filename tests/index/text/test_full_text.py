"""Chunk rows and the words in them."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.errors import IndexingError
from assistant.index.chunker import chunk_markdown
from assistant.index.question import read_question
from assistant.index.text.chunk_rows import EmbeddedChunk, Source, VectorFacts
from assistant.index.text.full_text import FullText, open_full_text

TODAY = dt.date(2026, 11, 30)
FACTS = VectorFacts(0.5, b"signs")


@pytest.fixture
def full_text(tmp_path: Path) -> Iterator[FullText]:
    index = FullText(tmp_path / "index" / "full_text.sqlite")
    yield index
    index.close()


def put(index: FullText, name: str, text: str) -> None:
    with index.changing() as changes:
        changes.put(Source(name, "digest", ""), chunk_markdown(name, text))


def found(index: FullText, question: str) -> list[str]:
    ids = [hit.chunk_id for hit in index.rank(read_question(question, TODAY))]
    rows = index.chunks(ids)
    return [rows[chunk_id].text for chunk_id in ids]


def shares(index: FullText, question: str) -> list[float]:
    asked = read_question(question, TODAY)
    ids = [hit.chunk_id for hit in index.rank(asked)]
    by_id = index.shares(asked, ids)
    return [round(by_id[chunk_id], 3) for chunk_id in ids]


def test_words_of_two_characters_are_found_in_chinese(full_text: FullText) -> None:
    put(full_text, "memory/a.md", "项目使用 Python")
    put(full_text, "memory/b.md", "今天天气很好，我们去公园散步")
    put(full_text, "memory/c.md", "她在学一门新的外语")
    assert found(full_text, "项目语言") == ["项目使用 Python"]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("我们玩了成语接龙的游戏", "成语接龙"),
        ("配置飞书的插件需要管理员", "飞书插件配置"),
        ("The plugins were configured", "configuring a plugin"),
        ("Ｐｙｔｈｏｎ　３", "python 3"),
        ("naïve café", "naive cafe"),
        ("Đà Nẵng", "da nang"),
        ("Tiếng Việt", "tieng viet"),
        ("Łódź", "lodz"),
        ("Größe", "grosse"),
        ("Ὀδυσσεύς", "οδυσσευς"),
        ("한국어", "\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165"),
        ("क़लम", "कलम"),
        ("ฉันชอบดื่มชาเขียวทุกเช้า", "ชาเขียว"),
        ("ខ្ញុំចូលចិត្តតែបៃតង", "តែបៃតង"),
        ("كَتَبْتُ إلى مُحَمَّد", "الي محمد"),
        ("Geldim İSTANBUL", "istanbul"),
        ("We met 👩\u200d💻 there", "👩💻"),
        ("snake_case and kebab-case", "kebab"),
    ],
)
def test_other_forms_of_the_same_words_are_found(full_text: FullText, text: str, question: str) -> None:
    put(full_text, "memory/a.md", text)
    assert found(full_text, question) == [text]


@pytest.mark.parametrize(
    "question", ['"', "* OR", "NEAR(a b)", "a AND", "-x", "((", "col:", "'; DROP TABLE words", "😀", "\ud800"]
)
def test_no_question_is_a_query_language(full_text: FullText, question: str) -> None:
    put(full_text, "memory/a.md", "green tea")
    assert found(full_text, question) in ([], ["green tea"])


def test_a_day_in_the_question_finds_the_notes_of_that_day(full_text: FullText) -> None:
    put(full_text, "memory/2026-11-28.md", "talked about Python and tests")
    put(full_text, "memory/2026-11-29.md", "talked about Python")
    put(full_text, "memory/2026-11-27.md", "the decision of 2026-11-29 was moved")
    assert found(full_text, "what did I say about Python yesterday?")[0] == "talked about Python"
    assert found(full_text, "昨天做了什么") == ["talked about Python", "the decision of 2026-11-29 was moved"]
    assert found(full_text, "2026-11-28")[0] == "talked about Python and tests"


def test_shares_weigh_rare_words_more(full_text: FullText) -> None:
    for number in range(20):
        put(full_text, f"memory/{number}.md", "tea")
    put(full_text, "memory/x.md", "tea sencha")
    assert shares(full_text, "sencha tea")[:2] == [1.0, 0.008]
    assert shares(full_text, "gyokuro tea")[0] < 0.01


def test_a_term_in_very_many_chunks_is_still_told_of_each(full_text: FullText) -> None:
    text = "".join(f"## {number}\ncommon\n" for number in range(2_100)) + "## last\ncommon rare\n"
    put(full_text, "memory/a.md", text)
    asked = read_question("common rare", TODAY)
    ids = [hit.chunk_id for hit in full_text.rank(asked)]
    everything = full_text.shares(asked, ids)
    assert everything[ids[0]] == pytest.approx(1.0)
    assert 0.0 < everything[ids[1]] < 0.01
    assert full_text.shares(asked, ids[:2]) == {chunk_id: everything[chunk_id] for chunk_id in ids[:2]}


def test_a_common_word_alone_does_not_find_where_very_many_chunks_have_a_rarer_one(full_text: FullText) -> None:
    both = "".join(f"## {number}\ncommon tea\n" for number in range(1_000))
    one = "".join(f"## {number}\ncommon\n" for number in range(4_000))
    put(full_text, "memory/a.md", f"{both}{one}## last\ncommon tea sencha\n")
    texts = found(full_text, "common sencha tea")
    assert (texts[0], set(texts[1:]), len(texts)) == ("common tea sencha", {"common tea"}, 200)
    assert found(full_text, "common")[0] == "common"


def test_a_chunk_that_changed_is_no_longer_found_by_its_old_words(full_text: FullText) -> None:
    put(full_text, "memory/a.md", "# One\ngreen tea\n# Two\nblack coffee")
    put(full_text, "memory/a.md", "# One\nwhite wine\n# Two\nblack coffee")
    assert (found(full_text, "tea"), found(full_text, "wine"), found(full_text, "coffee")) == (
        [],
        ["white wine"],
        ["black coffee"],
    )


def test_only_changed_chunks_need_a_vector_and_removed_ones_are_told_of(full_text: FullText) -> None:
    put(full_text, "memory/a.md", "# One\ngreen tea\n# Two\nblack coffee\n# Three\nwater")
    with full_text.changing() as changes:
        changes.mark_embedded(waiting := full_text.pending(10), [FACTS] * len(waiting))
    put(full_text, "memory/a.md", "# One\ngreen tea\n# Two\nwhite wine")
    assert [chunk.meaning for chunk in full_text.pending(10)] == ["Two\nwhite wine"]
    assert full_text.removed_keys(10) == ["memory/a.md#2"]


def test_the_signs_of_lines_are_there_as_long_as_their_chunk(full_text: FullText) -> None:
    put(full_text, "memory/a.md", "# One\ngreen tea\n# Two\nblack coffee\n# Three\nwater")
    first, second, third = full_text.pending(10)
    with full_text.changing() as changes:
        changes.mark_embedded([first, second, third], [FACTS, VectorFacts(0.5, b""), FACTS])
    assert sorted(full_text.line_signs([1, 2, 3])) == [1, 3]
    put(full_text, "memory/a.md", "# One\nwhite wine\n# Two\nblack coffee\n# Three\nwater")
    assert full_text.line_signs([1, 2, 3, 4]) == {3: b"signs"}


def test_a_chunk_that_changed_while_its_vector_was_made_stays_pending(full_text: FullText) -> None:
    put(full_text, "memory/a.md", "green tea")
    being_embedded = full_text.pending(10)
    put(full_text, "memory/a.md", "white wine")
    with full_text.changing() as changes:
        changes.mark_embedded(being_embedded, [FACTS] * len(being_embedded))
    assert [chunk.meaning for chunk in full_text.pending(10)] == ["white wine"]


def test_a_transaction_that_fails_changes_nothing(full_text: FullText) -> None:
    put(full_text, "memory/a.md", "green tea")
    with pytest.raises(RuntimeError), full_text.changing() as changes:
        changes.remove("memory/a.md")
        raise RuntimeError
    assert found(full_text, "tea") == ["green tea"]


def test_a_reader_beside_the_owner_sees_what_is_committed(full_text: FullText) -> None:
    put(full_text, "memory/a.md", "green tea")
    reader = FullText(full_text.path, is_writable=False)
    assert found(reader, "tea") == ["green tea"]
    with pytest.raises(IndexingError, match="not open for writing"), reader.changing():
        pass
    reader.close()


def test_a_reader_opens_what_an_owner_left_behind(full_text: FullText) -> None:
    put(full_text, "memory/a.md", "green tea")
    full_text.close()
    reader = FullText(full_text.path, is_writable=False)
    assert found(reader, "tea") == ["green tea"]
    reader.close()


@pytest.mark.parametrize("damage", [b"", b"not a database at all" * 400], ids=["emptied", "overwritten"])
def test_a_damaged_file_is_begun_anew(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "full_text.sqlite"
    path.write_bytes(damage)
    index = open_full_text(path)
    assert index.counts().chunks == 0
    put(index, "memory/a.md", "green tea")
    assert found(index, "tea") == ["green tea"]
    index.close()


def test_damaged_pages_are_noticed_at_the_start(full_text: FullText) -> None:
    for number in range(200):
        put(full_text, f"memory/{number}.md", f"note {number} " + "tea " * 50)
    full_text.close()
    content = bytearray(full_text.path.read_bytes())
    content[8192:20480] = b"\xff" * 12288
    full_text.path.write_bytes(content)
    with pytest.raises(IndexingError):
        FullText(full_text.path)


def test_an_index_of_another_version_is_begun_anew(full_text: FullText) -> None:
    put(full_text, "memory/a.md", "green tea")
    full_text.close()
    connection = sqlite3.connect(full_text.path)
    with connection:
        connection.execute("UPDATE facts SET value = 'older' WHERE name = 'version'")
    connection.close()
    with pytest.raises(IndexingError, match="another version"):
        FullText(full_text.path, is_writable=False)
    index = FullText(full_text.path)
    assert index.counts().chunks == 0
    index.close()


def test_scrubbing_leaves_no_trace_of_removed_words(full_text: FullText) -> None:
    put(full_text, "memory/a.md", "the password is xyzzyplugh")
    put(full_text, "memory/b.md", "green tea")
    put(full_text, "memory/a.md", "nothing")
    full_text.scrub()
    files = full_text.path.parent.glob("full_text.sqlite*")
    assert not any(b"xyzzyplugh" in path.read_bytes() for path in files)
    assert found(full_text, "tea") == ["green tea"]


def test_what_is_known_of_vectors_goes_with_their_model(full_text: FullText) -> None:
    put(full_text, "memory/a.md", "green tea")
    (chunk,) = full_text.pending(10)
    with full_text.changing() as changes:
        changes.begin_space("one model")
        changes.mark_embedded([chunk], [FACTS])
    assert full_text.embedded([chunk.key]) == {chunk.key: EmbeddedChunk(1, 0.5)}
    for space, is_embedded in (("one model", True), ("another model", False)):
        with full_text.changing() as changes:
            changes.begin_space(space)
            changes.mark_pending([chunk.key])
            changes.mark_present([chunk.key])
        assert (chunk.key in full_text.embedded([chunk.key])) is is_embedded


def test_only_chunks_whose_vectors_are_made_are_told_of(full_text: FullText) -> None:
    put(full_text, "memory/a.md", "# One\ngreen tea\n# Two\nblack coffee")
    one, two = full_text.pending(10)
    with full_text.changing() as changes:
        changes.mark_embedded([one], [FACTS])
    assert full_text.embedded([one.key, two.key, "unknown"]) == {one.key: EmbeddedChunk(2, 0.5)}
    assert full_text.embedded([]) == {}


def test_a_thousand_edits_leave_the_index_as_large_as_it_was(full_text: FullText, tmp_path: Path) -> None:
    path = tmp_path / "index" / "full_text.sqlite"
    sizes: list[int] = []
    for number in range(1_000):
        put(full_text, "memory/a.md", f"# Day\nedit{number} of the same note, with the same length of text as before")
        with full_text.changing() as changes:
            changes.forget_removed(full_text.removed_keys(10))
        if number % 100 == 99:
            sizes.append(path.stat().st_size)
    assert sizes[-1] <= sizes[1] * 2
    assert found(full_text, "edit998") == []
    assert len(found(full_text, "edit999")) == 1
