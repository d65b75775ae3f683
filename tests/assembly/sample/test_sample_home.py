"""The sample plays on numbers of its own, and on nothing that is private to the owner."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from pydantic import SecretStr

from assistant.assembly.sample.sample_home import sample_settings, write_sample_files
from assistant.assembly.sample.story import STORY_WINDOW_TOKENS, read_story
from assistant.config.settings import Settings
from assistant.storage.workspace import Workspace


def test_the_sample_asks_no_paid_server_and_shares_no_home(tmp_path: Path) -> None:
    owners = Settings(home=tmp_path / "mine", embedder="openai", embedding_api_key=SecretStr("key"), recent_n=9)
    settings = sample_settings(owners, tmp_path / "sample", "zh")
    chosen = (settings.home, settings.language, settings.embedder, settings.tools, settings.recall)
    assert chosen == (tmp_path / "sample", "zh", "none", "memory", "off")
    assert (settings.max_input_length, settings.recent_n) == (STORY_WINDOW_TOKENS, None)


def test_its_person_is_known_already_and_has_a_note(tmp_path: Path) -> None:
    workspace, today = Workspace(tmp_path), date(2026, 3, 2)
    write_sample_files(workspace, read_story("en", today), "en", today)
    notes = [workspace.relative_name(path) for path in workspace.memory_files()]
    assert not workspace.bootstrap_path.exists()
    assert [name for name in notes if name.startswith("memory/")] == ["memory/2026-02-25.md"]
