"""Bytes as text and text as bytes: any encoding that people's editors leave, and only what UTF-8 can hold."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from assistant.config.words import Language, sentence
from assistant.text.line_ends import LineEnd, usual_line_end, with_newlines

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class DecodedText:
    """The text with `\\n` for every line end, the encoding it was read with, and the line end of the file."""

    text: str
    encoding: str
    newline: LineEnd

    @property
    def is_utf8(self) -> bool:
        """True when the bytes were UTF-8, with or without a byte order mark."""
        return self.encoding == "utf-8"

    def notice(self, name: str, language: Language = "en") -> str:
        """A notice to the person about the file called `name`; empty for UTF-8."""
        return "" if self.is_utf8 else sentence("file_notices", language, "not_utf8", name=name, encoding=self.encoding)


def decode_text(content: bytes) -> DecodedText:
    """The text of these bytes: by byte order mark, else UTF-16, UTF-8, Chinese (GBK), Western, the first that fits."""
    for mark, encoding in _MARKS:
        if content.startswith(mark) and (text := _decoded(content, encoding)) is not None:
            return _decoded_text(text.removeprefix("\ufeff"), encoding)
    for encoding in (*_utf16_guess(content), "utf-8", "gb18030", "cp1252"):
        text = _decoded(content, encoding)
        if text is not None and (encoding != "gb18030" or _is_chinese(text)):
            return _decoded_text(text, encoding)
    return _decoded_text(content.decode("latin-1"), "latin-1")


def encode(text: str) -> bytes:
    """UTF-8; a lone surrogate, which UTF-8 cannot hold, becomes U+FFFD, and two that belong together one character."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def storable(text: str) -> str:
    """The text as it would come back from a file: without the lone surrogates that no file and no request can hold."""
    return encode(text).decode()


def _utf16_guess(content: bytes) -> list[str]:
    """UTF-16 without a mark: of each two bytes of Latin text one is zero, and always the same one."""
    first, second = content[0::2].count(0), content[1::2].count(0)
    if not content or len(content) % 2 or max(first, second) * 5 < len(content) or min(first, second):
        return []
    return ["utf-16-be" if first else "utf-16-le"]


def _decoded(content: bytes, encoding: str) -> str | None:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return None


def _is_chinese(text: str) -> bool:
    """True unless the pairs of bytes make characters that hardly occur, as Western letters read as GBK do."""
    foreign = [character for character in text if ord(character) > 127]
    common = [character for character in foreign if _in_gb2312(character)]
    return len(common) * 5 >= len(foreign) * 4


def _in_gb2312(character: str) -> bool:
    try:
        character.encode("gb2312")
    except UnicodeEncodeError:
        return False
    return True


def _decoded_text(text: str, encoding: str) -> DecodedText:
    return DecodedText(with_newlines(text), encoding, usual_line_end(text))
