"""Attached files are kept under `files/attached/`, each under a name of its own that leads nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.errors import WorkspaceError
from assistant.messages.attached import AttachedFile
from assistant.storage.attachments import MAX_NAME_CHARS, Attachments, picture_type, safe_name
from assistant.storage.workspace import Workspace


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("report.pdf", "report.pdf"),
        ("会议 记录.docx", "会议 记录.docx"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\plan.txt", "plan.txt"),
        (".env", "env"),
        ("..", "file"),
        ("", "file"),
        ("a\x00b\nc.txt", "abc.txt"),
        ("photo\u202egnp.exe", "photognp.exe"),
        ('a"<b>&$(rm).txt', "a_b_(rm).txt"),
        ("con.txt", "_con.txt"),
        (f"{'x' * 300}.csv", f"{'x' * (MAX_NAME_CHARS - 4)}.csv"),
    ],
)
def test_a_name_is_made_safe(name: str, safe: str) -> None:
    assert safe_name(name) == safe


def test_a_name_in_wide_letters_fits_what_a_system_takes() -> None:
    assert len(safe_name("字" * 300 + ".txt").encode()) <= 2 * MAX_NAME_CHARS


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A new home."""
    workspace = Workspace(tmp_path / "home")
    workspace.create()
    return workspace


def test_two_files_of_one_name_are_both_kept(workspace: Workspace, tmp_path: Path) -> None:
    attachments, source = Attachments(workspace), tmp_path / "source"
    kept: list[str] = []
    for content in ("one", "two"):
        source.write_text(content, "utf-8")
        kept.append(attachments.keep("notes.txt", source))
    assert kept == ["files/attached/notes.txt", "files/attached/notes-2.txt"]
    assert [(workspace.root / path).read_text("utf-8") for path in kept] == ["one", "two"]


def test_a_link_in_place_of_the_folder_is_not_followed(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (workspace.files_folder / "attached").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WorkspaceError):
        Attachments(workspace).keep_text("notes.txt", "words")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_picture_is_found_by_its_name_and_by_no_path(workspace: Workspace) -> None:
    attachments = Attachments(workspace)
    name = attachments.keep_picture(b"points", "image/jpeg")
    assert (attachments.picture(name), picture_type(name)) == (b"points", "image/jpeg")
    for other in ("", f"../pictures/{name}", f"{'0' * 32}.jpg", "../SOUL.md"):
        assert attachments.picture(other) is None
    attachments.remove_picture(name)
    assert attachments.picture(name) is None


@pytest.mark.parametrize(
    ("kept", "kept_text", "size_bytes", "left"),
    [
        ("files/attached/a.pdf", "files/attached/a.pdf.txt", 3, ["mine.txt"]),
        ("files/attached/gone.pdf", "files/attached/a.pdf.txt", 3, ["a.pdf", "mine.txt"]),
        ("files/attached/a.pdf", "files/attached/a.pdf.txt", 4, ["a.pdf", "a.pdf.txt", "mine.txt"]),
        ("files/mine.txt", "SOUL.md", 3, ["a.pdf", "a.pdf.txt", "mine.txt"]),
        ("files/attached/../mine.txt", "files/attached/..", 3, ["a.pdf", "a.pdf.txt", "mine.txt"]),
        ("/etc/hostname", "", 3, ["a.pdf", "a.pdf.txt", "mine.txt"]),
        ("files/attached/a\0", f"files/attached/{'x' * 5_000}", 3, ["a.pdf", "a.pdf.txt", "mine.txt"]),
    ],
    ids=["as it came", "no more there", "changed since", "elsewhere", "a way out", "a whole path", "no name at all"],
)
def test_what_is_kept_of_a_file_is_removed_and_nothing_else(
    workspace: Workspace, kept: str, kept_text: str, size_bytes: int, left: list[str]
) -> None:
    folder = workspace.files_folder / "attached"
    folder.mkdir()
    for path in (
        folder / "a.pdf",
        folder / "a.pdf.txt",
        workspace.files_folder / "mine.txt",
        workspace.root / "SOUL.md",
    ):
        path.write_text("abc", "utf-8")
    Attachments(workspace).remove(AttachedFile("a.pdf", kept, size_bytes, 1, "whole", kept_text=kept_text))
    assert sorted(path.name for path in workspace.files_folder.rglob("*.*")) == left
    assert (workspace.root / "SOUL.md").exists()


def test_a_text_in_which_something_was_forgotten_goes_as_well(workspace: Workspace) -> None:
    attachments = Attachments(workspace)
    kept = attachments.keep_text("notes.csv", "day,⟦forgotten⟧")
    attachments.remove(AttachedFile("notes.csv", kept, 9, 1, "whole"))
    assert not (workspace.root / kept).exists()
