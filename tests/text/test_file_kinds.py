"""A file is what its first bytes say, whatever it is called."""

from __future__ import annotations

import pytest

from assistant.text.file_kinds import FileKind, kind_of


@pytest.mark.parametrize(
    ("name", "head", "kind"),
    [
        ("a.txt", b"plain words", "text"),
        ("a.md", "# 标题\n中文".encode("gb18030"), "text"),
        ("a.txt", "\ufeffwords".encode("utf-16"), "text"),
        ("a.svg", b"<svg onload='alert(1)'/>", "text"),
        ("a.html", b"<script>alert(1)</script>", "text"),
        ("BMW.txt", b"BMW makes cars", "text"),
        ("mz.txt", b"MZ is short for nothing", "text"),
        ("a.pdf", b"%PDF-1.7\n", "pdf"),
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0", "picture"),
        ("a.txt", b"\xff\xd8\xff\xe0\0\x10JFIF", "picture"),
        ("a.webp", b"RIFF\x10\0\0\0WEBP", "picture"),
        ("a.bmp", b"BM\x10\0\0\0", "picture"),
        ("a.wav", b"RIFF\x10\0\0\0WAVE", "media"),
        ("a.mp4", b"\0\0\0\x18ftypmp42", "media"),
        ("a.heic", b"\0\0\0\x18ftypheic", "heic"),
        ("a.docx", b"PK\x03\x04\x14\0", "word"),
        ("A.XLSX", b"PK\x03\x04\x14\0", "sheet"),
        ("a.pptx", b"PK\x03\x04\x14\0", "slides"),
        ("a.zip", b"PK\x03\x04\x14\0", "archive"),
        ("noending", b"PK\x03\x04\x14\0", "archive"),
        ("a.tar", b"name" + b"\0" * 253 + b"ustar", "archive"),
        ("a.gz", b"\x1f\x8b\x08", "archive"),
        ("a.txt", b"MZ\x90\0\x03", "program"),
        ("a", b"\x7fELF\x02", "program"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old_office"),
        ("a.bin", bytes(range(256)), "binary"),
    ],
)
def test_the_kind_of_a_file(name: str, head: bytes, kind: FileKind) -> None:
    assert kind_of(name, head) == kind
