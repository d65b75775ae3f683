"""Text files of any editor: which encoding their bytes are in, and what the person should be told about it."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Literal

Encoding = Literal["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "gb18030", "unknown"]

_BYTE_ORDER_MARKS: tuple[tuple[bytes, Encoding], ...] = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NAMES: dict[Encoding, str] = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8 with a byte order mark",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "gb18030": "GBK",
    "unknown": "an unknown encoding",
}
_PROBE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A file's text, without byte order mark; `notice` is empty for UTF-8, with or without a mark."""

    text: str
    encoding: Encoding
    notice: str = ""


def decode_text(content: bytes, name: str) -> DecodedText:
    """The text in `content`, the bytes of the file called `name`; never raises.

    Bytes that fit no encoding become U+FFFD, and the notice says so: such a text must not be saved over the file.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return _decoded(content[len(mark) :], encoding, name)
    for encoding in _likely_encodings(content):
        if (text := _decode_strictly(content, encoding)) is not None:
            return DecodedText(text, encoding, _notice(encoding, name))
    return _decoded(content, "unknown", name)


def _likely_encodings(content: bytes) -> tuple[Encoding, ...]:
    probe = content[:_PROBE_BYTES]
    if len(content) % 2 == 0 and probe:
        # Text in UTF-16 without a mark shows by the zero bytes of its line ends, blanks and Latin letters.
        zeros_low, zeros_high = probe[1::2].count(0), probe[0::2].count(0)
        if zeros_low > len(probe) // 16 and zeros_high == 0:
            return ("utf-16-le",)
        if zeros_high > len(probe) // 16 and zeros_low == 0:
            return ("utf-16-be",)
    return ("utf-8", "gb18030")


def _decoded(content: bytes, encoding: Encoding, name: str) -> DecodedText:
    codec = "utf-8" if encoding in ("utf-8-sig", "unknown") else encoding
    text = _decode_strictly(content, codec)
    if text is not None:
        return DecodedText(text, encoding, _notice(encoding, name))
    return DecodedText(content.decode(codec, "replace"), "unknown", _notice("unknown", name))


def _decode_strictly(content: bytes, codec: str) -> str | None:
    try:
        return content.decode(codec)
    except UnicodeDecodeError:
        return None


def _notice(encoding: Encoding, name: str) -> str:
    if encoding in ("utf-8", "utf-8-sig"):
        return ""
    if encoding == "unknown":
        return f"{name} is in an encoding that is not known here: some of its characters cannot be read."
    return f"{name} is in {_NAMES[encoding]}: it is read as such. Save it as UTF-8 to be sure."
