"""The finished summary: sections, what code fills in, and file lists, together within the cap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assistant.compaction.budget import level_within
from assistant.compaction.shorten.text_cut import byte_length
from assistant.compaction.summary.file_tracking import FileLists, write_file_lists
from assistant.compaction.summary.identifiers import missing_identifiers
from assistant.compaction.summary.quoted_history import fence_safe, shorten_for_reading
from assistant.compaction.summary.sections import USER_MESSAGES_KEY, FilledSection, Section, write_sections
from assistant.compaction.summary.standing_orders import missing_orders
from assistant.compaction.summary.user_messages import entries_of, write_user_messages
from assistant.config.prompts import render
from assistant.config.words import Language
from assistant.messages.tokens import TokenCounter

_FILES_RATIO = 0.3
_USER_MESSAGES_RATIO = 0.5
_IDENTIFIERS_RATIO = 0.1
_ORDERS_RATIO = 0.1
_ORDER_SECTIONS = ("constraints", "concepts")
_IDENTIFIER_SECTIONS = ("context", "concepts")
_TRIM_ATTEMPTS = 8


@dataclass(frozen=True, slots=True)
class DocumentParts:
    """What a summary is made of. `previous_text` is what must be named again: the previous one without its lists."""

    sections: tuple[FilledSection, ...]
    asked: tuple[Section, ...]
    new_user_entries: tuple[str, ...]
    previous_user_section: str
    previous_text: str
    files: FileLists
    orders: tuple[str, ...] = ()
    """What the person told the assistant to do from now on, word for word, oldest first."""


@dataclass(frozen=True, slots=True)
class _Filled:
    """What code fills into a summary, and the tokens it leaves to the sections."""

    said: FilledSection | None
    files: str
    identifier_tokens: int
    left_tokens: int


def write_document(parts: DocumentParts, cap_tokens: int, counter: TokenCounter, language: Language) -> str:
    """The summary as one text of at most `cap_tokens` tokens."""
    filled = _fill(parts, cap_tokens, counter, language)
    others = [
        replace(section, body=_without_identifier_lines(section.body, language))
        for section in parts.sections
        if section.key != USER_MESSAGES_KEY
    ]
    sections = trim_sections(others, filled.left_tokens, counter, language)
    if listed := _order_lines(missing_orders(parts.orders, write_sections(sections)), cap_tokens, counter, language):
        sections = _with_lines(sections, listed, parts.asked, _ORDER_SECTIONS)
    if filled.said is not None:
        sections = _put(sections, filled.said, parts.asked)
    body = write_sections(sections)
    named = missing_identifiers(parts.previous_text, f"{body}\n{filled.files}")
    line = _identifier_line(named, filled.identifier_tokens, counter, language)
    if line:
        body = write_sections(_with_lines(sections, line, parts.asked, _IDENTIFIER_SECTIONS))
    return "\n\n".join(part for part in (body, filled.files) if part)


def tokens_for_sections(parts: DocumentParts, cap_tokens: int, counter: TokenCounter, language: Language) -> int:
    """What `write_document` leaves for the bodies of the sections asked for beside what code fills in."""
    titles = sum(counter.text(section.title) + 4 for section in parts.asked)
    return max(0, _fill(parts, cap_tokens, counter, language).left_tokens - titles)


def _fill(parts: DocumentParts, cap_tokens: int, counter: TokenCounter, language: Language) -> _Filled:
    said = _user_section(parts, round(cap_tokens * _USER_MESSAGES_RATIO), counter, language)
    files = _write_files(parts.files, round(cap_tokens * (_FILES_RATIO if said is None else _FILES_RATIO / 2)), counter)
    identifier_tokens = round(cap_tokens * _IDENTIFIERS_RATIO) if parts.previous_text else 0
    said_tokens = 0 if said is None else counter.text(write_sections([said])) + 2
    order_tokens = counter.text(_order_lines(parts.orders, cap_tokens, counter, language)) if parts.orders else 0
    filled_tokens = counter.text(files) + identifier_tokens + said_tokens + order_tokens
    return _Filled(said, files, identifier_tokens, cap_tokens - filled_tokens)


def trim_sections(
    sections: Sequence[FilledSection], max_tokens: int, counter: TokenCounter, language: Language
) -> list[FilledSection]:
    """The sections within the budget: the longest are cut at line ends, and the last line points to the journal."""
    kept = [section for section in sections if section.body.strip()]
    if counter.text(write_sections(kept)) <= max_tokens:
        return kept
    notice = render("summary_cut_notice", language)
    budget = max(1, max_tokens - counter.text(notice) - sum(counter.text(section.title) + 4 for section in kept))
    cut = kept
    for _ in range(_TRIM_ATTEMPTS):
        level = level_within([counter.text(section.body) for section in kept], budget)
        cut = [_cut_section(section, level, counter) for section in kept]
        if cut:
            cut[-1] = replace(cut[-1], body=f"{cut[-1].body}\n\n{notice}")
        if counter.text(write_sections(cut)) <= max_tokens:
            return cut
        budget = budget * 8 // 10
    return cut


def _cut_section(section: FilledSection, level: int, counter: TokenCounter) -> FilledSection:
    size = counter.text(section.body)
    if size <= level:
        return section
    return replace(section, body=shorten_for_reading(section.body, byte_length(section.body) * level // size))


def _write_files(files: FileLists, max_tokens: int, counter: TokenCounter) -> str:
    # Newest paths count most; a few rounds of halving the older ones are enough for any list of 200.
    text = write_file_lists(files)
    while text and counter.text(text) > max_tokens:
        read, modified = files.read[len(files.read) // 4 + 1 :], files.modified
        if not files.read:
            modified = files.modified[len(files.modified) // 4 + 1 :]
        files = FileLists(read, modified)
        text = write_file_lists(files)
    return text


def _user_section(
    parts: DocumentParts, max_tokens: int, counter: TokenCounter, language: Language
) -> FilledSection | None:
    asked = next((section for section in parts.asked if section.key == USER_MESSAGES_KEY), None)
    if asked is None:
        return None
    entries = [*entries_of(parts.previous_user_section), *parts.new_user_entries]
    body = write_user_messages(entries, max_tokens, counter, language) if entries else ""
    return FilledSection(asked.key, asked.title, body)


def _put(sections: list[FilledSection], filled: FilledSection, asked: Sequence[Section]) -> list[FilledSection]:
    others = [section for section in sections if section.key != filled.key]
    order = [section.key for section in asked]
    before = set(order[: order.index(filled.key)])
    place = max((index + 1 for index, section in enumerate(others) if section.key in before), default=0)
    return [*others[:place], filled, *others[place:]]


def _identifier_line(names: Sequence[str], max_tokens: int, counter: TokenCounter, language: Language) -> str:
    chosen: list[str] = []
    for name in names:
        if counter.text(render("summary_identifiers", language, identifiers=[*chosen, name])) > max_tokens:
            break
        chosen.append(name)
    return render("summary_identifiers", language, identifiers=chosen) if chosen else ""


def _without_identifier_lines(body: str, language: Language) -> str:
    # They are written again each time, from what is still missing.
    start = render("summary_identifiers", language, identifiers=[])
    return "\n".join(line for line in body.split("\n") if not line.startswith(start)).strip("\n")


def _order_lines(orders: Sequence[str], cap_tokens: int, counter: TokenCounter, language: Language) -> str:
    """The newest orders that a share of the cap holds, as lines."""
    for start in range(len(orders)):
        listed = render("summary_orders", language, orders=[fence_safe(order) for order in orders[start:]])
        if counter.text(listed) <= round(cap_tokens * _ORDERS_RATIO):
            return listed
    return ""


def _with_lines(
    sections: Sequence[FilledSection], line: str, asked: Sequence[Section], homes: Sequence[str]
) -> list[FilledSection]:
    """The sections with a line behind what the first of these homes holds."""
    home = next(section for section in asked if section.key in homes)
    body = next((section.body for section in sections if section.key == home.key), "")
    filled = FilledSection(home.key, home.title, f"{body}\n\n{line}".strip())
    return _put(list(sections), filled, asked)
