"""No other program of this user reads the environment of the assistant's process, however it was started."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# A setting that is refused ends both at once.
STARTS = {
    "page": "import app; app.main()",
    "command line": "from assistant.cli.main import main; main(['doctor'])",
}
ASKING = "import ctypes, os; print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), os.environ.get('OPENAI_API_KEY'))"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such a switch")
@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_a_process_is_not_inspected_and_its_environment_holds_no_key(start: str) -> None:
    environment = {**os.environ, "PALIMPSEST_PROVIDER": "nobody", "OPENAI_API_KEY": "plain-value-4711"}
    asked = subprocess.run(
        [sys.executable, "-c", f"{start}\n{ASKING}"], capture_output=True, text=True, check=True, env=environment
    )
    assert asked.stdout.strip() == "0 None"
