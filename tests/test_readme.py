"""The README is short, and its commands and front matter are those of the project."""

from __future__ import annotations

import re

import pytest

from tests.source_files import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
TEST_COMMAND = "pip install -r requirements-dev.txt && python -m tests"
RUN_COMMAND = "pip install -r requirements.txt && python app.py"
MAX_LINES = 130


def test_it_is_read_in_one_sitting() -> None:
    assert len(README.splitlines()) <= MAX_LINES


def test_it_shows_the_page_and_how_to_run_it() -> None:
    assert RUN_COMMAND in README.splitlines()
    assert re.findall(r'src(?:set)?="(docs/[\w-]+\.png)"', README) == ["docs/page-dark.png", "docs/page-light.png"]


@pytest.mark.parametrize("script", [".ci/run", "README.md"])
def test_ci_and_people_run_the_same_test_command(script: str) -> None:
    text = (ROOT / script).read_text(encoding="utf-8")
    assert TEST_COMMAND in text.splitlines()


def test_the_workflow_runs_it_on_every_python_and_system() -> None:
    text = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    assert TEST_COMMAND in [line.strip() for line in text.splitlines()]
    assert re.search(r'python: \["3\.11", "3\.12", "3\.13"\]', text)
    assert re.search(r"system: \[ubuntu-latest, macos-latest, windows-latest\]", text)


def test_the_space_gets_the_gradio_that_is_pinned() -> None:
    front = dict(re.findall(r"^(\w+): (.*)$", README.split("---\n")[1], re.MULTILINE))
    pinned = re.search(r"^gradio==(.*)$", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert pinned is not None
    assert (front["sdk"], front["sdk_version"], front["app_file"]) == ("gradio", pinned[1], "app.py")
    assert front["python_version"] == '"3.11"'
    assert len(front["short_description"]) <= 60
