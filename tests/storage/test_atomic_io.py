"""Files are whole at any moment: replaced at once, appended whole, torn tails cut, locks between processes."""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assistant.errors import WorkspaceError
from assistant.storage.atomic_io import (
    append_lines,
    cut_torn_tail,
    hold_lock,
    lock_path,
    read_plain_file,
    remove_left_over,
    replace_file,
    replace_text,
)
from assistant.text.encoding import encode, storable
from tests.fakes.children import started


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_is_for_its_owner_only_and_an_old_one_keeps_its_bits(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file"
    replace_file(path, b"one")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"one", 0o600)
    path.chmod(0o640)
    replace_file(path, b"two")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"two", 0o640)
    assert names_in(path.parent) == ["file"]


def test_a_folder_in_the_place_of_the_file_is_an_error_that_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(OSError):
        replace_file(tmp_path / "file", b"x")
    assert names_in(tmp_path) == ["file"]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("茶", "茶".encode()),
        ("a\ud800b", "a\ufffdb".encode()),
        ("\udc80", "\ufffd".encode()),
        ("\ud83d\ude00", "😀".encode()),
        ("", b""),
    ],
    ids=["text", "lone high", "lone low", "pair", "empty"],
)
def test_text_is_written_whatever_surrogates_it_holds(tmp_path: Path, text: str, content: bytes) -> None:
    replace_text(tmp_path / "file", text)
    assert (tmp_path / "file").read_bytes() == content == encode(text)


def test_lines_are_appended_behind_what_stands_there(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "log"
    append_lines(path, ["one"])
    append_lines(path, iter(["two", "drei\ud800"]))
    append_lines(path, [])
    assert path.read_bytes() == "one\ntwo\ndrei\ufffd\n".encode()
    assert path.stat().st_mode & 0o777 == 0o600


def test_no_lines_make_no_file(tmp_path: Path) -> None:
    append_lines(tmp_path / "log", [])
    assert names_in(tmp_path) == []


@pytest.mark.parametrize(
    ("content", "kept", "torn"),
    [
        (b"one\ntwo\n", b"one\ntwo\n", b""),
        (b"one\ntw", b"one\n", b"tw"),
        (b"tw", b"", b"tw"),
        (b"", b"", b""),
        (b"one\n" + b"x" * 200_000, b"one\n", b"x" * 200_000),
        (b"one\n\0\0\0", b"one\n", b"\0\0\0"),
    ],
    ids=["whole", "torn", "only torn", "empty", "longer than a block", "zeros"],
)
def test_what_follows_the_last_newline_is_cut_and_returned(
    tmp_path: Path, content: bytes, kept: bytes, torn: bytes
) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    assert cut_torn_tail(path) == torn
    assert path.read_bytes() == kept
    append_lines(path, ["new"])
    assert path.read_bytes() == kept + b"new\n"


def test_a_missing_file_has_no_tail(tmp_path: Path) -> None:
    assert cut_torn_tail(tmp_path / "log") == b""


@given(st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")), max_size=6), st.integers(0, 60))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_cut_anywhere_keeps_every_whole_line(tmp_path: Path, lines: list[bytes], cut_bytes: int) -> None:
    path = tmp_path / "log"
    content = b"".join(line + b"\n" for line in lines)
    content = content[: max(0, len(content) - cut_bytes)]
    path.write_bytes(content)
    torn = cut_torn_tail(path)
    assert path.read_bytes() + torn == content
    assert path.read_bytes() == content[: content.rfind(b"\n") + 1]


def _write_over_the_limit(folder: Path) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    failures = 0
    for write in (
        lambda: replace_file(folder / "file", b"x" * 5000),
        lambda: append_lines(folder / "log", ["y" * 5000]),
        lambda: append_lines(folder / "new", ["y" * 5000]),
    ):
        try:
            write()
        except OSError:
            failures += 1
    os._exit(failures)


def _hold(path: Path, ready: Connection) -> None:
    with hold_lock(path):
        ready.send("holds")
        ready.recv()


def _replace_for_ever(path: Path) -> None:
    number = 0
    while True:
        replace_text(path, json.dumps({"number": number, "text": "x" * 20_000}))
        number += 1


def test_a_disk_that_is_full_leaves_every_file_as_it_was(tmp_path: Path) -> None:
    replace_file(tmp_path / "file", b"old")
    append_lines(tmp_path / "log", ["old"])
    child = started(_write_over_the_limit, tmp_path)
    child.join(60)
    assert child.exitcode == 3
    assert {name: (tmp_path / name).read_bytes() for name in names_in(tmp_path)} == {
        "file": b"old",
        "log": b"old\n",
        "new": b"",
    }


def test_a_kill_in_the_middle_of_replacing_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    child = started(_replace_for_ever, path)
    while not path.exists():
        child.join(0.01)
    for _ in range(20):
        json.loads(path.read_bytes())
    os.kill(child.pid or 0, signal.SIGKILL)
    child.join()
    assert len(json.loads(path.read_bytes())["text"]) == 20_000


def test_a_lock_of_another_process_is_waited_for_and_then_told(tmp_path: Path) -> None:
    path = tmp_path / "file"
    ours, theirs = multiprocessing.Pipe()
    child = started(_hold, path, theirs)
    assert ours.recv() == "holds"
    with pytest.raises(WorkspaceError, match="file is being written by another process"), hold_lock(path, 0.05):
        pass
    os.kill(child.pid or 0, signal.SIGKILL)
    child.join()
    with hold_lock(path, 0.05):
        assert lock_path(path).name == ".file.lock"
    ours.close()
    theirs.close()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes in folders")
def test_only_a_plain_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 5)
    os.mkfifo(tmp_path / "pipe")
    assert read_plain_file(tmp_path / "file", max_bytes=5) == b"x" * 5
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(OSError, match="not a plain file"):
            read_plain_file(path)
    with pytest.raises(OSError, match="only files up to 4"):
        read_plain_file(tmp_path / "file", max_bytes=4)
    with pytest.raises(FileNotFoundError):
        read_plain_file(tmp_path / "nothing")


def test_text_that_is_storable_comes_back_as_it_is() -> None:
    assert storable("a\ud83d\ude00b\ud800c") == "a😀b\ufffdc"


def test_only_old_left_overs_of_our_own_writing_are_removed(tmp_path: Path) -> None:
    kept = [".notes.md.tmp", "MEMORY.md.0123456789ab.tmp", ".MEMORY.md.0123456789AB.tmp", ".x.0123456789ab.tmp.md"]
    for name in (*kept, ".MEMORY.md.0123456789ab.tmp", ".new.md.0123456789ab.tmp"):
        (tmp_path / name).write_text("x", encoding="utf-8")
        os.utime(tmp_path / name, (1_000, 1_000))
    os.utime(tmp_path / ".new.md.0123456789ab.tmp", (3_000, 3_000))
    (tmp_path / ".folder.0123456789ab.tmp").mkdir()
    assert remove_left_over(tmp_path, 2_000) == 1
    assert {path.name for path in tmp_path.iterdir()} == {*kept, ".new.md.0123456789ab.tmp", ".folder.0123456789ab.tmp"}
    assert remove_left_over(tmp_path / "missing", 2_000) == 0
