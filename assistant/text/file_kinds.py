"""What a file is, by its first bytes: a name says what somebody called it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from assistant.text.encoding import decode_text

FileKind = Literal[
    "text", "pdf", "word", "sheet", "slides", "picture", "archive", "program", "media", "old_office", "heic", "binary"
]
HEAD_BYTES = 8_192
"""How much of a file `kind_of` looks at."""

_ZIP = b"PK\x03\x04"
_OFFICE: dict[str, FileKind] = {".docx": "word", ".xlsx": "sheet", ".xlsm": "sheet", ".pptx": "slides"}
_SIGNATURES: tuple[tuple[bytes, FileKind], ...] = (
    (b"%PDF-", "pdf"),
    (b"\x89PNG\r\n\x1a\n", "picture"),
    (b"\xff\xd8\xff", "picture"),
    (b"GIF8", "picture"),
    (b"BM", "picture"),
    (b"II*\x00", "picture"),
    (b"MM\x00*", "picture"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old_office"),
    (b"PK\x05\x06", "archive"),
    (b"\x1f\x8b", "archive"),
    (b"BZh", "archive"),
    (b"\xfd7zXZ\x00", "archive"),
    (b"7z\xbc\xaf\x27\x1c", "archive"),
    (b"Rar!\x1a\x07", "archive"),
    (b"\x28\xb5\x2f\xfd", "archive"),
    (b"MZ", "program"),
    (b"\x7fELF", "program"),
    (b"\xfe\xed\xfa\xce", "program"),
    (b"\xfe\xed\xfa\xcf", "program"),
    (b"\xce\xfa\xed\xfe", "program"),
    (b"\xcf\xfa\xed\xfe", "program"),
    (b"\xca\xfe\xba\xbe", "program"),
    (b"\x00asm", "program"),
    (b"OggS", "media"),
    (b"ID3", "media"),
    (b"fLaC", "media"),
    (b"\x1aE\xdf\xa3", "media"),
)
_HEIC_BRANDS = (b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1", b"avif")
# A text may begin with these letters as well; a file of the kind has a zero byte soon.
_SHORT = (b"BM", b"MZ", b"ID3", b"GIF8", b"BZh")


def kind_of(name: str, head: bytes) -> FileKind:
    """The kind of a file with this name and these first bytes."""
    if head.startswith(_ZIP):
        ending = name[name.rfind(".") :].lower() if "." in name else ""
        return _OFFICE.get(ending, "archive")
    if head[257:262] == b"ustar":
        return "archive"
    if head[4:8] == b"ftyp":
        return "heic" if head[8:12] in _HEIC_BRANDS else "media"
    if head.startswith(b"RIFF"):
        return "picture" if head[8:12] == b"WEBP" else "media"
    for signature, kind in _SIGNATURES:
        if head.startswith(signature) and (signature not in _SHORT or b"\0" in head):
            return kind
    return "text" if _is_text(head) else "binary"


def kind_of_file(path: Path) -> FileKind:
    """The kind of a file on disk, by its name and its first bytes."""
    with path.open("rb") as file:
        return kind_of(path.name, file.read(HEAD_BYTES))


def _is_text(head: bytes) -> bool:
    return b"\0" not in head or decode_text(head[: len(head) // 4 * 4]).encoding.startswith(("utf-16", "utf-32"))
