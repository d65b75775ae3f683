"""One thread for numpy's matrix products: several spin while they wait, and beside other work that costs far more."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from pathlib import Path

import numpy as np

# Measured on two busy cores: a question is encoded in 2 ms with one thread, in 40 to 200 ms with two.
_SETTERS = (
    "scipy_openblas_set_num_threads64_",
    "scipy_openblas_set_num_threads",
    "openblas_set_num_threads64_",
    "openblas_set_num_threads",
)


def use_one_thread() -> bool:
    """Tell the OpenBLAS that numpy's wheel brings; False where numpy uses another library, and all stays as it is."""
    folder = Path(np.__file__).parent
    libraries = [*folder.parent.glob("numpy.libs/*openblas*"), *folder.glob(".dylibs/*openblas*")]
    return any(_set_threads(path) for path in libraries)


def _set_threads(path: Path) -> bool:
    # numpy has the library open already, so this is the same one and not a copy.
    with suppress(OSError):
        library = ctypes.CDLL(str(path))
        for name in _SETTERS:
            with suppress(AttributeError):
                library[name](1)
                return True
    return False
