"""A file that is attached becomes text, or a plain line says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.agent.attachments.file_reading import GivenFile, read_file
from assistant.agent.tools.tool_backend import shell_environment
from assistant.errors import AttachmentError


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
