"""What is allowed for longer is kept in the home, whole, and gone the moment it is revoked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assistant.storage.allowed_calls import MAX_KEPT, Allowance, AllowedCalls, Extent, covering

AT = "2026-12-01T10:00:00+00:00"
MAKE = Extent("Bash", "/home/files", "make")
WRITE = Extent("Write", "/home/files/plans")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "allowed_calls.json"


def test_it_is_there_for_the_next_program_and_not_readable_by_others(path: Path) -> None:
    added = AllowedCalls(path).add(MAKE, AT)
    assert AllowedCalls(path).all() == (added,) and (added.extent, added.at) == (MAKE, AT)
    assert path.stat().st_mode & 0o077 == 0
    assert json.loads(path.read_text("utf-8"))["version"] == 1


def test_the_same_again_stays_one_since_the_first_day(path: Path) -> None:
    calls = AllowedCalls(path)
    assert calls.add(MAKE, AT) == calls.add(MAKE, "2026-12-24T10:00:00+00:00")
    assert len(calls.all()) == 1


def test_what_is_revoked_elsewhere_is_gone_here_at_once(path: Path) -> None:
    here, elsewhere = AllowedCalls(path), AllowedCalls(path)
    added, kept = here.add(MAKE, AT), here.add(WRITE, AT)
    assert elsewhere.revoke(added.allowance_id)
    assert here.all() == (kept,)
    assert not here.revoke(added.allowance_id)


def test_where_too_many_are_kept_the_oldest_go(path: Path) -> None:
    calls = AllowedCalls(path)
    allowed = [
        {"allowance_id": f"{n}", "extent": {"tool": "Write", "folder": f"/{n}"}, "at": AT} for n in range(MAX_KEPT)
    ]
    path.write_text(json.dumps({"version": 1, "allowed": allowed}), "utf-8")
    calls.add(MAKE, AT)
    assert (len(calls.all()), calls.all()[0].allowance_id, calls.all()[-1].extent) == (MAX_KEPT, "1", MAKE)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b'{"version": 2, "allowed": []}',
        b'{"version": 1, "allowed": [], "pattern": "make *"}',
        b'{"version": 1, "allowed": [{"allowance_id": "a", "extent": {"tool": "Bash"}, "at": ""}]}',
    ],
)
def test_a_damaged_file_allows_nothing_is_told_once_and_is_put_aside(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    calls = AllowedCalls(path)
    assert (calls.all(), calls.take_damage(), calls.take_damage()) == ((), "allowed_calls.json", None)
    added = calls.add(MAKE, AT)
    assert calls.all() == (added,)
    assert path.with_name("allowed_calls.json.damaged").read_bytes() == content


def test_what_was_forgotten_in_part_allows_nothing() -> None:
    forgotten = Extent("Bash", "/home/files", "echo ⟦forgotten⟧")
    assert covering(forgotten, [Allowance("a", forgotten, AT)]) is None
