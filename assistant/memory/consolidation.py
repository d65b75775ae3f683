"""What the daily notes of the last days have for USER.md and MEMORY.md: proposals, each with the lines it rests on."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assistant.compaction.summary.summary import Ask
from assistant.config.prompts import render
from assistant.config.words import Language
from assistant.memory.notes import Note
from assistant.memory.waiting import WaitingLine
from assistant.text.labels import read_label
from assistant.text.markdown import read_list_item, without_bullet
from assistant.text.passages import key_of

CONSOLIDATE_WRITER = "consolidate"
"""`writer` of a line that was proposed from the notes."""
TARGETS = ("USER.md", "MEMORY.md")
_DAYS_OF_A_LASTING_FACT = 2
_MAX_PROPOSALS = 40
_MAX_CHARS = 300
_MAX_SOURCES = 4
_DATE = re.compile(r"\(?\b\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?\)?")
_SINGLE_VALUE = re.compile(r"[\d@]")
_ANSWER = re.compile(
    r"^\s*[-*]?\s*(?P<file>USER\.md|MEMORY\.md)\s*\|(?P<text>[^|]+)\|(?P<old>[^|]*)\|\s*(?P<numbers>[\d,\s]+)$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class NoteLine:
    """A list item of a daily note, and where it is."""

    path: str
    number: int
    text: str

    @property
    def place(self) -> str:
        """File and line, as they are cited."""
        return f"{self.path}:{self.number}"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A line for a file, in place of an old one where `replaces` is given, and the lines of notes it rests on."""

    path: str
    text: str
    replaces: str | None
    sources: tuple[NoteLine, ...]

    def waiting(self, line_id: str, at: str) -> WaitingLine:
        """The proposal as a line that waits for the person."""
        source = ", ".join(line.place for line in self.sources[:_MAX_SOURCES])
        return WaitingLine(line_id, self.path, "", self.text, source, CONSOLIDATE_WRITER, "", at, self.replaces)


def lines_of(notes: Iterable[Note]) -> list[NoteLine]:
    """The list items of notes, in order."""
    return [
        NoteLine(note.name, number, without_bullet(line).strip())
        for note in notes
        for number, line in enumerate(note.text.split("\n"), 1)
        if read_list_item(line) and without_bullet(line).strip()
    ]


def propose_by_code(files: Sequence[Note], lines: Sequence[NoteLine]) -> list[Proposal]:
    """What is certain by its words: a line that is in a file twice, an older value, a fact noted on several days."""
    repeated = [proposal for file in files for proposal in _repeats_in(file)]
    newer = [proposal for file in files for proposal in _newer_values(file, lines)]
    return [*repeated, *newer, *_lasting(files, lines)][:_MAX_PROPOSALS]


async def propose_by_model(
    files: Sequence[Note], lines: Sequence[NoteLine], ask: Ask, language: Language
) -> list[Proposal]:
    """What a model finds worth it; what rests on no line, or replaces none that is there, is left out.

    Raises what `ask` raises.
    """
    answer = await ask(
        render("consolidate_system", language),
        render("consolidate_user", language, files=files, lines=[*enumerate((line.text for line in lines), 1)]),
    )
    standing = {file.name: {line.strip() for line in file.text.split("\n")} for file in files}
    known = {key_of(without_bullet(line)) for texts in standing.values() for line in texts}
    found: list[Proposal] = []
    for match in _ANSWER.finditer(answer):
        text, old = without_bullet(match["text"]).strip(), match["old"].strip()
        numbers = [int(number) for number in re.findall(r"\d+", match["numbers"])]
        sources = tuple(lines[number - 1] for number in numbers if 0 < number <= len(lines))
        is_there = old in ("", "-") or old in standing.get(match["file"], ())
        if sources and is_there and text and len(text) <= _MAX_CHARS and key_of(text) not in known:
            found.append(Proposal(match["file"], text, None if old in ("", "-") else old, sources))
    return found[:_MAX_PROPOSALS]


def _repeats_in(file: Note) -> list[Proposal]:
    places: dict[str, list[NoteLine]] = defaultdict(list)
    for line in lines_of([file]):
        places[line.text].append(line)
    raw = {without_bullet(line).strip(): line.strip() for line in file.text.split("\n")}
    return [Proposal(file.name, text, raw[text], tuple(lines)) for text, lines in places.items() if len(lines) > 1]


def _newer_values(file: Note, lines: Sequence[NoteLine]) -> list[Proposal]:
    """Lines of the file that the newest note about the same has with another value or a later date."""
    newest = {subject: line for line in lines if (subject := _subject(line.text))}
    found: list[Proposal] = []
    for old in file.text.split("\n"):
        text = without_bullet(old).strip()
        newer = newest.get(_subject(text)) if read_list_item(old) else None
        if newer is not None and key_of(newer.text) != key_of(text):
            found.append(Proposal(file.name, newer.text, old.strip(), (newer,)))
    return found


def _subject(text: str) -> str:
    """What a line has one value of: its label, or all of it but its date; empty where it may have many."""
    label = read_label(text)
    if label is not None and _SINGLE_VALUE.search(label.value):
        return f"label {label.label.casefold()}"
    undated = _DATE.sub("", text)
    return f"text {key_of(undated)}" if undated != text and key_of(undated) else ""


def _lasting(files: Sequence[Note], lines: Sequence[NoteLine]) -> list[Proposal]:
    known = {key_of(without_bullet(line)) for file in files for line in file.text.split("\n")}
    days: dict[str, list[NoteLine]] = defaultdict(list)
    for line in lines:
        days[key_of(line.text)].append(line)
    return [
        Proposal("MEMORY.md", found[-1].text, None, tuple(found))
        for key, found in days.items()
        if key
        and key not in known
        and not _subject(found[-1].text)
        and len({line.path for line in found}) >= _DAYS_OF_A_LASTING_FACT
    ]
