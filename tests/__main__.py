"""The test command: format, lint, types, tests, in this order; the first that fails ends it.

Tests run on every processor; those in a browser after the others, each processor with a page and a browser of its own.
Where a few of these fail, they run once more alone: what fails again is a failure, and what passes then is named,
because a page that is right on a quiet machine alone wants to be mended too.

`python -m tests --fast` is for while you write: format, lint, and at the same time types and tests of what differs from
the branch `main`. Types are checked in the changed files and in those that import them. Of the tests come those of the
same name, then those that import what has changed, the nearest first, as many as 20 seconds take; it says how many were
left. Run the whole before you hand a change on.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.touched import changed_files, direct_importers, touched_tests

CHECKS = (
    ("ruff", "format", "--check", "."),
    ("ruff", "check", "."),
    ("pyright", "--pythonpath", sys.executable),
    ("pytest", "-m", "not browser", "--numprocesses", "logical", "--dist", "worksteal"),
    ("pytest", "-m", "browser", "--numprocesses", "logical", "--dist", "worksteal"),
)
SECOND_TRY = ("pytest", "-m", "browser", "--last-failed", "--last-failed-no-failures", "none")
MOST_TRIED_TWICE = 3
"""More failures than these are no accident of a busy machine."""
FAST_SECONDS = 20.0
_TOP = Path(__file__).parent.parent


class TimeLimit:
    """Ends a run of tests once it has taken so long; the test that runs then comes to its end."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._waiting = 0
        self.has_stopped = False
        self.has_failed = False

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Learn how many there are."""
        self._waiting = len(session.items)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Learn whether one failed, which the exit code of a run that was stopped does not say."""
        self.has_failed |= report.failed

    def pytest_runtest_logfinish(self) -> None:
        """Count one more."""
        self._waiting -= 1

    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Look at the clock."""
        if time.monotonic() > self._end and self._waiting > 1:
            self.has_stopped = True
            item.session.shouldstop = f"{self._waiting - 1} of the touched tests were left out: {FAST_SECONDS:.0f} s"


def run_fast() -> int:
    """Check what has changed; the exit code is 1 when anything failed."""
    changed = changed_files()
    if not changed:
        print("Nothing differs from main.")
        return 0
    ours = [name for name in direct_importers(changed) if name.startswith(("assistant/", "app.py", "tests/fakes/"))]
    lint = [_start("ruff", "format", "--check", "."), _start("ruff", "check", ".")]
    types = [_start("pyright", "--pythonpath", sys.executable, *ours)] if ours else []
    limit = TimeLimit(FAST_SECONDS)
    code = pytest.main(["-q", "-m", "not browser", *touched_tests(changed)], plugins=[limit])
    is_green = code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    codes = [check.wait() for check in (*lint, *types)]
    return 0 if not any(codes) and (is_green or (limit.has_stopped and not limit.has_failed)) else 1


def _start(*words: str) -> subprocess.Popen[bytes]:
    print(f"$ {' '.join(words[:6])}{' …' if len(words) > 6 else ''}", flush=True)
    return subprocess.Popen([sys.executable, "-m", *words], cwd=_TOP)


def run_all() -> int:
    """Run every check with this interpreter's tools; the exit code is that of the first failure."""
    for check in CHECKS:
        code = _run(check)
        if code == pytest.ExitCode.TESTS_FAILED and check == CHECKS[-1]:
            code = _try_again(_last_failed())
        if code:
            return code
    return 0


def _run(check: Sequence[str]) -> int:
    print(f"\n$ {' '.join(check)}", flush=True)
    return subprocess.run([sys.executable, "-m", *check], cwd=_TOP, check=False).returncode


def _last_failed() -> list[str]:
    """The tests that failed when pytest ran last."""
    return list(json.loads((_TOP / ".pytest_cache/v/cache/lastfailed").read_text(encoding="utf-8")))


def _try_again(failed: Sequence[str]) -> int:
    if not 0 < len(failed) <= MOST_TRIED_TWICE:
        return pytest.ExitCode.TESTS_FAILED
    code = _run(SECOND_TRY)
    if not code:
        print("\nFailed beside others, passed alone; each wants to be mended:", *failed, sep="\n  ")
    return code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all checks, or with `--fast` those of what has changed."""
    parser = argparse.ArgumentParser(prog="python -m tests", description="Format, lint, types and tests.")
    parser.add_argument("--fast", action="store_true", help="only what differs from main, in about half a minute")
    return run_fast() if parser.parse_args(arguments).fast else run_all()


if __name__ == "__main__":
    sys.exit(main())
