"""What the offline assistant quotes of memory: the sentences that answer, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assistant.config.words import LANGUAGES
from assistant.models.offline.texts import OfflineTexts, offline_texts
from assistant.text.labels import CALLED_LABELS, NAME_LABELS, list_labels
from assistant.text.markdown import read_heading, without_bullet
from assistant.text.passages import key_of, passages_of

MAX_QUOTES = 3
# A hit this much below the best one is company, not an answer.
_LEAST_SHARE_OF_BEST = 0.6

_HEAD = re.compile(r"\[(?P<path>.+?) \| (?P<day>\d{4}-\d{2}-\d{2})?[^|]*\| \D*(?P<relevance>[\d.]+)(?: \| .*)?\]$")
_ROW = re.compile(r"(?P<mark>[> ]) *(?P<line>\d+)\t(?P<text>.*)$")
_SPEAKER = re.compile(r"(user|assistant): ")
_NUMBERED = re.compile(r" *(?P<line>\d+)\t(?P<text>.*)$")
_FILE = re.compile(r'<memory path="(?P<path>[^"]*)">')
_NOTICE = re.compile(r"[(（].+[)）]$")
_ORDER = re.compile(
    r"(?:please |and )*(?:remember|note|keep in mind|write down|don'?t forget)(?:\s*:|\s+that\b)?\s+"
    r"|(?:请你?|帮我)*(?:记住|记下来?|记一下|别忘了)[：:，,\s]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Found:
    """A sentence of memory and its place; `speaker` is empty for a memory file."""

    text: str
    path: str
    line: int
    day: str = ""
    speaker: str = ""

    @property
    def place(self) -> str:
        """File and line."""
        return f"`{self.path}:{self.line}`"


def read_answers(result: str) -> list[Found]:
    """The sentences that answer, best first, from the result of a memory search; each thing is said once.

    Of those that say the same, what is in a memory file is quoted, else what the person said.
    """
    groups: list[list[_Marked]] = []
    for one in _marked(result):
        group = next((group for group in groups if any(_says_the_same(one, other) for other in group)), None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    sure = max((one.relevance for group in groups for one in group), default=0.0) * _LEAST_SHARE_OF_BEST
    kept = [group for group in groups if max(one.relevance for one in group) >= sure]
    return [min(group, key=_rank).found for group in kept[:MAX_QUOTES]]


def read_notices(result: str) -> list[str]:
    """What the search had to say about itself."""
    after = result.rpartition("</memory>")[2]
    return [line[1:-1] for line in after.splitlines() if _NOTICE.match(line)]


def read_facts(result: str) -> list[Found]:
    """The text of a memory file that was read: no headings, no lines that wait to be filled."""
    facts: list[Found] = []
    for one in _numbered(result):
        labels = list_labels(one.text)
        if one.text.strip() and not read_heading(one.text) and not (labels and not labels[0].value):
            facts.append(Found(without_bullet(one.text), one.path, one.line))
    return facts


def read_names(result: str) -> list[Found]:
    """The names in a memory file that was read: what to be called first, then the name itself."""
    names: list[Found] = []
    for labels in (CALLED_LABELS, NAME_LABELS):
        for one in _numbered(result):
            for line in list_labels(one.text):
                if line.label.casefold() in labels and line.value:
                    names.append(Found(line.value, one.path, one.line))
    return names


def write_quotes(found: Iterable[Found], texts: OfflineTexts) -> str:
    """Each sentence as a quotation with its place below."""
    return "\n\n".join(f"> {one.text}\n\n{_cite(one, texts)}" for one in found)


def write_list(found: Iterable[Found]) -> str:
    """Each sentence as a list item with its place."""
    return "\n".join(f"- {one.text} ({one.place})" for one in found)


def _cite(found: Found, texts: OfflineTexts) -> str:
    match found.speaker:
        case "user":
            return texts.cite_person.format(place=found.place, day=found.day)
        case "assistant":
            return texts.cite_answer.format(place=found.place, day=found.day)
        case _:
            return texts.cite_note.format(place=found.place, day=f", {found.day}" if found.day else "")


@dataclass(frozen=True, slots=True)
class _Marked:
    found: Found
    relevance: float


def _marked(result: str) -> Iterator[_Marked]:
    path, day, relevance = "", "", 0.0
    for line in result.splitlines():
        if head := _HEAD.match(line):
            path, day, relevance = head["path"], head["day"] or "", float(head["relevance"])
        elif (row := _ROW.match(line)) and row["mark"] == ">":
            speaker = found[1] if path.startswith("dialog/") and (found := _SPEAKER.match(row["text"])) else ""
            text = _plain(row["text"].removeprefix(f"{speaker}: ") if speaker else row["text"])
            text = _ORDER.sub("", text, count=1) if speaker == "user" else text
            if text and not _is_own(text):
                yield _Marked(Found(text, path, int(row["line"]), day, speaker), relevance)


def _numbered(result: str) -> Iterator[Found]:
    path = found["path"] if (found := _FILE.search(result)) else ""
    for line in result.splitlines():
        if row := _NUMBERED.match(line):
            yield Found(row["text"], path, int(row["line"]))


def _plain(row: str) -> str:
    """What the row says, without bullet and quotation."""
    said = [*passages_of(row)]
    return row[said[0].start : said[-1].stop].replace("<\\/", "</") if said else ""


def _is_own(text: str) -> bool:
    """True for a sentence of this assistant's own, which answers nothing."""
    return any(text in sentence for language in LANGUAGES for sentence in offline_texts(language).sentences)


def _rank(marked: _Marked) -> int:
    if not marked.found.path.startswith("dialog/"):
        return 0
    return 1 if marked.found.speaker == "user" else 2


def _says_the_same(one: _Marked, other: _Marked) -> bool:
    said, told = key_of(one.found.text), key_of(other.found.text)
    return said in told or told in said
