"""The memory log gives any version of a file back, after damage and after rewriting too."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assistant.memory.log import LineEdit, MemoryChange, MemoryLog, Origin, digest_of
from assistant.text.redaction import mask_secrets

AT = "2026-05-02T12:00:00.000+08:00"
FLUSH = Origin("flush", "session", "turn", "compaction")


def record(log: MemoryLog, text: str, change_id: str, path: str = "USER.md", origin: Origin = FLUSH) -> MemoryChange:
    change = log.record(path, mask_secrets(text), digest_of(text.encode()), origin, change_id, AT)
    assert change is not None
    return change


def test_a_change_says_who_why_when_and_what(tmp_path: Path) -> None:
    log = MemoryLog(tmp_path / "memory_log.jsonl")
    record(log, "- tea\n", "c1")
    change = record(log, "- tea\n- coffee\n", "c2")
    assert change == MemoryChange(
        change_id="c2",
        at=AT,
        path="USER.md",
        writer="flush",
        session_id="session",
        turn_id="turn",
        compaction_id="compaction",
        diff="--- USER.md\n+++ USER.md\n@@ -1,2 +1,3 @@\n - tea\n+- coffee\n ",
        edits=(LineEdit(1, 1, ("- coffee\n",)),),
        digest=digest_of(b"- tea\n- coffee\n"),
    )
    assert MemoryLog(tmp_path / "memory_log.jsonl").change("c2") == change
    assert log.latest_digest("USER.md") == change.digest
    assert (tmp_path / "memory_log.jsonl").stat().st_mode & 0o777 == 0o600


def test_what_the_log_knows_already_is_not_logged_again(tmp_path: Path) -> None:
    log = MemoryLog(tmp_path / "log")
    record(log, "a\n", "c1")
    assert log.record("USER.md", mask_secrets("a\n"), "other bytes", FLUSH, "c2", AT) is None
    assert len(log.history("USER.md")) == 1


def test_files_have_histories_of_their_own(tmp_path: Path) -> None:
    log = MemoryLog(tmp_path / "log")
    first = record(log, "a\n", "c1")
    other = record(log, "b\n", "c2", path="SOUL.md")
    assert (log.history("USER.md"), log.history("SOUL.md"), log.history("MEMORY.md")) == ([first], [other], [])


def test_the_lines_of_one_compaction_are_told(tmp_path: Path) -> None:
    log = MemoryLog(tmp_path / "log")
    record(log, "- tea\n\n- coffee\n", "c1")
    record(log, "- tea\n\n- coffee\n- water\n", "c2", origin=Origin("owner"))
    record(log, "## Day\n- walked\n", "c3", path="memory/2026-05-02.md")
    assert log.added_lines("compaction") == ["- tea", "- coffee", "## Day", "- walked"]


def test_two_logs_on_one_file_see_what_the_other_wrote(tmp_path: Path) -> None:
    first, second = MemoryLog(tmp_path / "log"), MemoryLog(tmp_path / "log")
    record(first, "a\n", "c1")
    record(second, "a\nb\n", "c2")
    change = record(first, "a\nb\nc\n", "c3")
    assert change.edits == (LineEdit(2, 2, ("c\n",)),)
    assert [known.change_id for known in second.history("USER.md")] == ["c1", "c2", "c3"]


def test_a_log_that_was_rewritten_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = MemoryLog(path)
    record(log, "secret\n", "c1")
    replaced = tmp_path / "new"
    replaced.write_bytes(path.read_bytes().replace(b"secret", b"------"))
    replaced.replace(path)
    assert log.text_after(log.history("USER.md")[0]) == "------\n"
    path.unlink()
    assert log.history("USER.md") == []


def test_an_entry_can_be_rewritten_for_a_fact_to_be_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = MemoryLog(path)
    record(log, "- secret\n", "c1")
    last = record(log, "- secret\n- tea\n", "c2")
    path.write_bytes(b"damaged secret\n" + path.read_bytes())

    log.rewrite_lines(lambda line: line.replace(b"secret", b"..."))
    inode = path.stat().st_ino
    log.rewrite_lines(lambda line: line.replace(b"secret", b"..."))
    assert path.stat().st_ino == inode
    assert b"secret" not in path.read_bytes()
    assert path.read_bytes().startswith(b"damaged ...\n")
    assert log.text_after(last) == "- ...\n- tea\n"


def test_damaged_lines_and_a_torn_tail_do_not_stop_the_log(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = MemoryLog(path)
    record(log, "a\n", "c1")
    path.write_bytes(b"garbage\n\xff\n" + path.read_bytes() + b'{"change_id": "to')
    log = MemoryLog(path)
    record(log, "a\nb\n", "c2")
    assert [change.change_id for change in MemoryLog(path).history("USER.md")] == ["c1", "c2"]


def test_secrets_never_stand_in_the_log(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = MemoryLog(path)
    record(log, "- password: hunter22\n", "c1")
    assert b"hunter22" not in path.read_bytes()
    assert log.record("USER.md", mask_secrets("- password: hunter23\n"), "", FLUSH, "c2", AT) is None


def test_bytes_that_were_no_utf8_are_kept_as_they_were(tmp_path: Path) -> None:
    change = MemoryLog(tmp_path / "log").record("USER.md", mask_secrets("é"), "", FLUSH, "c1", AT, original=b"\xe9")
    assert change is not None
    assert change.original == "6Q=="


versions = st.lists(
    st.lists(st.sampled_from(["a\n", "b\n", "c\n", "x\u2028y\n", "\n"]), max_size=6).map("".join), max_size=60
)


@given(versions, st.booleans())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_version_can_be_had_again(
    tmp_path_factory: pytest.TempPathFactory, versions: list[str], has_end: bool
) -> None:
    folder = tmp_path_factory.mktemp("log")
    log = MemoryLog(folder / "log")
    texts = [version if has_end else version.removesuffix("\n") for version in versions]
    known = ""
    told: list[tuple[MemoryChange, str, str]] = []
    for number, text in enumerate(texts):
        change = log.record("USER.md", mask_secrets(text), digest_of(text.encode()), FLUSH, f"c{number}", AT)
        if change:
            told.append((change, known, text))
        known = text
    again = MemoryLog(folder / "log")
    for change, before, after in told:
        assert (again.text_before(change), again.text_after(change)) == (before, after)
