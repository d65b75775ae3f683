"""profiles.json is written and read as it is, and a file that cannot be read is told and left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.config.profiles import MAIN, Profile, Profiles
from assistant.errors import SettingsError
from assistant.storage.profile_file import keep_profiles, read_profiles

CLAUDE = Profile(name="Claude", provider="anthropic", key="PALIMPSEST_PROFILE_KEY_1")
HERE = Profile(
    name="在本机", provider="ollama", base_url="http://127.0.0.1:11434", model="qwen3:8b", max_input_length=8_000
)


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "profiles.json"
    assert read_profiles(path) == Profiles()
    keep_profiles(path, Profiles((CLAUDE, HERE), "在本机"))
    assert read_profiles(path) == Profiles((CLAUDE, HERE), "在本机")
    assert read_profiles(path).named("claude") == CLAUDE


def test_a_default_that_is_gone_is_the_settings_again(tmp_path: Path) -> None:
    path = tmp_path / "profiles.json"
    path.write_text('{"default": "Old", "profiles": [{"name": "New", "provider": "offline"}]}', "utf-8")
    assert read_profiles(path).default == MAIN


@pytest.mark.parametrize(
    ("content", "named"),
    [
        pytest.param("{", "profiles.json", id="no JSON"),
        pytest.param('{"profiles": [{"name": "a"}]}', "provider", id="nothing to ask"),
        pytest.param('{"profiles": [{"name": "a", "provider": "openai", "api_key": "sk-1"}]}', "api_key", id="a key"),
        pytest.param('{"profiles": [{"name": "a", "provider": "openai", "key": "HOME"}]}', "key", id="no key's name"),
        pytest.param('{"profiles": [{"name": "Main", "provider": "offline"}]}', "name", id="the settings' own name"),
        pytest.param('{"profiles": [{"name": "主配置", "provider": "offline"}]}', "name", id="the same in Chinese"),
        pytest.param('{"profiles": [{"name": " ", "provider": "offline"}]}', "name", id="no name"),
        pytest.param(
            '{"profiles": [{"name": "a", "provider": "offline"}, {"name": "A", "provider": "offline"}]}',
            "a",
            id="twice",
        ),
        pytest.param('{"profiles": [{"name": "a", "provider": "openai", "base_url": "x"}]}', "base_url", id="address"),
    ],
)
def test_what_cannot_be_read_is_told_and_never_written_over(tmp_path: Path, content: str, named: str) -> None:
    path = tmp_path / "profiles.json"
    path.write_text(content, "utf-8")
    read = read_profiles(path)
    assert read.listed == ()
    assert named in read.problem
    assert "sk-1" not in read.problem
    with pytest.raises(SettingsError):
        keep_profiles(path, Profiles((CLAUDE,)))
    assert path.read_text("utf-8") == content
