"""Which versions of an answer or a message there are, and which rows tell the one that stands."""

from __future__ import annotations

from dataclasses import replace

from assistant.messages.blocks import BlockKey, TextBlock
from assistant.messages.events import RecalledLine
from assistant.storage.journal.rows import BlockRow, DroppedRow, RecalledRow, Row, ShownRow, TurnEndRow
from assistant.storage.journal.versions import Versions, dropped_keys, told_rows, version_of_message

AT = "2026-05-02T12:00:00.000+08:00"


def asked(name: str) -> BlockRow:
    return BlockRow("s", "u", name, "user", "user", TextBlock(id="t", text=name), AT, "")


def answered(name: str) -> BlockRow:
    return replace(asked(name), role="assistant")


def key(name: str) -> BlockKey:
    return BlockKey(name, "text", "t")


def keys(*names: str) -> tuple[BlockKey, ...]:
    return tuple(map(key, names))


def end(turn: str, error: str = "") -> TurnEndRow:
    return TurnEndRow("s", turn, "completed", error, AT)


def again(*names: str) -> DroppedRow:
    return DroppedRow("s", keys(*names), "retry", AT)


def edited(*names: str) -> DroppedRow:
    return DroppedRow("s", keys(*names), "edit", AT)


def shown(back: tuple[str, ...], left: tuple[str, ...]) -> ShownRow:
    return ShownRow("s", keys(*back), keys(*left), AT)


def said(rows: list[Row]) -> list[str]:
    return [row.message_id for row in told_rows(rows).rows if isinstance(row, BlockRow)]


def test_an_answer_given_again_has_two_versions_and_the_newer_one_stands() -> None:
    rows: list[Row] = [asked("q"), answered("a1"), end("q"), again("a1"), answered("a2"), end("q")]
    assert told_rows(rows).versions == [Versions("answer", "q", (keys("a1"), keys("a2")), 1)]
    assert said(rows) == ["q", "a2"]
    assert [version_of_message(rows, name) for name in ("q", "a1", "a2")] == [0, 1, 0]


def test_what_follows_an_answer_belongs_to_its_version() -> None:
    rows: list[Row] = [asked("q"), answered("a1"), again("a1"), answered("a2"), shown(("a1",), ("a2",))]
    rows += [asked("r"), answered("b")]
    assert said(rows) == ["q", "a1", "r", "b"]
    assert told_rows(rows).versions == [Versions("answer", "q", (keys("a1", "r", "b"), keys("a2")), 0)]
    rows += [shown(("a2",), ("a1", "r", "b"))]
    assert said(rows) == ["q", "a2"]
    rows += [asked("s"), shown(("a1", "r", "b"), ("a2", "s"))]
    assert said(rows) == ["q", "a1", "r", "b"]
    assert told_rows(rows).versions == [Versions("answer", "q", (keys("a1", "r", "b"), keys("a2", "s")), 0)]


def test_a_message_sent_again_stands_in_place_of_the_first_with_all_behind_it() -> None:
    rows: list[Row] = [asked("q"), answered("a"), asked("r1"), answered("b1"), edited("r1", "b1")]
    rows += [asked("r2"), answered("b2")]
    assert told_rows(rows).versions == [Versions("message", "r2", (keys("r1", "b1"), keys("r2", "b2")), 1)]
    rows += [shown(("r1", "b1"), ("r2", "b2"))]
    assert told_rows(rows).versions == [Versions("message", "r1", (keys("r1", "b1"), keys("r2", "b2")), 0)]
    first: list[Row] = [asked("q1"), edited("q1"), asked("q2")]
    assert told_rows(first).versions == [Versions("message", "q2", (keys("q1"), keys("q2")), 1)]


def test_versions_within_a_version_come_back_with_it() -> None:
    rows: list[Row] = [asked("q1"), answered("a1"), again("a1"), answered("a2"), edited("q1", "a2"), asked("q2")]
    assert [one.message_id for one in told_rows(rows).versions] == ["q2"]
    rows += [shown(("q1", "a2"), ("q2",))]
    assert {(one.part, one.message_id, one.shown) for one in told_rows(rows).versions} == {
        ("message", "q1", 0),
        ("answer", "q1", 1),
    }


def test_an_answer_that_never_came_is_a_version_only_while_it_stands() -> None:
    rows: list[Row] = [asked("q"), answered("a1"), again("a1"), end("q", "no answer")]
    assert told_rows(rows).versions == [Versions("answer", "q", (keys("a1"), ()), 1)]
    rows += [shown(("a1",), ())]
    assert told_rows(rows).versions == []
    rows += [again("a1"), answered("a2")]
    assert told_rows(rows).versions == [Versions("answer", "q", (keys("a1"), keys("a2")), 1)]


def test_how_a_turn_ended_is_told_of_the_version_that_stands() -> None:
    first, failed = end("q"), end("q", "no answer")
    recalled = RecalledRow("s", (RecalledLine("MEMORY.md", 1, "tea", 0.9),), AT)
    rows: list[Row] = [asked("q"), answered("a1"), first, again("a1"), failed]
    assert [row for row in told_rows(rows).rows if isinstance(row, TurnEndRow)] == [failed]
    rows += [shown(("a1",), ())]
    assert [row for row in told_rows(rows).rows if isinstance(row, TurnEndRow)] == [first]
    other: list[Row] = [asked("q1"), recalled, answered("a"), edited("q1", "a"), asked("q2")]
    assert recalled not in told_rows(other).rows


def test_a_clear_leaves_no_versions() -> None:
    rows: list[Row] = [asked("q"), answered("a1"), again("a1"), answered("a2")]
    rows += [DroppedRow("s", keys("q", "a2"), "clear", AT), asked("r")]
    assert told_rows(rows).versions == []
    assert dropped_keys(rows) == {*keys("q", "a1", "a2")}
