"""Markdown and conversations as chunks: whole lines, at most 400 tokens, never across a heading (pure)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from assistant.text.encoding import encode
from assistant.text.line_ends import split_lines
from assistant.text.markdown import Heading, read_heading, read_lines

CHUNKER_VERSION = 2
"""Goes up whenever the same text may give other chunks."""
CHUNK_TOKENS = 400
OVERLAP_TOKENS = 80
MEMORY_TOOLS = frozenset({"memory_search", "memory_get", "memory_save"})
"""Results of these tools come from memory files, which are indexed themselves."""

ChunkKind = Literal["note", "said", "tool_result"]

_SEAMS = (re.compile(r"(?<=[。！？])|(?<=[.!?])(?=\s)"), re.compile(r"(?<=[，；、;,:])"), re.compile(r"(?<=\s)"))
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class JournalText:
    """One block of a conversation as the index takes it: text a person or the assistant said, or a tool's result."""

    session_id: str
    message_id: str
    role: str
    kind: str
    """The block's kind; `text` and `tool_result` are indexed, any other is not."""
    text: str
    at: str
    """Zone-aware ISO time."""
    name: str = ""
    """The tool's name where `kind` is `tool_result`."""
    line: int = 0
    """1-based line in the day's file; 0: not known."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of one file, small enough to be read in one look and long enough to be understood."""

    key: str
    """`path#ordinal`, or `path#session:ordinal` in a conversation: the same place keeps the same key."""
    path: str
    heading: str
    """The headings above it, joined by ` > `; in a conversation empty."""
    first_line: int
    last_line: int
    """1-based and inclusive; in a conversation numbers of the lines of the day's file."""
    text: str
    kind: ChunkKind
    day: str
    """`YYYY-MM-DD` where the file's name or the time of the words tells it, else empty."""
    session_id: str = ""
    message_ids: tuple[str, ...] = ()
    """The message of each line of `text`, in a conversation."""

    @property
    def wants_vector(self) -> bool:
        """False for tool results: they are found by their words alone."""
        return self.kind != "tool_result"

    @property
    def meaning(self) -> str:
        """The text an embedder gets. It does not name the file, so that a renamed file is not embedded again."""
        return f"{self.heading}\n{self.text}" if self.heading else self.text

    @property
    def digest(self) -> str:
        """Hash of `meaning`."""
        return hashlib.sha256(self.meaning.encode("utf-8")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    text: str
    tokens: int
    message_id: str = ""
    follows: bool = False
    """True for a later part of a line that was too long for one chunk."""


def estimate_tokens(text: str) -> int:
    """UTF-8 bytes / 4: the same on every machine, and near enough in English and Chinese alike."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4


def chunk_markdown(
    path: str, text: str, max_tokens: int = CHUNK_TOKENS, overlap_tokens: int = OVERLAP_TOKENS
) -> list[Chunk]:
    """The chunks of a Markdown file called `path`, top to bottom. Blank sections give none."""
    day = found.group() if (found := _DAY.search(path)) else ""
    chunks: list[Chunk] = []
    for heading, lines in _sections(encode(text).decode()):
        for window in _windows(_split_long(lines, max_tokens), max_tokens, overlap_tokens):
            chunks.append(
                Chunk(
                    key=f"{path}#{len(chunks)}",
                    path=path,
                    heading=heading,
                    first_line=window[0].number,
                    last_line=window[-1].number,
                    text=_joined(window),
                    kind="note",
                    day=day,
                )
            )
    return chunks


def chunk_journal(
    path: str, texts: Sequence[JournalText], max_tokens: int = CHUNK_TOKENS, overlap_tokens: int = OVERLAP_TOKENS
) -> list[Chunk]:
    """The chunks of one day of conversations; `texts` in the order of the file.

    What was said in one conversation stands together, so that an answer is found with its question.
    """
    said: dict[str, list[_Line]] = {}
    chunks: list[Chunk] = []
    days: dict[str, str] = {}
    results: dict[str, int] = {}
    for index, entry in enumerate(texts, 1):
        number = entry.line or index
        text = encode(entry.text).decode().strip()
        if not text:
            continue
        days.setdefault(entry.session_id, entry.at[:10])
        if entry.kind == "text":
            said.setdefault(entry.session_id, []).extend(_said_lines(number, entry.role, entry.message_id, text))
        elif entry.kind == "tool_result" and entry.name not in MEMORY_TOOLS:
            ordinal = results.get(entry.session_id, 0)
            lines = [_line(number, line, entry.message_id) for line in split_lines(text)]
            new = _journal_chunks(path, entry.session_id, lines, "tool_result", entry.at[:10], ordinal, max_tokens, 0)
            results[entry.session_id] = ordinal + len(new)
            chunks.extend(new)
    for session_id, lines in said.items():
        day = days[session_id]
        chunks.extend(_journal_chunks(path, session_id, lines, "said", day, 0, max_tokens, overlap_tokens))
    return chunks


def _journal_chunks(
    path: str,
    session_id: str,
    lines: Sequence[_Line],
    kind: ChunkKind,
    day: str,
    first_ordinal: int,
    max_tokens: int,
    overlap_tokens: int,
) -> list[Chunk]:
    mark = "r" if kind == "tool_result" else ""
    windows = _windows(_split_long(lines, max_tokens), max_tokens, overlap_tokens)
    return [
        Chunk(
            key=f"{path}#{session_id}:{mark}{ordinal}",
            path=path,
            heading="",
            first_line=window[0].number,
            last_line=window[-1].number,
            text=_joined(window),
            kind=kind,
            day=day,
            session_id=session_id,
            message_ids=tuple(line.message_id for line in window if not line.follows or line is window[0]),
        )
        for ordinal, window in enumerate(windows, first_ordinal)
    ]


def _said_lines(number: int, role: str, message_id: str, text: str) -> Iterable[_Line]:
    first, *rest = split_lines(text)
    yield _line(number, f"{role}: {first}", message_id)
    for line in rest:
        yield _line(number, line, message_id)


def _sections(text: str) -> list[tuple[str, list[_Line]]]:
    """Heading path and body lines of each section; a heading with nothing below it is the body of its own section."""
    sections: list[tuple[str, list[_Line]]] = []
    stack: list[Heading] = []
    body: list[_Line] = []
    lines = split_lines(text)
    for number, line in enumerate(read_lines(lines), 1):
        heading = line.heading
        if heading is None:
            body.append(_line(number, line.text))
            continue
        _close_section(sections, stack, body)
        stack = [above for above in stack if above.level < heading.level] + [heading]
        body = [] if _has_body(lines, number, heading.level) else [_line(number, line.text)]
    _close_section(sections, stack, body)
    return sections


def _close_section(sections: list[tuple[str, list[_Line]]], stack: Sequence[Heading], body: list[_Line]) -> None:
    while body and not body[0].text.strip():
        body.pop(0)
    while body and not body[-1].text.strip():
        body.pop()
    if body:
        sections.append((" > ".join(heading.title for heading in stack if heading.title), body))


def _has_body(lines: Sequence[str], number: int, level: int) -> bool:
    """True when text or a deeper heading follows the heading in line `number`, before the next one of its level."""
    for line in lines[number:]:
        if line.strip():
            heading = read_heading(line)
            return heading is None or heading.level > level
    return False


def _line(number: int, text: str, message_id: str = "") -> _Line:
    return _Line(number, text, estimate_tokens(text) + 1, message_id)


def _joined(window: Sequence[_Line]) -> str:
    """Lines of the file again; the parts of one long line are put together as they stood."""
    return window[0].text + "".join(line.text if line.follows else f"\n{line.text}" for line in window[1:])


def _split_long(lines: Iterable[_Line], max_tokens: int) -> list[_Line]:
    """The lines, those above half a chunk cut after sentences (else anywhere), so that no window grows too long."""
    split: list[_Line] = []
    limit_tokens = max(max_tokens // 2, 8)
    for line in lines:
        if line.tokens <= max_tokens:
            split.append(line)
            continue
        for index, part in enumerate(_cut(line.text, limit_tokens)):
            split.append(_Line(line.number, part, estimate_tokens(part), line.message_id, follows=index > 0))
    return split


def _cut(text: str, limit_tokens: int, seams: Sequence[re.Pattern[str]] = _SEAMS) -> list[str]:
    """The text in parts within the limit, cut after sentences, else after clauses, else after words, else anywhere."""
    if estimate_tokens(text) <= limit_tokens:
        return [text]
    if not seams:
        # One character is at most one token by bytes / 4.
        return [text[start : start + limit_tokens] for start in range(0, len(text), limit_tokens)]
    parts = [""]
    for piece in (piece for part in seams[0].split(text) for piece in _cut(part, limit_tokens, seams[1:])):
        if parts[-1] and estimate_tokens(parts[-1]) + estimate_tokens(piece) > limit_tokens:
            parts.append(piece)
        else:
            parts[-1] += piece
    return parts


def _windows(lines: Sequence[_Line], max_tokens: int, overlap_tokens: int) -> list[Sequence[_Line]]:
    """Runs of lines within `max_tokens`; each but the first repeats the last lines before it, up to the overlap."""
    windows: list[Sequence[_Line]] = []
    start = 0
    while start < len(lines):
        end, used = start, 0
        while end < len(lines) and (end == start or used + lines[end].tokens <= max_tokens):
            used += lines[end].tokens
            end += 1
        if any(line.text.strip() for line in lines[start:end]):
            windows.append(lines[start:end])
        if end == len(lines):
            break
        # The repeated lines must leave room for the next new one, else the window would bring nothing new.
        room_tokens = min(overlap_tokens, max_tokens - lines[end].tokens)
        start = _step_back(lines, start, end, room_tokens)
    return windows


def _step_back(lines: Sequence[_Line], start: int, end: int, room_tokens: int) -> int:
    """Where the next window starts: as far before `end` as there is room, and after `start`."""
    begin = end
    while begin - 1 > start and lines[begin - 1].tokens <= room_tokens:
        begin -= 1
        room_tokens -= lines[begin].tokens
    return begin
