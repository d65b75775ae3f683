"""The journal: written once, durable, readable after any crash."""

from __future__ import annotations

import os
import resource
import signal
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from assistant.compaction.record import CompactionRecord
from assistant.messages.blocks import (
    AssistantMsg,
    Base64Source,
    BlockKey,
    DataBlock,
    HintBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
    URLSource,
    UserMsg,
    block_keys,
    block_text,
)
from assistant.messages.events import RecalledLine
from assistant.messages.hints import RECALL_SOURCE
from assistant.storage.atomic_io import append_lines
from assistant.storage.journal.journal import Journal
from assistant.storage.journal.listing import JournalSession
from assistant.storage.journal.rows import (
    BlockRow,
    DeletedRow,
    DroppedRow,
    FlushRow,
    ProfileChosenRow,
    RecalledRow,
    RecallRefusedRow,
    Row,
    ShownRow,
    UndoneRow,
    read_row,
    row_line,
)
from assistant.storage.workspace import Workspace
from tests.fakes.children import started

EAST = timezone(timedelta(hours=8))
WEST = timezone(timedelta(hours=-5))
NOON = datetime(2026, 5, 2, 12, 0, tzinfo=EAST)
AT = "2026-05-02T12:00:00.000+08:00"


def workspace_in(folder: Path) -> Workspace:
    workspace = Workspace(folder / "home")
    workspace.dialog_folder.mkdir(parents=True, exist_ok=True)
    return workspace


def journal_in(folder: Path, now: datetime = NOON) -> Journal:
    return Journal(workspace_in(folder), lambda: now)


def day_path(folder: Path, day: str = "2026-05-02") -> Path:
    return workspace_in(folder).dialog_folder / f"{day}.jsonl"


def question(number: int, text: str = "how are you?") -> Msg:
    return UserMsg("user", [TextBlock(id=f"q{number}", text=text)], id=f"user-{number}")


def answer(number: int) -> Msg:
    blocks = [
        ThinkingBlock(id=f"t{number}", thinking="hm", signature="kept as it came"),
        ToolCallBlock(id="call-1", name="Bash", input='{"command": "ls"}'),
        ToolResultBlock(id="call-1", name="Bash", output="a.txt", state=ToolResultState.SUCCESS),
        TextBlock(id=f"a{number}", text="Fine.\u2028And\x85you?"),
    ]
    return AssistantMsg("palimpsest", blocks, id=f"reply-{number}")


def compaction(compaction_id: str, keys: tuple[BlockKey, ...] = (), parent_id: str | None = None) -> CompactionRecord:
    return CompactionRecord(
        session_id="s",
        compaction_id=compaction_id,
        parent_id=parent_id,
        at=AT,
        keys=keys,
        previous_summary="",
        summary=f"summary of {compaction_id}",
        reason="automatic",
        previous_tokens=900,
        after_tokens=300,
        context_limit=1000,
        threshold_tokens=700,
        folded_messages=4,
        kept_turns=1,
        summary_tokens=100,
        fallback=False,
        carried_over=("Goal",),
    )


def block_rows(rows: list[Row]) -> list[BlockRow]:
    return [row for row in rows if isinstance(row, BlockRow)]


def keys_of(rows: list[Row]) -> list[BlockKey]:
    return [row.key for row in block_rows(rows)]


def test_each_block_stands_as_one_row_and_comes_back_as_it_was(tmp_path: Path) -> None:
    messages = [question(1), answer(1)]
    written = journal_in(tmp_path).append_missing("s", "u", messages)

    assert written == block_keys(messages)
    assert journal_in(tmp_path).rows("s") == [
        BlockRow("s", "u", message.id, message.role, message.name, block, AT, message.created_at)
        for message in messages
        for block in message.content
    ]
    assert len(day_path(tmp_path).read_bytes().splitlines()) >= 5
    assert day_path(tmp_path).read_bytes().count(b"\n") == 5


