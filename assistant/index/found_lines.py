"""The lines of the found chunks: each once, those that follow each other together (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assistant.index.left_out import is_left_out
from assistant.index.question_words import QuestionWords
from assistant.index.search import SearchHit
from assistant.text.line_ends import split_lines
from assistant.text.markdown import read_heading

_SPEAKER = re.compile(r"(user|assistant): ")
_ASKS = re.compile(r"[?？][\"'”’」』）)*]*$")


@dataclass(frozen=True, slots=True)
class FoundLine:
    """One line of a hit."""

    hit: SearchHit
    offset: int
    """0-based, within the text of the hit."""
    text: str
    share: float
    """Share of the question's words in it, each weighted by its rarity."""
    closeness: float = 0.0
    """Cosine to the question; 0 where none was made."""
    said_again: str = ""
    """The newest day on which the same was said, where this is not its only place."""
    speaker: str = ""
    """Who says it, in a conversation; empty where the chunk begins within a message."""

    @property
    def message_id(self) -> str:
        """Whose words they are, in a conversation."""
        return self.hit.message_ids[self.offset] if self.offset < len(self.hit.message_ids) else ""

    @property
    def says_something(self) -> bool:
        """False for headings, and for a line that ends with a question."""
        return not _ASKS.search(self.text.rstrip()) and not read_heading(self.text)


@dataclass(frozen=True, slots=True)
class FoundLines:
    """Lines that follow each other in one file, in order, all of them whole."""

    lines: tuple[FoundLine, ...]

    @property
    def hit(self) -> SearchHit:
        """The best hit among those the lines come from."""
        return max((line.hit for line in self.lines), key=lambda hit: hit.relevance)

    @property
    def day(self) -> str:
        """The newest day of the lines, empty where it is not known."""
        return max(max(line.hit.day, line.said_again) for line in self.lines)


def join_lines(
    hits: Sequence[SearchHit],
    words: QuestionWords,
    closeness: Mapping[int, Sequence[float]],
    known_ids: Collection[str],
    refused_marks: Collection[str] = (),
) -> list[list[FoundLine]]:
    """The lines of all hits; where two hits overlap or touch, their lines are in one list.

    `closeness` has the cosines of the lines of hits that bring none, by place in `hits`. Blank lines, the messages that
    are known and what was refused are left out, and the lines around them are in two lists.
    """
    texts: list[list[FoundLine]] = []
    of_hits = [_lines_of(hit, words, hit.closeness or closeness.get(index, ())) for index, hit in enumerate(hits)]
    for lines in sorted(of_hits, key=_place):
        shared = _shared_count(texts[-1], lines) if texts else None
        if shared is None:
            texts.append(lines)
        else:
            texts[-1].extend(lines[shared:])
    return [run for text in texts for run in _without_known(text, known_ids, refused_marks) if run]


def _lines_of(hit: SearchHit, words: QuestionWords, cosines: Sequence[float]) -> list[FoundLine]:
    lines: list[FoundLine] = []
    for offset, text in enumerate(split_lines(hit.text)):
        closeness = cosines[offset] if offset < len(cosines) else 0.0
        line = FoundLine(hit, offset, text, words.share_in(text), closeness)
        goes_on = bool(lines) and line.message_id != "" and lines[-1].message_id == line.message_id
        named = _SPEAKER.match(text) if line.message_id else None
        lines.append(replace(line, speaker=named[1] if named else lines[-1].speaker if goes_on else ""))
    return lines


def _place(lines: Sequence[FoundLine]) -> tuple[str, str, str, int, int]:
    hit = lines[0].hit
    return hit.path, hit.session_id, hit.kind, hit.first_line, hit.last_line


def _shared_count(before: Sequence[FoundLine], after: Sequence[FoundLine]) -> int | None:
    """How many lines at the end of `before` begin `after`; None where `after` does not go on there."""
    last, hit = before[-1].hit, after[0].hit
    if (last.path, last.session_id, last.kind) != (hit.path, hit.session_id, hit.kind):
        return None
    for count in range(min(len(before), len(after)), 0, -1):
        pairs = zip(before[-count:], after, strict=False)
        if all((one.message_id, one.text) == (other.message_id, other.text) for one, other in pairs):
            return count
    return 0 if hit.first_line == last.last_line + 1 and not hit.session_id else None


def _without_known(
    text: Sequence[FoundLine], known_ids: Collection[str], refused_marks: Collection[str]
) -> Iterator[list[FoundLine]]:
    run: list[FoundLine] = []
    for line in text:
        if (line.message_id and line.message_id in known_ids) or is_left_out(line.text, refused_marks):
            yield run
            run = []
        elif line.text.strip():
            run.append(line)
    yield run
