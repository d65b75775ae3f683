"""The test command: format, lint, types, tests, in this order; the first that fails ends it.

Tests run on every processor; those in a browser one after the other, for each has a page and a browser to itself.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CHECKS = (
    ("ruff", "format", "--check", "."),
    ("ruff", "check", "."),
    ("pyright", "--pythonpath", sys.executable),
    ("pytest", "-m", "not browser", "--numprocesses", "logical", "--dist", "worksteal"),
    ("pytest", "-m", "browser"),
)


def main() -> int:
    """Run every check with this interpreter's tools; the exit code is that of the first failure."""
    for check in CHECKS:
        print(f"\n$ {' '.join(check)}", flush=True)
        finished = subprocess.run([sys.executable, "-m", *check], cwd=Path(__file__).parent.parent, check=False)
        if finished.returncode:
            return finished.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
