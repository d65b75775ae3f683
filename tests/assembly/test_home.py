"""A home that is opened: what kills left behind goes."""

from __future__ import annotations

import os
from pathlib import Path

from assistant.assembly.home import open_home
from assistant.config.settings import Settings


async def test_what_a_kill_left_half_written_goes_at_the_next_start(home: Path, tmp_path: Path) -> None:
    settings = Settings.model_validate({"home": home, "embedder": "none", "memory_store_backend": "local"})
    async with open_home(settings):
        pass
    outside = tmp_path / "outside"
    outside.mkdir()
    (home / "trash").rmdir()
    (home / "trash").symlink_to(outside)
    names = [home / ".USER.md.0123456789ab.tmp", home / "sessions" / ".a.json.0123456789ab.tmp"]
    others = [outside / ".a.json.0123456789ab.tmp", home / "files" / "draft.tmp"]
    for path in (*names, *others):
        path.write_text("{", encoding="utf-8")
        os.utime(path, (1_000, 1_000))
    async with open_home(settings):
        assert [path.exists() for path in (*names, *others)] == [False, False, True, True]
