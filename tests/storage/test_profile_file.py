"""profiles.json is written and read as it is, and a file that cannot be read is told and left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.config.profiles import MAIN, Profile, Profiles
from assistant.errors import SettingsError
from assistant.storage.profile_file import MAX_BYTES, keep_profiles, read_profiles

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


@pytest.mark.parametrize(
    ("written", "default"),
    [
        pytest.param("new", "New", id="in other letters"),
        pytest.param("Old", "Old", id="one that is gone, which a conversation can say"),
        pytest.param("main", MAIN, id="the settings"),
    ],
)
def test_the_default_is_the_one_that_was_named(tmp_path: Path, written: str, default: str) -> None:
    path = tmp_path / "profiles.json"
    path.write_text(f'{{"default": "{written}", "profiles": [{{"name": "New", "provider": "offline"}}]}}', "utf-8")
    assert read_profiles(path).default == default


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "gb18030"])
def test_a_file_of_another_editor_is_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "profiles.json"
    path.write_text('{"profiles": [{"name": "在本机", "provider": "offline"}]}', encoding)
    assert read_profiles(path).names == ("在本机",)


def test_an_accent_may_be_typed_as_a_sign_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "profiles.json"
    keep_profiles(path, Profiles((Profile(name="Cafe\u0301", provider="offline"),)))
    named = read_profiles(path).named(" caf\u00e9 ")
    assert named is not None
    assert named.name == "Caf\u00e9"


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "profiles.json"
    path.write_text(" " * (MAX_BYTES + 1), "utf-8")
    assert "only files up to 1,000,000 are read whole" in read_profiles(path).problem


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
        pytest.param(
            '{"profiles": [{"name": "a", "provider": "openai", "base_url": "http://a.example/v1?api_key=sk-1"}]}',
            "does not belong in the address",
            id="a key in the address",
        ),
        pytest.param(
            '{"profiles": [{"name": "sk-1-proj-abcdefghijklmnop1234567", "provider": "openai"}]}',
            "looks like a key",
            id="a key in place of the name",
        ),
        pytest.param('{"profiles": [{"provider": "offline"}]}', "It is missing", id="no field for the name"),
        pytest.param('{"version": 1}', "There is no field of this name", id="a field of something else"),
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
