"""What the page keeps in `.env` is read back as it was given, and nothing else in the file changes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from dotenv import dotenv_values

from assistant.storage.env_file import keep_variables

BY_HAND = "# mine\nexport OTHER='a b'  # why\n\nPALIMPSEST_MODEL=old\nMANY=\"one\ntwo\"\n"


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("http://127.0.0.1:11434/v1", id="address"),
        pytest.param("sk-a'b\\n\"c#d $HOME", id="quotes, backslashes, marks"),
        pytest.param("模型 qwen", id="another script"),
        pytest.param("=a=", id="equals signs"),
    ],
)
def test_a_value_is_read_back_as_it_was_given(tmp_path: Path, value: str) -> None:
    path = tmp_path / ".env"
    keep_variables(path, {"PALIMPSEST_MODEL": value})
    assert dotenv_values(path, interpolate=False) == {"PALIMPSEST_MODEL": value}
    assert dotenv_values(path) == {"PALIMPSEST_MODEL": value}


def test_what_a_person_wrote_stays_and_an_empty_value_takes_one_out(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text(BY_HAND, "utf-8")
    keep_variables(path, {"PALIMPSEST_MODEL": "new", "PALIMPSEST_BASE_URL": ""})
    assert path.read_text("utf-8") == BY_HAND.replace("PALIMPSEST_MODEL=old\n", "") + "PALIMPSEST_MODEL=new\n"
    keep_variables(path, {"PALIMPSEST_MODEL": ""})
    assert dotenv_values(path) == {"OTHER": "a b", "MANY": "one\ntwo"}


def test_a_last_line_without_its_end_is_not_joined(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text("OTHER=a", "utf-8")
    keep_variables(path, {"PALIMPSEST_MODEL": "new"})
    assert dotenv_values(path) == {"OTHER": "a", "PALIMPSEST_MODEL": "new"}


@pytest.mark.skipif(sys.platform == "win32", reason="modes are those of POSIX")
def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    new, old = tmp_path / "new" / ".env", tmp_path / ".env"
    old.write_text("OTHER=a\n", "utf-8")
    old.chmod(0o644)
    for path in (new, old):
        keep_variables(path, {"PALIMPSEST_API_KEY": "sk-1"})
        assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, path = tmp_path / "kept.env", tmp_path / ".env"
    target.write_text("OTHER=a\n", "utf-8")
    path.symlink_to(target)
    keep_variables(path, {"PALIMPSEST_MODEL": "new"})
    assert path.is_symlink()
    assert dotenv_values(target) == {"OTHER": "a", "PALIMPSEST_MODEL": "new"}