@pytest.mark.parametrize(
    "row",
    [
        BlockRow("s", "u", "m", "user", "n", DataBlock(source=Base64Source(data="AA", media_type="image/png")), AT, ""),
        BlockRow(
            "s",
            "u",
            "m",
            "assistant",
            "n",
            ToolResultBlock(
                id="c",
                name="n",
                output=[
                    TextBlock(text="a"),
                    DataBlock(
                        source=URLSource.model_validate({"url": "http://a.example/b", "media_type": "image/png"})
                    ),
                ],
                state=ToolResultState.DENIED,
                metadata={"diff": "+a", "artifact_id": "x"},
            ),
            AT,
            "2026-05-02",
        ),
        BlockRow("s", "u", "m", "assistant", "n", HintBlock(hint=[TextBlock(text="h")]), AT, ""),
        compaction("c", (BlockKey("m", "tool_call", "b"),), "parent"),
        UndoneRow("s", "c", AT),
        DroppedRow("s", (BlockKey("m", "text", "b"),), "retry", AT),
        FlushRow("s", "c", "failed", AT),
        RecalledRow("s", (RecalledLine("MEMORY.md", 3, "likes tea", 0.7),), AT, 40),
        RecallRefusedRow("s", "a mark", ("one", "two"), AT),
        ShownRow("s", (BlockKey("m", "text", "b"),), (), AT),
        ProfileChosenRow("s", "At home", AT),
        DeletedRow('s "quoted"', AT, is_restored=True),
    ],
    ids=lambda row: row.kind,
)
def test_every_kind_of_row_is_read_as_it_was_written(row: Row) -> None:
    assert read_row(row_line(row).encode()) == row


def test_what_stands_there_is_not_written_again_by_a_second_journal_on_the_same_folder(tmp_path: Path) -> None:
    first, second = journal_in(tmp_path), journal_in(tmp_path)
    first.append_missing("s", "u", [question(1)])
    assert second.append_missing("s", "u", [question(1), answer(1)]) == block_keys([answer(1)])
    assert first.append_missing("s", "u", [question(1), answer(1), question(2)]) == block_keys([question(2)])
    assert first.append_missing("other", "u", [question(1)]) == block_keys([question(1)])
    assert keys_of(second.rows("s")) == block_keys([question(1), answer(1), question(2)])


