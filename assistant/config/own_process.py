"""What other programs may see of this process."""

from __future__ import annotations

import ctypes
import sys

_SET_DUMPABLE = 4
"""The number of `PR_SET_DUMPABLE` in Linux's `prctl`."""


def forbid_inspection() -> None:
    """On Linux no program of the same user reads this process's environment or memory from now on; elsewhere nothing.

    A program that it starts is open again: it has an environment without keys.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)
