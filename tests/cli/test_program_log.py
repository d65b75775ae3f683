"""What goes wrong is in a file of the home, masked; a person reads one line."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from assistant.cli import program_log
from assistant.cli.main import main
from assistant.cli.program_log import HomeLogHandler, ProgramLog, QuietLogger
from tests.fakes.home import home_settings

KEY = "plain-value-4711"


def test_the_log_is_in_the_home_and_holds_no_key(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home.mkdir()
    with ProgramLog(home_settings(home, api_key=KEY), is_verbose=False):
        logging.getLogger("assistant.test").warning("refused %s, my password is hunter22", KEY)
        logging.getLogger("a.library").info("every request")
    logging.getLogger("assistant.test").info("afterwards")
    written = (home / "palimpsest.log").read_text(encoding="utf-8")
    assert "refused ⟦masked: known key⟧, my password is ⟦masked: secret⟧" in written
    assert len(written.splitlines()) == 1
    assert capsys.readouterr().err == ""


def test_a_person_who_asks_for_it_sees_the_log(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ProgramLog(home_settings(home, api_key=KEY), is_verbose=True):
        logging.getLogger("assistant.test").info("sent %s", KEY)
    assert capsys.readouterr().err.endswith("assistant.test: sent ⟦masked: known key⟧\n")
    assert not home.exists()


def test_what_nobody_foresaw_is_one_line_and_its_traceback_in_the_log(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home.mkdir()

    def fail(*_: object) -> int:
        raise KeyError(KEY)

    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("assistant.cli.home_commands.run_sessions", fail)
    assert main(["sessions"]) == 1
    said = capsys.readouterr().err
    assert said == f"palimpsest: Something unforeseen happened; {home / 'palimpsest.log'} has the details.\n"
    written = (home / "palimpsest.log").read_text(encoding="utf-8")
    assert "Traceback" in written
    assert KEY not in written


def test_a_log_that_is_large_begins_again(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_log, "MAX_BYTES", 10)
    home.mkdir()
    (home / "palimpsest.log").write_text("an old line\n", encoding="utf-8")
    with ProgramLog(home_settings(home), is_verbose=False):
        logging.getLogger("assistant.test").info("a new line")
    assert (home / "palimpsest.log.1").read_text(encoding="utf-8") == "an old line\n"
    assert (home / "palimpsest.log").read_text(encoding="utf-8").endswith("a new line\n")


def test_no_library_writes_to_the_terminal(tmp_path: Path) -> None:
    logger = QuietLogger("a library")
    logger.addHandler(logging.StreamHandler(sys.stderr))
    file = logging.FileHandler(tmp_path / "own.log", delay=True)
    logger.addHandler(file)
    assert logger.handlers == [file]


def test_a_failed_turn_is_one_line_on_standard_error(home: Path) -> None:
    command = [sys.executable, "-m", "assistant", "chat", "--home", str(home), "--once", "Hi"]
    environment = {
        "PALIMPSEST_PROVIDER": "openai",
        "PALIMPSEST_BASE_URL": "http://127.0.0.1:9/v1",
        "PALIMPSEST_MODEL": "nobody-7b",
        "PALIMPSEST_EMBEDDER": "none",
        "PALIMPSEST_MEMORY": "off",
        "PATH": "",
    }
    ended = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, env=environment)
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1
    assert ended.stderr.startswith("palimpsest: ")
    assert "Traceback" not in ended.stderr + ended.stdout


def test_a_log_that_cannot_be_opened_stops_nothing(home: Path) -> None:
    (home / "log.txt").mkdir(parents=True)
    handler = HomeLogHandler(home / "log.txt", encoding="utf-8", delay=True)
    handler.emit(logging.LogRecord("a", logging.ERROR, "", 0, "words", None, None))
    handler.close()
    assert list((home / "log.txt").iterdir()) == []
