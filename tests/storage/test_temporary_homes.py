"""A guest's home goes when it closes, and after a kill at the next start; no other folder is touched."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from assistant.storage.ownership import HomeOwnership
from assistant.storage.temporary_homes import remove_left_homes, temporary_home
from assistant.storage.workspace import Workspace

LATER = 10_000.0


def test_what_a_kill_left_goes_and_what_is_open_young_or_kept_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kept, killed = tmp_path / "palimpsest-mine", tmp_path / "palimpsest-killed"
    for folder in (kept, killed):
        folder.mkdir()
        (folder / "USER.md").write_text("- Name: Ada\n", encoding="utf-8")
    (killed / ".thrown-away").touch()
    with temporary_home() as young, temporary_home() as opened, HomeOwnership(Workspace(opened)):
        for folder in (killed, opened):
            os.utime(folder / ".thrown-away", (1_000, 1_000))
        os.utime(young / ".thrown-away", (LATER, LATER))
        assert remove_left_homes(LATER) == 1
        assert [path.exists() for path in (killed, kept, young, opened)] == [False, True, True, True]
    assert [path.exists() for path in (young, opened)] == [False, False]
