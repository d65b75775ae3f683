"""Disk against index: whatever happened to the files, the next look puts it right."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assistant.index.pace import IndexPace
from assistant.index.question import SearchQuestion
from assistant.index.sync import Synchroniser, SyncResult
from assistant.index.text.full_text import FullText
from tests.index.homes import write


class Home:
    """A home, its index, and what was given to be masked."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.full_text = FullText(root / "index" / "full_text.sqlite")
        self._synchroniser = Synchroniser(
            root, self.full_text, lambda path: (), lambda text: text.replace("key", "***"), IndexPace()
        )

    def sync(self, should_stop: Callable[[], bool] = lambda: False) -> SyncResult:
        return self._synchroniser.sync(lambda done, total: None, should_stop)

    def found(self, *terms: str) -> list[str]:
        ids = [hit.chunk_id for hit in self.full_text.rank(SearchQuestion("", terms, ()))]
        chunks = self.full_text.chunks(ids)
        return [chunks[chunk_id].path for chunk_id in ids]


@pytest.fixture
def it(tmp_path: Path) -> Iterator[Home]:
    root = tmp_path / "home"
    (root / "memory").mkdir(parents=True)
    home = Home(root)
    yield home
    home.full_text.close()


def age(path: Path) -> None:
    """Make a file as old as one that was not just written."""
    os.utime(path, (1_700_000_000, 1_700_000_000))


def test_an_empty_home_is_no_error(tmp_path: Path) -> None:
    home = Home(tmp_path / "nowhere")
    assert home.sync() == SyncResult((), ())
    home.full_text.close()


def test_what_changed_is_indexed_and_what_did_not_is_left_alone(it: Home) -> None:
    write(it.root, "memory/a.md", "green tea")
    write(it.root, "memory/b.md", "black coffee")
    assert it.sync() == SyncResult(("memory/b.md", "memory/a.md"), ())
    assert it.sync() == SyncResult((), ())
    write(it.root, "memory/a.md", "white wine")
    assert it.sync() == SyncResult(("memory/a.md",), ())
    assert (it.found("tea"), it.found("wine"), it.found("coffee")) == ([], ["memory/a.md"], ["memory/b.md"])


def test_a_touched_file_is_not_a_changed_one(it: Home) -> None:
    age(write(it.root, "memory/a.md", "green tea"))
    it.sync()
    os.utime(it.root / "memory/a.md", (1_700_000_500, 1_700_000_500))
    assert it.sync() == SyncResult((), ())


def test_a_change_of_the_same_size_and_time_is_seen(it: Home) -> None:
    path = write(it.root, "memory/a.md", "green tea")
    age(path)
    it.sync()
    write(it.root, "memory/a.md", "white tea")
    age(path)
    assert it.sync().changed == ("memory/a.md",)


def test_deleted_and_renamed_files_move(it: Home) -> None:
    write(it.root, "memory/a.md", "green tea")
    write(it.root, "memory/b.md", "black coffee")
    it.sync()
    (it.root / "memory/a.md").rename(it.root / "memory/c.md")
    (it.root / "memory/b.md").unlink()
    assert it.sync() == SyncResult(("memory/c.md",), ("memory/b.md", "memory/a.md"))
    assert (it.found("tea"), it.found("coffee")) == (["memory/c.md"], [])


def test_a_swapped_file_is_what_it_is_now(it: Home) -> None:
    write(it.root, "memory/a.md", "green tea")
    write(it.root, "memory/b.md", "black coffee")
    it.sync()
    (it.root / "memory/a.md").rename(it.root / "memory/swap.md")
    (it.root / "memory/b.md").rename(it.root / "memory/a.md")
    (it.root / "memory/swap.md").rename(it.root / "memory/b.md")
    it.sync()
    assert (it.found("tea"), it.found("coffee")) == (["memory/b.md"], ["memory/a.md"])


def test_a_stopped_round_is_made_up_for(it: Home) -> None:
    write(it.root, "memory/a.md", "green tea")
    assert it.sync(should_stop=lambda: True).changed == ()
    assert it.sync().changed == ("memory/a.md",)


def test_a_round_that_is_stopped_keeps_what_it_has_read(it: Home) -> None:
    for name in "abcde":
        write(it.root, f"memory/{name}.md", "green tea")
    answers = iter([False, False, False, True, True])
    assert it.sync(should_stop=lambda: next(answers)).changed == ("memory/e.md", "memory/d.md")
    assert it.sync().changed == ("memory/c.md", "memory/b.md", "memory/a.md")


def test_only_files_that_belong_to_memory_are_indexed(it: Home) -> None:
    for name in ("AGENTS.md", "notes.md", "memory/.hidden.md", "memory/.git/a.md", "memory/a.txt", "files/a.md"):
        write(it.root, name, "green tea")
    indexed = ["MEMORY.md", "SOUL.md", "USER.md", "memory/topics/deep/a.md"]
    for name in indexed:
        write(it.root, name, "green tea")
    it.sync()
    assert sorted(it.found("tea")) == indexed


def test_links_are_not_followed(it: Home, tmp_path: Path) -> None:
    outside = write(tmp_path, "outside/secret.md", "green tea")
    (it.root / "memory/link.md").symlink_to(outside)
    (it.root / "memory/folder").symlink_to(outside.parent, target_is_directory=True)
    (it.root / "MEMORY.md").symlink_to(outside)
    assert it.sync().changed == ()


def test_one_file_under_two_names_is_one_source(it: Home) -> None:
    path = write(it.root, "MEMORY.md", "green tea")
    # What a disk that is blind to case looks like.
    os.link(path, it.root / "memory.md")
    it.sync()
    assert it.found("tea") == ["MEMORY.md"]


READ_AS = "memory/a.md is not UTF-8 and was read as {}. It becomes UTF-8 with the next change to it."


@pytest.mark.parametrize(
    ("content", "notice"),
    [
        ("我喜欢绿茶\n".encode(), ""),
        ("我喜欢绿茶\n".encode("utf-8-sig"), ""),
        ("我喜欢绿茶\n".encode("utf-16"), READ_AS.format("utf-16")),
        ("我喜欢绿茶\n".encode("gbk"), READ_AS.format("gb18030")),
    ],
    ids=["utf-8", "byte order mark", "utf-16", "gbk"],
)
def test_files_of_any_editor_are_read(it: Home, content: bytes, notice: str) -> None:
    (it.root / "memory/a.md").write_bytes(content)
    it.sync()
    assert it.found("绿茶") == ["memory/a.md"]
    assert it.full_text.notices() == [notice] * bool(notice)


def test_bytes_in_no_encoding_are_read_as_far_as_they_go(it: Home) -> None:
    (it.root / "memory/a.md").write_bytes(b"green tea \xff\xff\xff and more \x80")
    it.sync()
    assert it.found("tea") == ["memory/a.md"]
    assert len(it.full_text.notices()) == 1


def test_secrets_are_masked_before_they_are_indexed(it: Home) -> None:
    write(it.root, "memory/a.md", "the key is green")
    it.sync()
    assert (it.found("key"), it.found("green")) == ([], ["memory/a.md"])


def test_a_file_that_cannot_be_read_is_left_for_the_next_look(it: Home) -> None:
    (it.root / "memory/a.md").mkdir()
    write(it.root, "memory/b.md", "green tea")
    assert it.sync().changed == ("memory/b.md",)
