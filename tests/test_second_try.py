"""The test command runs a few failures of the browser once more alone, and says which passed only then."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

import pytest

from tests import __main__ as command

ONE, MANY = ["tests/browser/test_turn.py::test_one"], [f"tests/browser/test_turn.py::test_{n}" for n in range(4)]


class Runs:
    """What was run, and how each run of a browser ends."""

    def __init__(self, *codes: int) -> None:
        self.codes = list(codes)
        self.tried: list[str] = []

    def __call__(self, words: Sequence[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        is_browser = "browser" in words
        self.tried += ["alone" if "--last-failed" in words else "beside others"] if is_browser else []
        return subprocess.CompletedProcess(words, self.codes.pop(0) if is_browser else 0)


@pytest.mark.parametrize(
    ("codes", "failed", "tried", "code"),
    [
        pytest.param([0], [], ["beside others"], 0, id="all pass"),
        pytest.param([1, 0], ONE, ["beside others", "alone"], 0, id="one passes alone"),
        pytest.param([1, 1], ONE, ["beside others", "alone"], 1, id="one fails again"),
        pytest.param([1, 0], MANY, ["beside others"], 1, id="too many for an accident"),
        pytest.param([2, 0], ONE, ["beside others"], 2, id="the run itself broke"),
    ],
)
def test_a_failure_in_the_browser_is_tried_once_more(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    codes: list[int],
    failed: list[str],
    tried: list[str],
    code: int,
) -> None:
    runs = Runs(*codes)
    monkeypatch.setattr(subprocess, "run", runs)
    monkeypatch.setattr(command, "_last_failed", lambda: failed)
    assert command.run_all() == code
    assert runs.tried == tried
    assert ("passed alone" in capsys.readouterr().out) == (tried[-1] == "alone" and code == 0)
