"""The text of a Word file, a workbook or slides, in parts: the whole of one, each sheet, each slide."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

MAX_CHARS = 2_000_000
"""Characters of one reading."""
_HEADING = "Heading "
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


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
    from docx.table import Table  # noqa: PLC0415
    from docx.text.paragraph import Paragraph  # noqa: PLC0415

    # Looking a style up takes the library some milliseconds, and a book has ten thousand paragraphs.
    marks: dict[str | None, str] = {}
    for block in _blocks(document.element.body):
        if block.tag == f"{_W}tbl":
            for row in Table(block, document).rows:
                yield " | ".join(map(_cell_text, row.cells))
            yield ""
            continue
        text = _own_text(block)
        style_id = block.style
        if style_id not in marks:
            marks[style_id] = _mark_of(Paragraph(block, document).style)
        yield f"{marks[style_id]}{text}" if text.strip() else ""


def _blocks(parent: Any) -> Iterator[Any]:
    """The paragraphs and tables in their order, those in a form's fields and in a tracked change too."""
    for child in parent:
        if child.tag in (f"{_W}p", f"{_W}tbl"):
            yield child
        elif child.tag in (f"{_W}sdt", f"{_W}sdtContent", f"{_W}ins", f"{_W}customXml"):
            yield from _blocks(child)


def _own_text(paragraph: Any) -> str:
    """The words of a paragraph, those in links, in fields and in what was put in with changes tracked too."""
    runs = (run for run in paragraph.iter(f"{_W}r") if next(run.iterancestors(f"{_W}p")) is paragraph)
    return "".join(str(run.text) for run in runs)


def _cell_text(cell: Any) -> str:
    """The words of a cell of a table, on one line."""
    return " ".join(map(_own_text, cell._tc.iter(f"{_W}p"))).replace("\n", " ")


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
