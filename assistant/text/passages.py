"""A text as passages: its lines cut into sentences, each known by what it says; found by words, marked as forgotten."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

FORGOTTEN_MARK = "⟦forgotten⟧"
"""What replaces a forgotten passage."""

Fit = Literal["exact", "words"]
"""The passage has the words exactly as they were typed, or all of them in another order or form."""

_LINE = re.compile(r"[^\r\n]+")
# Bullets, quotation, headings, the sign of a diff, who speaks: they belong to the line, not to what it says.
_LEAD = re.compile(
    r"[+-]?(?:\s+|[>|]|#{1,6}(?=\s)|[*+•·-](?=\s)|\d{1,3}[.)](?=\s)|\d{1,3}、|\[[ xX]\](?=\s)"
    r"|(?:user|assistant|system):(?=\s))*"
)
_CJK = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
_SENTENCE_END = re.compile(
    rf"(?:{FORGOTTEN_MARK}|[。！？]+|[!?]+(?=[{_CJK}])|[.!?…]+(?=[\"'”’)\]]*\s))[\"'”’」』）)\]]*\s*"
)
_LAST_WORD = re.compile(r"(\w+)\.$")
_ABBREVIATIONS = frozenset(
    [
        "dr",
        "mr",
        "mrs",
        "ms",
        "prof",
        "st",
        "no",
        "nr",
        "vs",
        "eg",
        "ie",
        "etc",
        "approx",
        "jr",
        "sr",
        "bzw",
        "ca",
        "vgl",
        "inc",
        "ltd",
        "co",
    ]
)
_OPENING_SIGNS = frozenset("_$€£¥@")
_CLOSING_SIGNS = frozenset("_+#%°")
_WORDS = re.compile(r"\w+")
_LETTER = rf"[^\W{_CJK}]"
# A shorter piece of a cut text says too little to be taken for the start of a passage.
_MIN_CUT_CHARS = 6


@dataclass(frozen=True, slots=True)
class Passage:
    """The sentence `[start:stop]` of a text; two passages with one key say the same."""

    start: int
    stop: int
    text: str
    key: str


@dataclass(frozen=True, slots=True)
class Marked:
    """A text after its passages went, and how many there were."""

    text: str
    count: int


def passages_of(text: str) -> Iterator[Passage]:
    """The sentences of every line, in order, without bullets and the space around; none spans two lines."""
    for line in _LINE.finditer(text):
        lead = _LEAD.match(text, line.start(), line.end())
        start = lead.end() if lead else line.start()
        for end in _SENTENCE_END.finditer(text, start, line.end()):
            if not _is_abbreviation(text, start, end):
                yield from _passage(text, start, end.end())
                start = end.end()
        yield from _passage(text, start, line.end())


def key_of(text: str) -> str:
    """What a passage says, without case, width, double spaces and the marks around it."""
    folded = " ".join(fold(text).split())
    start, stop = 0, len(folded)
    while start < stop and not (folded[start].isalnum() or folded[start] in _OPENING_SIGNS):
        start += 1
    while start < stop and not (folded[stop - 1].isalnum() or folded[stop - 1] in _CLOSING_SIGNS):
        stop -= 1
    return folded[start:stop] or folded


def fold(text: str) -> str:
    """The text without differences of case and width."""
    return (text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold()


class Wanted:
    """What a person looks for in order to have it forgotten."""

    def __init__(self, text: str) -> None:
        self.sentences = tuple(key for key in (passage.key for passage in passages_of(text)) if key)
        words = _WORDS.findall(fold(text))
        self._words = words if len(words) > 1 else []
        self._patterns = [_bounded(sentence) for sentence in self.sentences]
        self._needles = [_needle(text) for text in (*self.sentences, " ".join(self._words)) if text]

    def touches(self, text: str) -> bool:
        """False where nothing in the text can fit; quick, also for a line of JSON."""
        return _has_needle(text, self._needles)

    def fit(self, key: str) -> Fit | None:
        """How a passage of this key fits; None when it does not."""
        if any(pattern.search(key) for pattern in self._patterns):
            return "exact"
        return "words" if self._words and all(word in key for word in self._words) else None


class PassageSet:
    """Passages that are to be forgotten, by their keys."""

    def __init__(self, keys: Iterable[str]) -> None:
        self.keys = frozenset(keys)
        self._needles = [_needle(key) for key in sorted(self.keys)]

    def touches(self, text: str) -> bool:
        """False where the text holds none of them; quick, also for a line of JSON. A cut text may hold a piece."""
        return "…" in text or _has_needle(text, self._needles)

    def holds(self, passage: Passage) -> bool:
        """True for one of them, and for the piece of one that a cut text (`…`) shows."""
        if passage.key in self.keys:
            return True
        if len(passage.key) < _MIN_CUT_CHARS:
            return False
        text = passage.text.strip("\"'“”")
        return (text.endswith("…") and any(key.startswith(passage.key) for key in self.keys)) or (
            text.startswith("…") and any(key.endswith(passage.key) for key in self.keys)
        )

    def mark(self, text: str) -> Marked:
        """The text with the mark in place of each passage; its lines stay, and so does all else."""
        gone = self._gone(text)
        return Marked(_without(text, gone, lambda passage: (passage.stop, FORGOTTEN_MARK)), len(gone))

    def mark_raw(self, text: str) -> Marked:
        """Like `mark`, for half a line of JSON and the like, where no sentences can be distinguished."""
        count = 0
        for key in sorted(self.keys, key=len, reverse=True):
            pattern = re.compile(r"\s+".join(map(re.escape, key.split())), re.IGNORECASE)
            text, found = pattern.subn(FORGOTTEN_MARK, text)
            count += found
        return Marked(text, count)

    def remove(self, text: str) -> Marked:
        """The text without the passages; a line that held nothing else is gone too."""
        if not self._gone(text):
            return Marked(text, 0)
        lines = [self._remove_from_line(line) for line in re.findall(r"[^\n]*\n|[^\n]+", text)]
        return Marked("".join(line.text for line in lines), sum(line.count for line in lines))

    def _remove_from_line(self, line: str) -> Marked:
        count = 0
        # What follows a passage that went may begin the line now, and say by itself what was chosen.
        while here := self._gone(line):
            count += len(here)
            if len(here) == len(list(passages_of(line))):
                return Marked("", count)
            line = _without(line, here, lambda passage, line=line: (_after_space(line, passage.stop), ""))
        return Marked(line, count)

    def _gone(self, text: str) -> list[Passage]:
        return [passage for passage in passages_of(text) if self.holds(passage)] if self.touches(text) else []


def _passage(text: str, start: int, stop: int) -> Iterator[Passage]:
    said = text[start:stop].rstrip()
    if said and said != FORGOTTEN_MARK:
        yield Passage(start, start + len(said), said, key_of(said))


def _is_abbreviation(text: str, start: int, end: re.Match[str]) -> bool:
    """True where the full stop ends a short form, an initial, or the day of a date."""
    if text[end.start() : end.end()].strip() != ".":
        return False
    word = _LAST_WORD.search(text, start, end.start() + 1)
    if word is None:
        return False
    name = word[1].casefold()
    return name in _ABBREVIATIONS or (len(name) == 1 and name.isalpha() and name != "i") or _is_day(name)


def _is_day(name: str) -> bool:
    return name.isdecimal() and len(name) <= 2


def _without(text: str, gone: Sequence[Passage], put: Callable[[Passage], tuple[int, str]]) -> str:
    """The text with something else from the start of each passage to where `put` says."""
    pieces: list[str] = []
    end = 0
    for passage in gone:
        stop, instead = put(passage)
        pieces += [text[end : passage.start], instead]
        end = stop
    return "".join([*pieces, text[end:]])


def _after_space(line: str, index: int) -> int:
    while index < len(line) and line[index] in " \t":
        index += 1
    return index


def _bounded(key: str) -> re.Pattern[str]:
    """The key, not within a longer word; scripts without spaces have no such bounds."""
    before = rf"(?<!{_LETTER})" if re.match(_LETTER, key) else ""
    after = rf"(?!{_LETTER})" if re.match(_LETTER, key[-1]) else ""
    return re.compile(before + re.escape(key) + after)


def _needle(key: str) -> str:
    """The longest run of letters, or of signs where there are none: unbroken wherever the key is, in JSON too."""
    return max(_WORDS.findall(key) or key.split(), key=len, default=key)


def _has_needle(text: str, needles: Sequence[str]) -> bool:
    # A model may have written any character as \uXXXX in the arguments of a call.
    if "\\u" in text:
        return True
    # To unify widths costs ten times all the rest, and most texts have no letter that it would change.
    folded = fold(text) if not text.isascii() and _letters_of_other_width().search(text) else text.casefold()
    return any(needle in folded for needle in needles)


@cache
def _letters_of_other_width() -> re.Pattern[str]:
    """Letters and digits that are written in another way once widths are unified, and marks that join their letter."""
    characters = (chr(code) for code in range(0x10000) if not 0xD800 <= code < 0xE000)
    changed = (
        character
        for character in characters
        if unicodedata.combining(character)
        or ((unified := unicodedata.normalize("NFKC", character)) != character and _WORDS.search(unified))
    )
    return re.compile(f"[{''.join(changed)}]")
