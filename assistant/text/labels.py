"""Labelled lines of a memory file, such as `- Name: Ada`: empty ones are filled, names at the top corrected (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from assistant.text.markdown import read_lines, read_list_item

NAME_LABELS = frozenset({"name", "名字", "姓名"})
"""Labels of a name, in either language."""
CALLED_LABELS = frozenset({"to be called", "称呼"})
"""Labels of the name a person wants to be called by."""
_SAME_LABELS = (NAME_LABELS, CALLED_LABELS, frozenset({"language", "语言"}))
"""The labels that the templates ask for; no other line that holds something is ever replaced."""

_LABELLED = re.compile(
    r"(?P<lead>\s*(?:[-*+•]\s+)?\**(?P<label>[^\s\d\[+•\-:：*`|<>#/][^:：*`|<>#/]{0,30}?)\**(?!(?<=\d)[:：]\d)[:：](?!//)\**)"
    r"(?P<value>.*)$"
)


@dataclass(frozen=True, slots=True)
class LabelledLine:
    """A line with a label; `lead` is all up to its colon, an empty `value` waits to be filled."""

    lead: str
    label: str
    value: str

    @property
    def text(self) -> str:
        """The line as the file has it."""
        if not self.value:
            return self.lead
        return f"{self.lead}{self.value}" if self.lead.rstrip("*").endswith("：") else f"{self.lead} {self.value}"


@dataclass(frozen=True, slots=True)
class Filled:
    """A text with each line put at its label, and the lines whose label it does not have."""

    text: str
    rest: tuple[str, ...]


def read_label(line: str) -> LabelledLine | None:
    """The line as a label and a value; None for any other."""
    found = _LABELLED.match(line)
    return LabelledLine(found["lead"], found["label"].strip(), found["value"].strip()) if found else None


def list_labels(text: str) -> list[LabelledLine]:
    """The list items of a text that have a label, top to bottom."""
    return [place.line for place in _places(text.split("\n"))]


def is_filled(text: str) -> bool:
    """True when a line for a name holds something; a file whose owner took these lines out is filled by any text."""
    names = [line for line in list_labels(text) if line.label.casefold() in NAME_LABELS | CALLED_LABELS]
    return any(line.value for line in names) if names else bool(text.strip())


def is_asked_for(label: str) -> bool:
    """True for a label of the templates: a name, how somebody wants to be called, a language."""
    return any(label.casefold() in labels for labels in _SAME_LABELS)


def with_labels_filled(text: str, lines: Iterable[str]) -> Filled:
    """The text with each labelled line in place of the empty one of its label, or of a name or language at the top.

    Labels that mean the same in English and Chinese are the same. The label stays as it is in the file.
    """
    standing = text.split("\n")
    rest: list[str] = []
    for line in lines:
        given = read_label(line)
        place = _place_for(given, _places(standing)) if given and given.value else None
        if given is None or place is None:
            rest.append(line)
        else:
            standing[place.index] = replace(place.line, value=given.value).text
    return Filled("\n".join(standing), tuple(rest))


def replaced_label(text: str, line: str) -> str | None:
    """The unchanged line of the text whose value a labelled line would replace; None where it replaces none."""
    given = read_label(line)
    standing = text.split("\n")
    place = _place_for(given, _places(standing)) if given and given.value else None
    if given is None or place is None or place.line.value in ("", given.value):
        return None
    return standing[place.index]


@dataclass(frozen=True, slots=True)
class _Place:
    index: int
    line: LabelledLine
    is_at_top: bool


def _places(lines: Sequence[str]) -> Iterator[_Place]:
    is_at_top = True
    for index, line in enumerate(read_lines(lines)):
        is_at_top = is_at_top and not (line.heading and line.heading.level > 1)
        item = None if line.is_code else read_list_item(line.text)
        labelled = read_label(line.text) if item else None
        # A label over a list of its own is a title, not a line to fill.
        if item and labelled and not _is_deeper(lines[index + 1 : index + 2], item.indent):
            yield _Place(index, labelled, is_at_top)


def _is_deeper(following: Sequence[str], indent: str) -> bool:
    return any(line.strip() and len(line) - len(line.lstrip()) > len(indent) for line in following)


def _place_for(given: LabelledLine, places: Iterable[_Place]) -> _Place | None:
    fitting = [place for place in places if _is_same(place.line.label, given.label)]
    same = next((place for place in fitting if place.line.value == given.value), None)
    empty = next((place for place in fitting if not place.line.value), None)
    if same or empty or not is_asked_for(given.label):
        return same or empty
    return next((place for place in fitting if place.is_at_top), None)


def _is_same(label: str, other: str) -> bool:
    one, two = label.casefold(), other.casefold()
    return one == two or any({one, two} <= labels for labels in _SAME_LABELS)
