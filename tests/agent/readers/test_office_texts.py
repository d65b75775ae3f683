"""The words of Word files, workbooks and slides are found, and a file that breaks its reader breaks nothing else."""

from __future__ import annotations

import io
import zipfile
from copy import deepcopy

import pytest
from docx import Document
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from openpyxl import Workbook
from pptx import Presentation
from pptx.util import Inches

from assistant.agent.readers.office_texts import MAX_CHARS
from assistant.agent.readers.process import Reader, read_apart
from assistant.agent.tools.tool_backend import shell_environment


def word_file() -> bytes:
    """A heading, a list, a table."""
    document, out = Document(), io.BytesIO()
    document.add_heading("The plan", 1)
    document.add_paragraph("We meet on 周五.")
    document.add_paragraph("Bring water", style="List Bullet")
    table = document.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "Monday", "8 hours"
    document.save(out)
    return out.getvalue()


def workbook(rows: int = 1) -> bytes:
    """Two sheets, the second without a value."""
    book, out = Workbook(write_only=True), io.BytesIO()
    sheet = book.create_sheet("Hours")
    sheet.append(["day", None, "hours"])
    for _ in range(rows):
        sheet.append(["Monday", None, 8, None])
    book.create_sheet("Empty")
    book.save(out)
    return out.getvalue()


def slides() -> bytes:
    """A slide with a title, a table and notes."""
    shown, out = Presentation(), io.BytesIO()
    slide = shown.slides.add_slide(shown.slide_layouts[5])
    assert slide.shapes.title is not None
    slide.shapes.title.text = "Where we go"
    table = slide.shapes.add_table(1, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    table.cell(0, 0).text, table.cell(0, 1).text = "Lisbon", "May"
    assert slide.notes_slide.notes_text_frame is not None
    slide.notes_slide.notes_text_frame.text = "Say hello first"
    shown.save(out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("reader", "content", "parts"),
    [
        (
            "word",
            word_file(),
            [{"title": "", "text": "# The plan\nWe meet on 周五.\n- Bring water\nMonday | 8 hours"}],
        ),
        (
            "sheet",
            workbook(),
            [{"title": "Hours", "text": "day |  | hours\nMonday |  | 8"}, {"title": "Empty", "text": ""}],
        ),
        ("slides", slides(), [{"title": "", "text": "Where we go\nLisbon | May\nSay hello first"}]),
    ],
)
async def test_the_words_are_found(reader: Reader, content: bytes, parts: list[dict[str, str]]) -> None:
    assert await read_apart(reader, content, shell_environment()) == {"parts": parts, "is_cut": False}


async def test_of_a_huge_workbook_so_much_is_read_and_that_is_said() -> None:
    said = await read_apart("sheet", workbook(rows=MAX_CHARS // 14 + 1_000), shell_environment())
    assert said["is_cut"] is True
    assert len(str(said["parts"])) < MAX_CHARS + 1_000_000


async def test_words_in_fields_links_and_tracked_changes_are_found() -> None:
    document, out = Document(), io.BytesIO()
    inner = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"
    for xml in (
        f"<w:sdt><w:sdtContent>{inner.format('A field.')}</w:sdtContent></w:sdt>",
        "<w:p><w:ins><w:r><w:t>Put in</w:t></w:r></w:ins><w:del><w:r><w:delText>Gone</w:delText></w:r></w:del></w:p>",
        "<w:p><w:hyperlink><w:r><w:t>A link</w:t></w:r></w:hyperlink></w:p>",
        f"<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid><w:tr><w:tc>{inner.format('One')}{inner.format('cell')}</w:tc></w:tr></w:tbl>",
    ):
        name, _, rest = xml.partition(">")
        document.element.body.insert(-1, parse_xml(f"{name} {nsdecls('w')}>{rest}"))
    document.save(out)
    said = await read_apart("word", out.getvalue(), shell_environment())
    assert said["parts"] == [{"title": "", "text": "A field.\nPut in\nA link\nOne cell"}]


async def test_a_book_of_many_paragraphs_is_read() -> None:
    document, out = Document(), io.BytesIO()
    document.add_paragraph("A line.")
    body = document.element.body
    for _ in range(20_000):
        body.insert(0, deepcopy(body[0]))
    document.save(out)
    said = await read_apart("word", out.getvalue(), shell_environment())
    assert said == {"parts": [{"title": "", "text": "\n".join(["A line."] * 20_001)}], "is_cut": False}


def packed(name: str, content: bytes) -> bytes:
    """A file of Office with one file in it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return out.getvalue()


@pytest.mark.parametrize("reader", ["word", "sheet", "slides"])
@pytest.mark.parametrize(
    "content",
    [b"PK\x03\x04no archive", packed("a.txt", b"words"), packed("[Content_Types].xml", b"<broken"), word_file()[:-400]],
    ids=["no archive", "another archive", "broken", "cut"],
)
async def test_what_is_no_file_of_office_is_named(reader: Reader, content: bytes) -> None:
    assert await read_apart(reader, content, shell_environment()) == {"problem": "unreadable"}
