"""The text of a Word file, a workbook or slides, in parts: the whole of one, each sheet, each slide."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

MAX_CHARS = 2_000_000
"""Characters of one reading."""
_HEADING = "Heading "


def read(content: bytes, reader: str, _: str) -> dict[str, object]:
    """`parts` of `title` and `text`, and whether there was more than fits (`is_cut`). A broken file raises anything."""
    parts = {"word": _word, "sheet": _sheets, "slides": _slides}[reader](content)
    taken: list[dict[str, str]] = []
    left = MAX_CHARS
    for title, lines in parts:
        text = ""
        for line in lines:
            text += f"{line[:left]}\n"
            left -= len(line) + 1
            if left <= 0:
                break
        taken.append({"title": title, "text": text.strip("\n")})
        if left <= 0:
            break
    return {"parts": taken, "is_cut": left <= 0}


Parts = Iterator[tuple[str, Iterable[str]]]


def _word(content: bytes) -> Parts:
    from docx import Document  # noqa: PLC0415

    yield "", _word_lines(Document(io.BytesIO(content)))


def _word_lines(document: Any) -> Iterator[str]:
    # Looking a style up takes the library some milliseconds, and a book has ten thousand paragraphs.
    marks: dict[str | None, str] = {}
    for block in document.iter_inner_content():
        if (rows := getattr(block, "rows", None)) is not None:
            for row in rows:
                yield " | ".join(cell.text.replace("\n", " ") for cell in row.cells)
            yield ""
            continue
        text = block.text
        style_id = block._p.style
        if style_id not in marks:
            marks[style_id] = _mark_of(block.style)
        yield f"{marks[style_id]}{text}" if text.strip() else ""


def _mark_of(style: Any) -> str:
    """What stands before a paragraph of a style: the signs of a heading or of a list."""
    name = str(style.name) if style is not None else ""
    level = name.removeprefix(_HEADING) if name.startswith(_HEADING) else ""
    return "#" * int(level) + " " if level.isdecimal() else "- " if name.startswith("List") else ""


def _sheets(content: bytes) -> Parts:
    from openpyxl import load_workbook  # noqa: PLC0415

    book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    for sheet in book.worksheets:
        yield sheet.title, _rows(sheet.iter_rows(values_only=True))


def _rows(rows: Iterable[tuple[object, ...]]) -> Iterator[str]:
    """The rows with a bar between two cells; empty ones and empty cells at the end are left out."""
    for row in rows:
        line = " | ".join("" if value is None else str(value).replace("\n", " ") for value in row).rstrip(" |")
        if line:
            yield line


def _slides(content: bytes) -> Parts:
    from pptx import Presentation  # noqa: PLC0415

    for slide in Presentation(io.BytesIO(content)).slides:
        yield "", _slide_lines(slide)


def _slide_lines(slide: Any) -> Iterator[str]:
    for shape in slide.shapes:
        yield from _shape_lines(shape)
    if slide.has_notes_slide:
        notes = slide.notes_slide.notes_text_frame
        yield from (notes.text.splitlines() if notes is not None else ())


def _shape_lines(shape: Any) -> Iterator[str]:
    for inner in getattr(shape, "shapes", ()):
        yield from _shape_lines(inner)
    if getattr(shape, "has_text_frame", False):
        yield from shape.text_frame.text.splitlines()
    if getattr(shape, "has_table", False):
        for row in shape.table.rows:
            yield " | ".join(cell.text.replace("\n", " ") for cell in row.cells)
