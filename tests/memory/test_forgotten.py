"""What was forgotten comes back only when the person says it again."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from assistant.errors import ForgottenError
from assistant.memory.forgotten import ForgottenLines
from assistant.memory.log import MemoryLog, Origin
from assistant.memory.notes import OWNER_WRITER, Notes
from assistant.storage.workspace import Workspace

AT = "2026-11-30T12:00:00.000+00:00"
FACTS = ["i live in zürich", "我住在苏黎世"]


class Home:
    """The forgotten lines of a home, its notes, and what the person said since."""

    def __init__(self, folder: Path) -> None:
        self.workspace = Workspace(folder)
        self.said: list[str] = []
        self.asked_since: list[str] = []
        self.lines = ForgottenLines(self.workspace.forgotten_path, self._said_since)
        log = MemoryLog(self.workspace.memory_log_path)
        self.notes = Notes(self.workspace, log, lambda: datetime(2026, 12, 1, tzinfo=UTC), self.lines)

    def is_forgotten(self, line: str) -> bool:
        return not self.lines.without_forgotten([line])

    def _said_since(self, at: str) -> list[str]:
        self.asked_since.append(at)
        return self.said


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def test_nothing_is_forgotten_in_a_fresh_home(home: Home) -> None:
    assert not home.is_forgotten("- I live in Zürich")
    home.lines.lift("I live in Zürich")
    assert not home.workspace.forgotten_path.exists()


@pytest.mark.parametrize(
    "line", ["- I live in Zürich.", "That is it. I LIVE in  zürich!", "- 我住在苏黎世。我喜欢茶。"]
)
def test_a_line_is_known_again_in_other_clothes(home: Home, line: str) -> None:
    home.lines.add(FACTS, AT)
    assert home.is_forgotten(line)
    assert home.asked_since == [AT]


def test_a_file_of_many_lines_is_looked_through_in_time(home: Home) -> None:
    # To read all that was forgotten for each line, or to compare each with each, would outlast the limit of a test.
    home.lines.add([f"fact number {number}" for number in range(2_000)], AT)
    text = "".join(f"- line {number}\n" for number in range(20_000))
    with pytest.raises(ForgottenError, match="fact number 7"):
        home.notes.save("MEMORY.md", f"{text}- fact number 7\n", "", "assistant")
    home.notes.save("MEMORY.md", text, "", "assistant")
    assert home.notes.read("MEMORY.md").text == text


def test_the_file_does_not_tell_what_was_forgotten(home: Home) -> None:
    home.lines.add(FACTS, AT)
    text = home.workspace.forgotten_path.read_text(encoding="utf-8")
    assert "zürich" not in text.casefold()
    assert "苏黎世" not in text


def test_what_the_person_said_again_is_no_longer_forgotten(home: Home) -> None:
    home.lines.add(FACTS, AT)
    home.said = ["By the way, I live in\nZürich again", "我住在苏黎世市中心"]
    assert not home.is_forgotten("- I live in Zürich")
    assert not home.is_forgotten("我住在苏黎世")


def test_a_lifted_line_is_a_line_like_any_other(home: Home) -> None:
    home.lines.add(FACTS, AT)
    home.lines.lift("- I live in Zürich.")
    assert not home.is_forgotten("I live in Zürich")
    assert home.is_forgotten("我住在苏黎世")


def test_a_model_is_refused_and_the_person_is_not(home: Home) -> None:
    home.lines.add(FACTS, AT)
    with pytest.raises(ForgottenError, match="say it again"):
        home.notes.add_lines("USER.md", "About", ["I live in Zürich"], Origin("flush"))
    change = home.notes.add_lines("USER.md", "About", ["I live in Zürich", "likes tea"], Origin("flush"))
    assert change is not None
    assert home.notes.read("USER.md").text == "## About\n\n- likes tea\n"
    digest = home.notes.read("USER.md").digest
    with pytest.raises(ForgottenError):
        home.notes.save("USER.md", "- likes tea\n- 我住在苏黎世\n", digest, "assistant")
    home.notes.add_lines("USER.md", "About", ["I live in Zürich"], OWNER_WRITER)
    assert home.notes.read("USER.md").text == "## About\n\n- likes tea\n- I live in Zürich\n"
    assert not home.is_forgotten("I live in Zürich")


def test_what_the_person_writes_in_an_editor_is_no_longer_forgotten(home: Home) -> None:
    home.notes.add_lines("USER.md", "About", ["likes tea"], "flush")
    home.lines.add(FACTS, AT)
    (home.workspace.root / "USER.md").write_text("- 我住在苏黎世。\n", encoding="utf-8")
    assert home.notes.note_outside_change("USER.md") is not None
    assert not home.is_forgotten("我住在苏黎世")
    assert home.is_forgotten("I live in Zürich")


def test_a_damaged_list_refuses_nothing_and_is_begun_anew(home: Home) -> None:
    home.lines.add(FACTS, AT)
    home.workspace.forgotten_path.write_bytes(b"{")
    assert not home.is_forgotten("I live in Zürich")
    home.lines.add(FACTS, AT)
    assert home.is_forgotten("I live in Zürich")
