"""Looking at a folder again: what changed is seen, in whatever way it did."""

from __future__ import annotations

import os
from pathlib import Path

from assistant.storage.folder_look import FolderLook, sign_of


def look_at(folder: Path) -> FolderLook:
    return FolderLook(folder, lambda name: name.endswith(".json"))


def write_long_ago(path: Path, text: str) -> Path:
    path.write_text(text)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    return path


def test_files_are_told_by_name_and_nothing_else_is(tmp_path: Path) -> None:
    write_long_ago(tmp_path / "a.json", "1")
    (tmp_path / "b.txt").write_text("2")
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "nowhere.json").symlink_to(tmp_path / "missing")
    assert look_at(tmp_path).signs() == {"a.json": sign_of(tmp_path / "a.json")}
    assert look_at(tmp_path / "missing").signs() == {}
    assert look_at(tmp_path / "b.txt").signs() == {}


def test_new_replaced_and_removed_files_are_seen_at_once(tmp_path: Path) -> None:
    for number in range(9):
        write_long_ago(tmp_path / f"{number}.json", "1")
    look = look_at(tmp_path)
    look.signs()
    write_long_ago(tmp_path / "new.json", "1")
    write_long_ago(tmp_path / "other", "2").replace(tmp_path / "0.json")
    (tmp_path / "1.json").unlink()
    assert look.signs() == look_at(tmp_path).signs()


def test_what_is_written_in_place_is_seen_at_once_where_it_is_expected(tmp_path: Path) -> None:
    for number in range(9):
        write_long_ago(tmp_path / f"{number}.json", "1")
    look = look_at(tmp_path)
    look.signs()
    # The last few by name grow each day; of another the program says that it wrote it.
    for name in ("8.json", "6.json", "0.json"):
        with (tmp_path / name).open("a") as file:
            file.write("more")
    look.expect_change("0.json")
    assert look.signs() == look_at(tmp_path).signs()


def test_a_file_that_changed_just_now_is_looked_at_again(tmp_path: Path) -> None:
    for number in range(9):
        write_long_ago(tmp_path / f"{number}.json", "1")
    (tmp_path / "0.json").write_text("2")
    look = look_at(tmp_path)
    look.signs()
    (tmp_path / "0.json").write_text("longer")
    assert look.signs()["0.json"].size == 6
