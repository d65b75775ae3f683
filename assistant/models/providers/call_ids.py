"""Tool-call ids that are unique for ever, whatever the provider counts with.

The journal knows a block by message and block id, and one reply holds its whole tool loop in one message. Servers that
start at `call_0` in every answer would give two calls one name, and a folded call would be taken for a new one.
"""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Iterable

# From here on a tail is long enough to be random: Mistral's ids have nine characters, the shortest of all that are.
_RANDOM_TAIL_CHARS = 9
_NEW_TAIL_CHARS = 20
_TAIL = re.compile(r"[A-Za-z0-9]*$")


class CallIds:
    """Remembers every id that was used; hands out the provider's own where it is unique, else a fresh one."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def remember(self, ids: Iterable[str]) -> None:
        """Remember ids that the conversation has already."""
        self._used.update(ids)

    def unique(self, wanted: str) -> str:
        """`wanted` when nobody can have had it before, else an id of the same shape; some providers check the shape."""
        kept = wanted if _may_be_unique(wanted) and wanted not in self._used else fresh_call_id(wanted)
        self._used.add(kept)
        return kept


def fresh_call_id(like: str = "") -> str:
    """A random id that begins and is built like `like` (`functions.read:0` → `functions.read:48…`)."""
    tail = _tail(like)
    prefix = like[: len(like) - len(tail)] or ("" if tail else "call_")
    alphabet = string.digits if tail.isdigit() else string.ascii_letters + string.digits
    chars = len(tail) if len(tail) >= _RANDOM_TAIL_CHARS else _NEW_TAIL_CHARS
    return prefix + "".join(secrets.choice(alphabet) for _ in range(chars))


def _may_be_unique(wanted: str) -> bool:
    tail = _tail(wanted)
    # `call_000000001` is a counter, however long.
    return len(tail) >= _RANDOM_TAIL_CHARS and not tail.startswith("0000")


def _tail(text: str) -> str:
    found = _TAIL.search(text)
    return found[0] if found else ""
