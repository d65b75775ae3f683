"""A file that is attached becomes text, or a plain line says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.agent.attachments.file_reading import GivenFile, read_file
from assistant.agent.tools.tool_backend import shell_environment
from assistant.errors import AttachmentError
from tests.agent.readers.test_office_texts import slides, workbook
from tests.agent.readers.test_pdf_texts import pdf


async def read(folder: Path, name: str, content: bytes) -> GivenFile:
    """The file as it is read."""
    path = folder / "coming"
    path.write_bytes(content)
    return await read_file(name, path, shell_environment())


async def test_a_text_of_any_encoding_is_read(tmp_path: Path) -> None:
    file = await read(tmp_path, "会议.txt", "会议在周五下午三点，请带上蓝色文件夹。\r\n".encode("gb18030"))
    assert (file.kind, file.text, file.size_bytes) == ("text", "会议在周五下午三点，请带上蓝色文件夹。\n", 40)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", b"", "a.txt is empty"),
        ("a.txt", b" \n\n", "a.txt is empty"),
        ("a.zip", b"PK\x03\x04\x14\0", "Archives are not opened."),
        ("a.exe", b"MZ\x90\0\x03", "a.exe is a program."),
        ("a.mp3", b"ID3\x04\0", "a.mp3 is sound or film"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Office before 2007"),
        ("a.bin", bytes(range(256)), "a.bin is of a kind that cannot be read here."),
    ],
)
async def test_what_cannot_be_read_is_refused_in_plain_words(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    with pytest.raises(AttachmentError, match=said):
        await read(tmp_path, name, content)


async def test_each_page_of_a_pdf_is_under_its_number(tmp_path: Path) -> None:
    file = await read(tmp_path, "two.pdf", pdf(*["one"] * 24, "the last"))
    assert file.text.startswith("# Page 1\none\n\n# Page 2\none\n")
    assert file.text.endswith("# Page 25\nthe last")


async def test_of_a_huge_pdf_so_much_is_read_and_that_is_said(tmp_path: Path) -> None:
    file = await read(tmp_path, "huge.pdf", pdf(*["x" * 200_000] * 12))
    assert file.text.endswith("xxx\n\n[The file goes on; only so much of it was read.]")
    assert "# Page 11" not in file.text


async def test_each_slide_and_sheet_is_under_its_title(tmp_path: Path) -> None:
    sheet, shown = await read(tmp_path, "hours.xlsx", workbook()), await read(tmp_path, "trip.pptx", slides())
    assert sheet.text.startswith("# Sheet Hours\nday |  | hours\n")
    assert shown.text == "# Slide 1\nWhere we go\nLisbon | May\nSay hello first"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("scan.pdf", pdf(""), "No text was found in scan.pdf."),
        ("cut.pdf", pdf("one")[:-200], "cut.pdf is damaged or protected"),
        ("bad.docx", b"PK\x03\x04no archive", "bad.docx is damaged or protected"),
    ],
)
async def test_a_document_without_words_is_refused_in_plain_words(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    with pytest.raises(AttachmentError, match=said):
        await read(tmp_path, name, content)
