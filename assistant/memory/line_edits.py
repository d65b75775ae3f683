"""Lines added to a Markdown text under a heading, or in place of an old line (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assistant.text.markdown import read_heading, read_lines, read_list_item, without_bullet


def new_lines_of(text: str, lines: Iterable[str]) -> list[str]:
    """The lines as list items, without blank ones, doubles, and those that stand in the text already.

    Surrounding space and the bullet do not count when lines are compared.
    """
    known = {without_bullet(line) for line in _lines(text)}
    new: list[str] = []
    for line in (part.rstrip() for given in lines for part in given.splitlines()):
        said = without_bullet(line)
        if said and said not in known:
            known.add(said)
            new.append(line if read_list_item(line) else f"- {line.strip()}")
    return new


def with_lines_under(text: str, heading: str, lines: Sequence[str]) -> str:
    """The text with the lines at the end of the section; a missing heading is made at the end of the text.

    Without a heading the lines come at the end of the text.
    """
    name = heading.strip().lstrip("#").strip()
    standing = _lines(text)
    start, stop = _section(standing, name) if name else (len(standing), len(standing))
    if start is None:
        standing = [*standing, *([""] if any(standing) else []), f"## {name}", ""]
        stop = len(standing)
    while stop > 0 and not standing[stop - 1].strip():
        stop -= 1
    after_heading = [""] if stop > 0 and read_heading(standing[stop - 1]) else []
    rest = standing[stop:]
    while rest and not rest[0].strip():
        rest = rest[1:]
    return _joined([*standing[:stop], *after_heading, *lines, *([""] if rest else []), *rest])


def with_line_replaced(text: str, old_line: str, lines: Sequence[str]) -> str | None:
    """The text with the lines in place of the one old line, its doubles gone too; None when it is nowhere.

    Surrounding space does not count; the new lines stand as far in as the old one.
    """
    standing = _lines(text)
    places = [index for index, line in enumerate(standing) if line.strip() == old_line.strip()]
    if not places or not old_line.strip():
        return None
    first = standing[places[0]]
    indent = first[: len(first) - len(first.lstrip())]
    new = [f"{indent}{line.strip()}" for line in lines]
    kept = [line for index, line in enumerate(standing) if index not in places[1:]]
    return _joined([*kept[: places[0]], *new, *kept[places[0] + 1 :]])


def _section(lines: Sequence[str], name: str) -> tuple[int | None, int]:
    """Where the section's heading stands (None: nowhere) and where its own text ends, before the next heading."""
    start: int | None = None
    for index, line in enumerate(read_lines(lines)):
        if line.heading and start is not None:
            return start, index
        if line.heading and line.heading.title.casefold() == name.casefold():
            start = index
    return start, len(lines)


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n" if lines else ""
