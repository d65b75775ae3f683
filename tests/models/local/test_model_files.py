"""Which file is meant, and which files are found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assistant.errors import ModelError, SettingsError
from assistant.models.local.model_files import chosen_model_file, find_model_files
from tests.models.local.gguf_heads import write_gguf


def aged(path: Path, days: int) -> Path:
    """The file as if it had come so many days ago."""
    os.utime(path, (1_700_000_000 - days * 86_400,) * 2)
    return path


def test_the_newest_that_can_chat_come_first_each_once(tmp_path: Path) -> None:
    old = aged(write_gguf(tmp_path / "lm" / "publisher" / "old.gguf"), 9)
    new = aged(write_gguf(tmp_path / "hub" / "models--a" / "snapshots" / "1" / "new.gguf"), 1)
    aged(write_gguf(tmp_path / "lm" / "mmproj.gguf", {"general.architecture": "clip"}), 0)
    write_gguf(tmp_path / "lm" / "big-00002-of-00002.gguf")
    (tmp_path / "lm" / "half.gguf").write_bytes(b"GG")
    (tmp_path / "lm" / "notes.txt").write_text("no model")
    (tmp_path / "lm" / "again.gguf").symlink_to(old)
    (tmp_path / "lm" / "nowhere.gguf").symlink_to(tmp_path / "gone.gguf")
    found = find_model_files([tmp_path / "hub", tmp_path / "lm", tmp_path / "not there"])
    assert [model.path.resolve() for model in found] == [new, old]


def test_folders_deep_below_are_not_searched(tmp_path: Path) -> None:
    write_gguf(tmp_path / "1" / "2" / "3" / "4" / "5" / "6" / "m.gguf")
    assert find_model_files([tmp_path]) == []


def test_a_path_that_is_named_counts_whatever_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_gguf(tmp_path / "blob")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert chosen_model_file(str(path), "").path == path
    assert chosen_model_file("~/blob", "").path == path


def test_without_a_path_the_newest_with_the_name_is_meant(tmp_path: Path) -> None:
    aged(write_gguf(tmp_path / "Qwen3-8B.gguf"), 5)
    aged(write_gguf(tmp_path / "Llama-3B.gguf"), 1)
    assert chosen_model_file("", "", [tmp_path]).name == "Llama-3B"
    assert chosen_model_file("", "qwen3", [tmp_path]).name == "Qwen3-8B"
    with pytest.raises(SettingsError, match="none of the GGUF files found has 'phi' in its name: Llama-3B, Qwen3-8B"):
        chosen_model_file("", "phi", [tmp_path])


def test_where_there_is_none_the_places_that_were_looked_at_are_told(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match="PALIMPSEST_MODEL_FILE: names no file, and there is no GGUF file in the us"
    ):
        chosen_model_file("", "", [tmp_path])


def test_a_folder_is_answered_with_the_files_in_it(tmp_path: Path) -> None:
    write_gguf(tmp_path / "a.gguf")
    with pytest.raises(SettingsError, match=r"is a folder. Name one of the files in it: a\.gguf"):
        chosen_model_file(str(tmp_path), "")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read: it does not exist"):
        chosen_model_file(str(tmp_path / "gone.gguf"), "")
