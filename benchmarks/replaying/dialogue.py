"""The dialogues that are replayed: LoCoMo's longest, or a text file with one message a line."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

DATA_VARIABLE = "PALIMPSEST_BENCH_DATA"
LOCOMO_NAME = "locomo_dev.json"
FACT_MESSAGE = 5
"""The message (from 1) of which a statement must come back in a memory file."""
_SHARED_DATA = Path(__file__).parents[3] / "shared" / "data"
_SESSION = re.compile(r"session_(\d+)")
_SENTENCE = re.compile(r"[^.!?。！？]+[.!?。！？]?")


class MissingDataError(Exception):
    """The data is not there; the text says where to get it."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The messages a person sends, in order; each is unlike every other."""

    messages: tuple[str, ...]

    @property
    def fact(self) -> str:
        """The longest statement of message 5, word for word."""
        said = [part.strip() for part in _SENTENCE.findall(self.messages[FACT_MESSAGE - 1])]
        return max((part for part in said if not part.endswith(("?", "？"))), key=len)


def longest_locomo() -> Dialogue:
    """The LoCoMo conversation with the most turns. Raises `MissingDataError` where there is none."""
    folder = Path(os.environ.get(DATA_VARIABLE) or _SHARED_DATA)
    path = folder / LOCOMO_NAME if folder.is_dir() else folder
    if not path.is_file():
        raise MissingDataError(
            f"{path} is not there. Take data/locomo10.json (or some of its conversations) from snap-research/locomo on "
            f"GitHub, save it as {LOCOMO_NAME}, and name its folder in {DATA_VARIABLE}."
        )
    conversations = [entry["conversation"] for entry in json.loads(path.read_text(encoding="utf-8"))]
    return max((Dialogue(_turns(conversation)) for conversation in conversations), key=lambda said: len(said.messages))


def text_dialogue(path: Path) -> Dialogue:
    """The lines of a text file; empty ones and those that begin with `#` are left out."""
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    return Dialogue(_numbered([line for line in lines if line and not line.startswith("#")]))


def _turns(conversation: dict[str, list[dict[str, str]]]) -> tuple[str, ...]:
    names = sorted((name for name in conversation if _SESSION.fullmatch(name)), key=lambda name: int(name[8:]))
    return _numbered([f"{turn['speaker']}: {turn['text']}" for name in names for turn in conversation[name]])


def _numbered(messages: list[str]) -> tuple[str, ...]:
    """A message that was said before gets its number, so that each can be told from the others."""
    seen: set[str] = set()
    told: list[str] = []
    for number, message in enumerate(messages, start=1):
        told.append(message if message not in seen else f"{message} ({number})")
        seen.add(message)
    return tuple(told)
