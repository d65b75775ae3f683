"""A conversation is taken away as a file with what was attached, and comes into another home from any form of it."""

from __future__ import annotations

import io
import stat
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assistant.errors import SessionError, SessionNotFoundError
from assistant.messages.attached import AttachedFile
from assistant.messages.attached_blocks import attached_text
from assistant.messages.blocks import AssistantMsg, Msg, TextBlock, UserMsg, text_of
from assistant.storage.artifacts import Artifacts
from assistant.storage.export import Imported
from assistant.storage.journal.journal import Journal
from assistant.storage.portable import (
    ExportForm,
    PortableHome,
    download_of,
    import_portable,
    read_portable,
)
from assistant.storage.sessions.sessions import Sessions
from assistant.storage.workspace import Workspace
from assistant.text.known_secrets import NO_KNOWN_SECRETS

NOW = datetime(2026, 11, 30, 14, 5, tzinfo=UTC)
KEY = "ghp_" + "a1B2" * 9
KEPT = "files/attached/notes.txt"


def home_in(folder: Path) -> PortableHome:
    workspace = Workspace(folder)
    workspace.create()
    journal = Journal(workspace, lambda: NOW)
    sessions = Sessions(workspace, journal, lambda: NOW)
    return PortableHome(workspace, sessions, journal, Artifacts(workspace), NO_KNOWN_SECRETS)


def talk(home: PortableHome, *messages: Msg, title: str = "Boats --> and <b>nets</b>") -> str:
    session = home.sessions.create(title)
    session.messages = list(messages)
    home.journal.append_missing(session.session_id, "owner", messages)
    home.sessions.save(session)
    return session.session_id


def plain(home: PortableHome) -> str:
    question = "<!-- palimpsest:user {} -->\n\\<!-- palimpsest:x\n# 标题\n\n  deep"
    return talk(home, UserMsg("user", question), AssistantMsg("palimpsest", "## You, then\n```\n<!-- -->\n```"))


def with_file(home: PortableHome) -> str:
    file = AttachedFile("notes.txt", KEPT, 30, 5, "whole")
    path = home.workspace.root / KEPT
    path.parent.mkdir(parents=True)
    path.write_text(f"the kept words {KEY}", "utf-8")
    return talk(home, UserMsg("user", [TextBlock(text=f"Read this {KEY}"), attached_text(file, "the kept words")]))


def said(home: PortableHome, session_id: str) -> list[str]:
    return [text_of(message) for message in home.sessions.load(session_id).messages]


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_what_was_said_comes_back_from_either_form_and_twice_is_told(tmp_path: Path, form: ExportForm) -> None:
    first, second = home_in(tmp_path / "first"), home_in(tmp_path / "second")
    session_id = plain(first)
    download = download_of(first, session_id, form, NOW)
    assert (
        download.name == {"json": "Boats --_ and _b_nets__b_.jsonl", "markdown": "Boats --_ and _b_nets__b_.md"}[form]
    )
    assert import_portable(second, read_portable(download.content)) == Imported((session_id,), ())
    assert said(second, session_id) == said(first, session_id)
    assert second.sessions.list()[0].title == first.sessions.list()[0].title
    assert import_portable(second, read_portable(download.content)) == Imported((), (session_id,))


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_attached_files_go_along_masked_and_never_over_one_that_is_there(tmp_path: Path, form: ExportForm) -> None:
    first, second, third = (home_in(tmp_path / name) for name in ("first", "second", "third"))
    session_id = with_file(first)
    download = download_of(first, session_id, form, NOW)
    assert download.name.endswith(".zip")
    assert KEY.encode() not in b"".join(
        zipfile.ZipFile(io.BytesIO(download.content)).read(name)
        for name in zipfile.ZipFile(io.BytesIO(download.content)).namelist()
    )
    import_portable(second, read_portable(download.content))
    assert (second.workspace.root / KEPT).read_text("utf-8").startswith("the kept words")
    other = third.workspace.root / KEPT
    other.parent.mkdir(parents=True)
    other.write_text("mine", "utf-8")
    import_portable(third, read_portable(download.content))
    assert other.read_text("utf-8") == "mine"


def archive(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        for name, content in files.items():
            made.writestr(name, content)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "no conversation that Palimpsest exported"),
        (b"# Notes\n\nnot ours", "no conversation that Palimpsest exported"),
        (b'{"messages": []}', "Line 1 of the file cannot be imported"),
        (b"\xff\xfe\x00", "no conversation that Palimpsest exported"),
        (b"<!-- palimpsest:conversation {} -->\n# x", "changed so that it cannot be told"),
        (b"PK\x03\x04 torn", "damaged or encrypted"),
        (archive(readme=b"x"), "no conversation that Palimpsest exported"),
    ],
    ids=["empty", "notes", "other JSON", "binary", "no head", "torn", "other archive"],
)
def test_what_is_no_export_is_told_and_changes_nothing(tmp_path: Path, content: bytes, told: str) -> None:
    home = home_in(tmp_path)
    with pytest.raises(SessionError, match=told):
        import_portable(home, read_portable(content))
    assert home.sessions.list() == []


def test_no_name_in_an_archive_leaves_the_home(tmp_path: Path) -> None:
    first, second = home_in(tmp_path / "first"), home_in(tmp_path / "second")
    conversation = download_of(first, plain(first), "json", NOW).content
    names = ["../evil.txt", "files/attached/../../evil.txt", "/etc/evil", "files/attached/.hidden", "MEMORY.md"]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        made.writestr("conversation.jsonl", conversation)
        for name in names:
            made.writestr(name, b"evil")
        link = zipfile.ZipInfo("files/attached/link.txt")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        made.writestr(link, b"/etc/passwd")
        made.writestr("files/attached/good.txt", b"good")
    assert read_portable(packed.getvalue()).files == {"files/attached/good.txt": b"good"}
    import_portable(second, read_portable(packed.getvalue()))
    assert not list(tmp_path.rglob("evil*"))


def test_a_conversation_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SessionNotFoundError):
        download_of(home_in(tmp_path), "nobody", "json", NOW)
