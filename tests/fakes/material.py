"""What of a request is conversation, as a summariser or answerer reads it: who said what, what stood before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tests.fakes.wire import ChatRequest, sentences

_ENTRY = re.compile(r"^(?:\[[^\]]{8,40}\] )?(user|assistant|tool call|tool result): ?", re.MULTILINE)
_HEADING = re.compile(r"^## +(\S.*?) *$", re.MULTILINE)
_FACT = re.compile(
    r"\b(?:I|I'm|I've|my|we|our|remember|prefer|decided|deadline|allergic|favou?rite|birthday|named?|lives?|works?)\b"
    r"|\b(?:is|are|was|were|has|have|had)\b|我|记住|喜欢|决定|生日|名字|截止|是|在|有",
    re.IGNORECASE,
)
_SOURCE = re.compile(r"^\[[^\]\s]+:\d+\] ", re.MULTILINE)
# What a writer put where there was nothing.
_EMPTY = {"(none)", "（无）", "(无)"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a transcript: who spoke, and the text."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Material:
    """What a summary or a note is written from: entries oldest first, and what earlier writers left of it."""

    entries: tuple[Entry, ...]
    request: str
    earlier: dict[str, list[str]]
    """Lines of the previous summary by heading; `""` for those before any heading."""

    @property
    def facts(self) -> list[str]:
        """Statements of the person, oldest first, each once."""
        said = [line for entry in self.entries if entry.speaker == "user" for line in sentences(entry.text)]
        return unique([line for line in said if is_fact(line)])

    @property
    def lines(self) -> list[str]:
        """Every sentence of every entry, oldest first."""
        return [line for entry in self.entries for line in sentences(entry.text)]


def material_of(text: str) -> Material:
    """The conversation part of a prompt; a prompt without our fences is conversation as a whole."""
    fenced = parts_between(text, "conversation")
    return Material(
        entries=tuple(entry for part in fenced or [text] for entry in _entries(part)),
        request="\n".join(parts_between(text, "request")),
        earlier=_lines_by_heading("\n".join(parts_between(text, "previous-summary"))),
    )


def known_lines(request: ChatRequest) -> list[str]:
    """Sentences that the request holds as facts, oldest part first: memory files, summary, the person, tool results.

    Instructions are no facts, and neither is what the assistant said itself.
    """
    texts = re.findall(r'<file path="(?!AGENTS\.md)[^"]*">\n(.*?)</file>', request.system, re.DOTALL)
    for message in request.messages:
        if message.role == "user":
            ours = [
                part for tag in ("summary", r"pinned[^>]*", "recalled") for part in parts_between(message.text, tag)
            ]
            texts += [_SOURCE.sub("", part) for part in ours] or [message.text]
        elif message.role == "tool":
            texts.append(message.text)
    return [line for text in texts for line in sentences(text) if line not in _EMPTY]


def headings_asked(system: str, user: str) -> list[str]:
    """The titles of the sections that a prompt asks for, in order."""
    task = re.sub(r"<(conversation|previous-summary|request|hint)>\n.*?</\1>", "", user, flags=re.DOTALL)
    return unique(_HEADING.findall(system)) or unique(_HEADING.findall(task))


def parts_between(text: str, tag: str) -> list[str]:
    """What stands between each pair of these tags."""
    return [found[1] for found in re.finditer(rf"^<{tag}>\n(.*?)\n?^</{tag.partition('[')[0]}>", text, re.M | re.S)]


def is_fact(line: str) -> bool:
    """True for a statement; a question tells nothing."""
    return (
        len(line) <= 400
        and len(line.encode()) >= 12
        and not line.endswith(("?", "？"))
        and _FACT.search(line) is not None
    )


def unique(lines: Sequence[str]) -> list[str]:
    """Each line once, at its first place."""
    return list(dict.fromkeys(lines))


def _entries(text: str) -> list[Entry]:
    starts = list(_ENTRY.finditer(text))
    if not starts:
        return [Entry("user", text)]
    ends = [*(start.start() for start in starts[1:]), len(text)]
    return [Entry(start[1], text[start.end() : end].strip()) for start, end in zip(starts, ends, strict=True)]


def _lines_by_heading(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    title = ""
    for line in text.splitlines():
        if heading := _HEADING.match(line):
            title = heading[1]
        elif (said := line.strip().removeprefix("- ").strip()) and said not in _EMPTY:
            found.setdefault(title, []).append(said)
    return found
