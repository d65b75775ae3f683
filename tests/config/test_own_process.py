"""No other program of this user reads the environment of the assistant's process."""

from __future__ import annotations

import subprocess
import sys

import pytest

ASKING = """
import ctypes
from assistant.config.own_process import forbid_inspection
forbid_inspection()
print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such a switch")
def test_a_process_that_forbids_it_is_not_inspected() -> None:
    asked = subprocess.run([sys.executable, "-c", ASKING], capture_output=True, text=True, check=True)
    assert asked.stdout.strip() == "0"
