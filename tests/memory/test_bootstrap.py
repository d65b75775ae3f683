"""The guidance of the first conversation stays until both names are really filled in."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.memory.bootstrap import finish_bootstrap
from assistant.storage.workspace import Workspace
from assistant.text.labels import is_filled


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("", False),
        ("  \n", False),
        ("# Who\n\n- Name:\n- Language: en\n", False),
        ("# Who\n\n- Name:  \n", False),
        ("# Who\n\n- Name: Ada\n", True),
        ("# Who\n\n- **Name:** Ada\n", True),
        ("# 对方是谁\n\n- 姓名：\n", False),
        ("# 对方是谁\n\n- 姓名：小林\n", True),
        ("- Name:\n- To be called:\n\n- Name: Ada\n", True),
        ("I am Ada and I like short answers.", True),
    ],
)
def test_a_file_is_filled_when_its_name_line_is(text: str, filled: bool) -> None:
    assert is_filled(text) is filled


@pytest.mark.parametrize(("language", "line"), [("en", "- Name:"), ("zh", "- 名字："), ("zh", "- 姓名：")])
def test_the_template_starts_unfilled(language: str, line: str, home: Path) -> None:
    workspace = Workspace(home)
    workspace.create(language)
    texts = [(home / name).read_text(encoding="utf-8") for name in ("SOUL.md", "USER.md")]
    assert [is_filled(text) for text in texts] == [False, False]
    assert any(line in text.splitlines() for text in texts)


def test_the_guidance_goes_once_both_names_are_known_and_does_not_come_back(home: Path) -> None:
    workspace = Workspace(home)
    workspace.create()
    assert not finish_bootstrap(workspace)
    (home / "USER.md").write_text("- Name: Ada\n", encoding="utf-8")
    assert not finish_bootstrap(workspace)
    assert workspace.bootstrap_path.exists()
    (home / "SOUL.md").write_text("- Name: Quill\n", encoding="utf-8")
    assert finish_bootstrap(workspace)
    assert not finish_bootstrap(workspace)
    workspace.create()
    assert not workspace.bootstrap_path.exists()