def test_a_key_is_written_once_even_when_it_comes_twice_in_one_append(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    assert journal.append_missing("s", "u", [question(1), question(1)]) == block_keys([question(1)])
    journal.append(journal.rows("s"))
    assert len(journal.rows("s")) == 1


def test_a_call_id_may_repeat_in_another_message(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    journal.append_missing("s", "u", [answer(1)])
    assert journal.append_missing("s", "u", [answer(2)]) == block_keys([answer(2)])


def test_a_key_of_yesterday_is_not_written_again_today(tmp_path: Path) -> None:
    journal_in(tmp_path).append_missing("s", "u", [question(1)])
    tomorrow = journal_in(tmp_path, NOON + timedelta(days=1))
    assert tomorrow.append_missing("s", "u", [question(1), answer(1)]) == block_keys([answer(1)])
    assert day_path(tmp_path, "2026-05-03").exists()
    assert tomorrow.has("s", BlockKey("user-1", "text", "q1"))
    assert not tomorrow.has("s", BlockKey("user-2", "text", "q2"))


def test_blocks_and_records_of_a_commit_go_out_in_one_append(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    journal.commit("s", "u", [question(1)], [compaction("c1")])
    assert [row.kind for row in journal.rows("s")] == ["block", "compaction"]


def test_a_name_that_begins_another_one_hides_neither(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    names = {"files/attached/a.md", "files/attached/a.md.txt", "files/attached/a.md.txt.txt"}
    journal.append_missing("branch", "owner", [question(1, "read files/attached/a.md.txt, then files/attached/a.md")])
    journal.append_missing("gone", "owner", [question(2, "read files/attached/a.md.txt.txt")])
    assert journal.named_elsewhere(names, {"gone"}) == {"files/attached/a.md", "files/attached/a.md.txt"}


def test_a_lone_surrogate_is_written_as_the_replacement_character(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    broken = UserMsg("user", [TextBlock(id="b\udc80", text="caf\ud83d")], id="m")
    journal.append_missing("s\ud800", "u", [broken])
    assert journal.append_missing("s\ud800", "u", [broken]) == []
    assert [row.block.text for row in block_rows(journal.rows("s\ud800")) if isinstance(row.block, TextBlock)] == [
        "caf\ufffd"
    ]


def test_what_json_cannot_hold_in_the_metadata_of_a_result_does_not_break_a_write(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    block = ToolResultBlock(id="c", name="n", output="x", metadata={"when": tmp_path, "odd": complex(1, 2)})
    journal.append_missing("s", "u", [AssistantMsg("a", [block], id="m")])
    assert len(journal.rows("s")) == 1


def test_recalled_memory_is_told_by_its_own_row_and_never_as_a_block(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    hint = HintBlock(hint="remember the tea", source=RECALL_SOURCE)
    assert journal.append_missing("s", "u", [AssistantMsg("a", [hint], id="m")]) == []


def test_dropped_blocks_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    journal.append_missing("s", "u", [question(1), question(2)])
    journal.append([DroppedRow("s", tuple(block_keys([question(2)])), "edit", AT)])
    assert keys_of(journal.rows("s")) == block_keys([question(1)])
    assert keys_of(journal.rows("s", include_dropped=True)) == block_keys([question(1), question(2)])


def test_a_torn_tail_is_cut_by_the_next_append_and_never_read(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    journal.append_missing("s", "u", [question(1)])
    whole = day_path(tmp_path).read_bytes()
    day_path(tmp_path).write_bytes(whole + whole[: len(whole) // 2])

    assert keys_of(journal.rows("s")) == block_keys([question(1)])
    assert journal.append_missing("s", "u", [question(1), question(2)]) == block_keys([question(2)])
    assert keys_of(journal_in(tmp_path).rows("s")) == block_keys([question(1), question(2)])
    assert journal.damaged_lines == 0


@pytest.mark.parametrize("cut_bytes", range(1, 40, 3))
def test_a_write_cut_anywhere_loses_only_what_was_never_acknowledged(tmp_path: Path, cut_bytes: int) -> None:
    journal = journal_in(tmp_path)
    journal.append_missing("s", "u", [question(1), question(2)])
    whole = day_path(tmp_path).read_bytes()
    day_path(tmp_path).write_bytes(whole[:-cut_bytes])
    journal = journal_in(tmp_path)
    journal.append_missing("s", "u", [question(1), question(2)])
    assert keys_of(journal.rows("s")) == block_keys([question(1), question(2)])
    assert len(day_path(tmp_path).read_bytes().splitlines()) == 2


def test_a_last_row_without_its_newline_is_kept(tmp_path: Path) -> None:
    journal_in(tmp_path).append_missing("s", "u", [question(1)])
    day_path(tmp_path).write_bytes(day_path(tmp_path).read_bytes().removesuffix(b"\n"))
    journal = journal_in(tmp_path)
    assert keys_of(journal.rows("s")) == block_keys([question(1)])
    journal.append_missing("s", "u", [question(1), question(2)])
    assert keys_of(journal.rows("s")) == block_keys([question(1), question(2)])
    assert keys_of(journal_in(tmp_path).rows("s")) == block_keys([question(1), question(2)])


def test_damaged_lines_are_skipped_counted_and_left_where_they_stand(tmp_path: Path) -> None:
    journal_in(tmp_path).append_missing("s", "u", [question(1)])
    garbage = b'{"session_id":"s","kind":"block","at":\n\xff\xfe\x00 what?\n\n[]\n'
    day_path(tmp_path).write_bytes(garbage + day_path(tmp_path).read_bytes() + garbage)
    journal = journal_in(tmp_path)
    journal.append_missing("s", "u", [question(2)])
    assert keys_of(journal.rows("s")) == block_keys([question(1), question(2)])
    assert journal.damaged_lines == 6
    assert day_path(tmp_path).read_bytes().count(garbage) == 2


def test_rows_laid_out_otherwise_than_we_write_them_are_read(tmp_path: Path) -> None:
    line = row_line(BlockRow("s", "u", "m", "user", "n", TextBlock(id="b", text="hi"), AT, ""))
    day_path(tmp_path).write_text(line.replace('":', '" : ').replace(",", " , ") + "\n")
    journal = journal_in(tmp_path)
    assert keys_of(journal.rows("s")) == [BlockKey("m", "text", "b")]
    assert journal.append_missing("s", "u", [UserMsg("n", [TextBlock(id="b", text="hi")], id="m")]) == []
    assert journal.sessions() == [JournalSession("s", "u", AT, "hi", 1)]


def test_rows_are_in_order_of_time_when_the_person_travels_west(tmp_path: Path) -> None:
    times = [
        datetime(2026, 5, 1, 23, 0, tzinfo=EAST),
        datetime(2026, 5, 2, 8, 0, tzinfo=EAST),
        datetime(2026, 5, 1, 22, 0, tzinfo=WEST),
        datetime(2026, 5, 2, 9, 0, tzinfo=WEST),
    ]
    for number, now in enumerate(times):
        journal_in(tmp_path, now).append_missing("s", "u", [question(number)])
    assert [path.name for path in sorted(workspace_in(tmp_path).dialog_folder.glob("*.jsonl"))] == [
        "2026-05-01.jsonl",
        "2026-05-02.jsonl",
    ]
    assert keys_of(journal_in(tmp_path).rows("s")) == block_keys([question(number) for number in range(4)])


@pytest.mark.parametrize("days_back", [1, 40, 30_000])
def test_what_is_written_after_the_clock_was_set_back_over_midnight_stands_last(tmp_path: Path, days_back: int) -> None:
    moments = [datetime(2126, 11, 28, 22, tzinfo=EAST), datetime(2126, 11, 30, 9, tzinfo=EAST)]
    moments += [moments[1] - timedelta(days=days_back), moments[1] + timedelta(days=1)]
    workspace = Workspace(tmp_path)
    for number, moment in enumerate(moments):
        journal = Journal(workspace, lambda moment=moment: moment)
        journal.append_missing("s", "owner", [UserMsg("user", [TextBlock(id=f"b{number}", text="x")], id=f"m{number}")])
    rows = Journal(workspace, lambda: moments[0]).rows("s")
    assert [row.message_id for row in rows if isinstance(row, BlockRow)] == ["m0", "m1", "m2", "m3"]


def test_who_travels_west_over_midnight_writes_into_the_day_it_is_there(tmp_path: Path) -> None:
    moments = [datetime(2026, 11, 30, 1, tzinfo=EAST), datetime(2026, 11, 29, 18, tzinfo=timezone(timedelta(hours=0)))]
    for number, moment in enumerate(moments):
        journal = Journal(Workspace(tmp_path), lambda moment=moment: moment)
        journal.append_missing("s", "owner", [UserMsg("user", [TextBlock(id=f"b{number}", text="x")], id=f"m{number}")])
    assert (tmp_path / "dialog" / "2026-11-29.jsonl").read_text("utf-8").count("m1") == 1
    rows = Journal(Workspace(tmp_path), lambda: moments[1]).rows("s")
    assert [row.message_id for row in rows if isinstance(row, BlockRow)] == ["m0", "m1"]


def test_a_clock_set_back_does_not_reorder_what_was_appended(tmp_path: Path) -> None:
    journal_in(tmp_path, NOON).append_missing("s", "u", [question(1)])
    journal_in(tmp_path, NOON - timedelta(minutes=5)).append_missing("s", "u", [question(2)])
    assert keys_of(journal_in(tmp_path).rows("s")) == block_keys([question(1), question(2)])


def test_the_list_tells_each_conversation_that_is_not_deleted_newest_first(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    journal.append_missing("a", "u", [answer(0), question(1, "first words"), question(2, "later words")])
    journal.append_missing('b"{\\', "v", [question(1, "hello")])
    journal.append_missing("gone", "u", [question(1)])
    journal.append([DeletedRow("gone", AT)])
    expected = [
        JournalSession("a", "u", AT, "first words", 6),
        JournalSession('b"{\\', "v", AT, "hello", 1),
    ]
    assert journal.sessions() == expected
    assert journal.deleted_ids() == {"gone"}

    later = "2026-05-02T12:30:00.000+08:00"
    journal_in(tmp_path, NOON + timedelta(minutes=30)).append_missing('b"{\\', "v", [question(2)])
    journal.append([DeletedRow("gone", AT, is_restored=True)])
    assert journal.sessions() == [
        JournalSession('b"{\\', "v", later, "hello", 2),
        expected[0],
        JournalSession("gone", "u", AT, "how are you?", 1),
    ]


def test_removed_sessions_are_gone_for_other_journals_too_and_may_be_written_again(tmp_path: Path) -> None:
    journal, other = journal_in(tmp_path), journal_in(tmp_path)
    for session_id in ("a", "b"):
        journal.append_missing(session_id, "u", [question(1), answer(1)])
    assert len(other.rows("a")) == 5
    assert len(other.sessions()) == 2

    assert journal.remove_sessions({"a"}) == 5
    assert other.rows("a") == []
    assert keys_of(other.rows("b")) == block_keys([question(1), answer(1)])
    assert [session.session_id for session in other.sessions()] == ["b"]
    assert b'"a"' not in day_path(tmp_path).read_bytes()
    assert other.append_missing("a", "u", [question(1)]) == block_keys([question(1)])


def test_a_rewrite_of_the_same_length_is_noticed(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    journal.append_missing("s", "u", [question(1)])
    other = journal_in(tmp_path)
    assert other.has("s", BlockKey("user-1", "text", "q1"))
    journal.rewrite(lambda row: BlockRow("s", "u", "user-9", "user", "user", TextBlock(id="q1", text="x"), AT, ""))
    assert not other.has("s", BlockKey("user-1", "text", "q1"))


def test_lines_are_rewritten_damaged_ones_too_and_a_torn_tail_is_cut(tmp_path: Path) -> None:
    journal, other = journal_in(tmp_path), journal_in(tmp_path)
    journal.append_missing("s", "u", [question(1, "the secret")])
    assert [session.first_text for session in other.sessions()] == ["the secret"]
    with day_path(tmp_path).open("ab") as file:
        file.write(b'damaged secret\n{"session_id":"s","text":"secret')
    journal.rewrite_lines(lambda line: line.replace(b"secret", b"------"))
    assert b"secret" not in day_path(tmp_path).read_bytes()
    assert day_path(tmp_path).read_bytes().endswith(b"\ndamaged ------\n")
    assert [session.first_text for session in other.sessions()] == ["the ------"]
    inode = day_path(tmp_path).stat().st_ino
    journal.rewrite_lines(lambda line: line)
    assert day_path(tmp_path).stat().st_ino == inode


def test_what_the_person_said_since_a_time_is_told(tmp_path: Path) -> None:
    for days, number in ((-3, 1), (0, 2), (1, 3)):
        journal_in(tmp_path, NOON + timedelta(days=days)).append_missing("s", "u", [question(number), answer(number)])
    assert list(journal_in(tmp_path).said_since(AT)) == [block_text(question(3).content[0])]
    assert len(list(journal_in(tmp_path).said_since("2026-05-01T23:00:00.000-05:00"))) == 1


def test_a_folder_where_the_day_file_should_be_is_an_error_and_not_a_loss(tmp_path: Path) -> None:
    journal_in(tmp_path, NOON - timedelta(days=1)).append_missing("s", "u", [question(1)])
    day_path(tmp_path).mkdir()
    journal = journal_in(tmp_path)
    with pytest.raises(OSError):
        journal.append_missing("s", "u", [question(2)])
    assert keys_of(journal.rows("s")) == block_keys([question(1)])
    day_path(tmp_path).rmdir()
    assert journal.append_missing("s", "u", [question(1), question(2)]) == block_keys([question(2)])


def _append_over_the_limit(folder: Path) -> None:
    size = day_path(folder).stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, size + 100))
    journal = journal_in(folder)
    try:
        journal.append_missing("s", "u", [question(2, "long " * 1000)])
    except OSError:
        os._exit(0 if day_path(folder).stat().st_size == size else 3)
    os._exit(4)


def _append_for_ever(folder: Path) -> None:
    journal = journal_in(folder)
    number = 100
    while True:
        journal.append_missing("s", "u", [question(number, "x" * 5000)])
        number += 1


def _append_range(folder: Path, numbers: range) -> None:
    journal = journal_in(folder)
    for number in numbers:
        journal.append_missing("s", "u", [question(number)])


def test_a_disk_that_is_full_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    journal_in(tmp_path).append_missing("s", "u", [question(1)])
    before = day_path(tmp_path).read_bytes()
    child = started(_append_over_the_limit, tmp_path)
    child.join(60)
    assert child.exitcode == 0
    assert day_path(tmp_path).read_bytes() == before
    assert journal_in(tmp_path).append_missing("s", "u", [question(2)]) == block_keys([question(2)])


def test_a_kill_in_the_middle_of_appends_leaves_a_journal_that_goes_on(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    journal.append_missing("s", "u", [question(1)])
    child = started(_append_for_ever, tmp_path)
    while len(journal.rows("s")) < 5:
        child.join(0.01)
    os.kill(child.pid or 0, signal.SIGKILL)
    child.join()

    standing = keys_of(journal.rows("s"))
    assert journal.append_missing("s", "u", [question(2)]) == block_keys([question(2)])
    assert keys_of(journal_in(tmp_path).rows("s")) == [*standing, *block_keys([question(2)])]
    assert journal.damaged_lines == 0


def test_two_processes_that_append_the_same_write_every_key_once(tmp_path: Path) -> None:
    children = [started(_append_range, tmp_path, range(start, start + 40)) for start in (0, 20)]
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0, 0]
    assert sorted(row.message_id for row in block_rows(journal_in(tmp_path).rows("s"))) == sorted(
        f"user-{number}" for number in range(60)
    )
    assert day_path(tmp_path).read_bytes().count(b"\n") == 60


def test_threads_that_append_at_once_write_every_key_once(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    numbers = range(20)
    threads = [
        threading.Thread(target=lambda: [journal.append_missing("s", "u", [question(number)]) for number in numbers])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert day_path(tmp_path).read_bytes().count(b"\n") == 20


def _bytes_read() -> int:
    line = next(line for line in Path("/proc/self/io").read_text().splitlines() if line.startswith("rchar"))
    return int(line.split()[1])


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="needs Linux to count what was read")
def test_a_step_of_a_long_journal_is_appended_without_reading_it_again(tmp_path: Path) -> None:
    rows = [
        row_line(BlockRow(f"s{number % 100}", "u", f"m{number}", "user", "n", TextBlock(id="b", text="x"), AT, ""))
        for number in range(20_000)
    ]
    append_lines(day_path(tmp_path), rows)
    journal = journal_in(tmp_path)
    assert len(journal.rows("s1")) == 200
    journal.append_missing("s1", "u", [question(1)])
    journal.sessions()

    before = _bytes_read()
    journal.append_missing("s1", "u", [question(2), answer(2)])
    assert len(journal.sessions()) == 100
    assert _bytes_read() - before < 50_000 < day_path(tmp_path).stat().st_size // 50
