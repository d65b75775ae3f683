"""The variables of the environment; those with keys are known here alone once they were taken out of it."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Mapping

_KEY_NAME = re.compile(
    r"(?:key|token|secret|password|passwd|passphrase|pwd|credentials?|authorization)(?:s|_?\d+)?$|"
    r"(?:api_?key|secret|passw|access_?key|private_?key|token(?!iz))",
    re.IGNORECASE,
)
_PLACE_NAME = re.compile(r"(?:_(?:file|path|dir|folder|sock|url|host|name|id)|^xauthority)$", re.IGNORECASE)
_taken: dict[str, str] = {}


def environment() -> Mapping[str, str]:
    """Every variable, those with keys too."""
    return {**_taken, **os.environ}


def names_a_key(name: str) -> bool:
    """True where the name of a variable says that it holds a key or a password, and not where one is."""
    return bool(_KEY_NAME.search(name)) and not _PLACE_NAME.search(name)


def take_keys(more: frozenset[str] = frozenset()) -> None:
    """Take every variable with a key, and those named in `more`, out of the environment: no program we start gets it.

    What the system shows of our environment to others is overwritten as well, where it can be.
    """
    for name in [name for name in os.environ if names_a_key(name) or name.upper() in more]:
        _taken[name] = os.environ[name]
        _overwrite(name)
        del os.environ[name]


def _overwrite(name: str) -> None:
    """Put zeros over the value where the system keeps it; `/proc/PID/environ` shows that place for ever."""
    if sys.platform != "linux":
        return
    library = ctypes.CDLL(None)
    library.getenv.restype = ctypes.c_void_p
    if place := library.getenv(os.fsencode(name)):
        ctypes.memset(place, 0, len(os.fsencode(os.environ[name])))
