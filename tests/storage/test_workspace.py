"""A home knows where its files are, copies its template once, and lets no path leave."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from assistant.errors import WorkspaceError
from assistant.storage.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "home")


def test_every_file_stands_where_the_design_says(workspace: Workspace) -> None:
    paths = [
        workspace.agents_path,
        workspace.bootstrap_path,
        workspace.memory_folder,
        workspace.memory_log_path,
        workspace.dialog_folder,
        workspace.sessions_folder,
        workspace.tool_result_folder,
        workspace.compaction_failures_folder,
        workspace.skills_folder,
        workspace.files_folder,
        workspace.trash_folder,
        workspace.owner_path,
        workspace.note_path(date(2026, 5, 2)),
    ]
    assert [path.relative_to(workspace.root).as_posix() for path in paths] == [
        "AGENTS.md",
        "BOOTSTRAP.md",
        "memory",
        "memory_log.jsonl",
        "dialog",
        "sessions",
        "tool_result",
        "compaction_failures",
        "skills",
        "files",
        "trash",
        "owner.json",
        "memory/2026-05-02.md",
    ]


def test_a_new_home_is_for_its_owner_only_and_has_its_folders(workspace: Workspace) -> None:
    workspace.create()
    assert workspace.root.stat().st_mode & 0o777 == 0o700
    folders = sorted(path.name for path in workspace.root.iterdir() if path.is_dir())
    assert set(folders) >= {"compaction_failures", "dialog", "files", "index", "memory", "sessions", "trash"}


def test_a_file_of_the_owner_is_never_replaced_by_the_template(workspace: Workspace) -> None:
    workspace.root.mkdir()
    for name in ("AGENTS.md", "USER.md"):
        (workspace.root / name).write_text("mine")
    workspace.create()
    workspace.create("zh")
    assert [(workspace.root / name).read_text() for name in ("AGENTS.md", "USER.md")] == ["mine", "mine"]
    assert not workspace.bootstrap_path.exists()


def test_a_home_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkspaceError, match="cannot be used.*PALIMPSEST_HOME"):
        Workspace(tmp_path / "file" / "home").create()


@pytest.mark.parametrize("name", ["SOUL.md", "USER.md", "MEMORY.md", "memory/2026-05-02.md"])
def test_a_memory_file_is_found_by_its_name(workspace: Workspace, name: str) -> None:
    path = workspace.memory_path(name)
    assert path == workspace.root / name
    assert workspace.is_memory_file(path)
    workspace.memory_folder.mkdir(parents=True)
    path.write_text("")
    assert workspace.relative_name(path) == name


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "AGENTS.md", "../USER.md", "/etc/passwd", "memory", "memory/", "memory/x.md", "memory/../USER.md"]
    + [
        "memory/2026-05-02.md/x",
        "memory/2026-05-02.MD",
        "memory/2026-05-02.md\n",
        "memory\\2026-05-02.md",
        "USER.md\0",
    ],
)
def test_any_other_name_is_refused(workspace: Workspace, name: str) -> None:
    with pytest.raises(WorkspaceError, match="is not a memory file"):
        workspace.memory_path(name)


def test_links_are_not_followed(workspace: Workspace, tmp_path: Path) -> None:
    workspace.root.mkdir()
    (workspace.root / "USER.md").symlink_to(tmp_path / "outside.md")
    (tmp_path / "elsewhere").mkdir()
    workspace.memory_folder.symlink_to(tmp_path / "elsewhere")
    for name in ("USER.md", "memory/2026-05-02.md"):
        with pytest.raises(WorkspaceError, match="is a link"):
            workspace.memory_path(name)


@pytest.mark.parametrize(
    ("name", "is_memory"),
    [
        ("USER.md", True),
        ("memory/new/deep.md", True),
        ("files/../MEMORY.md", True),
        ("AGENTS.md", False),
        ("memory/picture.png", False),
        ("files/memory/2026-05-02.md", False),
        ("../USER.md", False),
    ],
)
def test_what_counts_as_memory_is_judged_by_where_it_ends(workspace: Workspace, name: str, is_memory: bool) -> None:
    assert workspace.is_memory_file(workspace.root / name) is is_memory


def test_memory_files_are_listed_with_the_newest_note_first(workspace: Workspace, tmp_path: Path) -> None:
    workspace.memory_folder.mkdir(parents=True)
    for name in ("2026-05-01.md", "2026-05-02.md", "readme.md"):
        (workspace.memory_folder / name).write_text("")
    (workspace.memory_folder / "2026-05-03.md").mkdir()
    (workspace.memory_folder / "2026-05-04.md").symlink_to(tmp_path / "outside.md")
    assert [path.relative_to(workspace.root).as_posix() for path in workspace.memory_files()] == [
        "SOUL.md",
        "USER.md",
        "MEMORY.md",
        "memory/2026-05-02.md",
        "memory/2026-05-01.md",
    ]
