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
    for block in document.iter_inner_content():
        if (rows := getattr(block, "rows", None)) is not None:
            for row in rows:
                yield " | ".join(cell.text.replace("\n", " ") for cell in row.cells)
            yield ""
            continue
        style = str(block.style.name) if block.style is not None else ""
        level = style.removeprefix(_HEADING) if style.startswith(_HEADING) else ""
        mark = "#" * int(level) + " " if level.isdecimal() else "- " if style.startswith("List") else ""
        yield f"{mark}{block.text}" if block.text.strip() else ""


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
