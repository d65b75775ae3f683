"""Text files as the file tools see them, and what they write in the form the file had (pure).

The tools know UTF-8 and `\\n` alone; a file of another encoding or with other line ends would be changed all over by an
edit of one line.
"""

from __future__ import annotations

import codecs

from assistant.text.encoding import decode_text
from assistant.text.line_ends import lines_with_ends, usual_line_end

_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_PROBE_BYTES = 8_192


def as_utf8(content: bytes) -> bytes:
    """The text of a file in UTF-8, its line ends as they are; what is no text comes back as it is."""
    mark, encoding = _form_of(content)
    if not encoding:
        return content
    return content[len(mark) :].decode(encoding, "replace").encode()


def like_before(before: bytes, text: str) -> bytes:
    """`text` in the encoding and with the line ends of `before`; lines that did not change stay to the byte."""
    mark, encoding = _form_of(before)
    if not before or not encoding:
        return text.encode()
    text_before = before[len(mark) :].decode(encoding, "replace")
    old, new = lines_with_ends(text_before), lines_with_ends(text)
    line_end = usual_line_end(text_before)
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    middle = [_ended(line, line_end) for line in new[start : len(new) - end]]
    written = _joined([*old[:start], *middle, *old[len(old) - end :]])
    try:
        return mark + written.encode(encoding)
    except UnicodeEncodeError:
        return written.encode()


def _form_of(content: bytes) -> tuple[bytes, str]:
    """The byte order mark and the encoding; no encoding for what is no text."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return mark, encoding
    encoding = decode_text(content).encoding
    is_binary = b"\0" in content[:_PROBE_BYTES] and not encoding.startswith("utf-16")
    return b"", "" if is_binary else encoding


def _common(old: list[str], new: list[str]) -> int:
    count = 0
    for one, other in zip(old, new, strict=False):
        if one.rstrip("\r\n") != other.rstrip("\r\n") or _has_end(one) != _has_end(other):
            break
        count += 1
    return count


def _joined(lines: list[str]) -> str:
    """The lines as one text; an old `\r` before a new `\n` would be one line end with it and becomes `\n` itself."""
    joined: list[str] = []
    # From the end on, for what became `\n` belongs to the line before it.
    for line in reversed(lines):
        is_one_end = line.endswith("\r") and joined and joined[-1].startswith("\n")
        joined.append(f"{line[:-1]}\n" if is_one_end else line)
    return "".join(reversed(joined))


def _has_end(line: str) -> bool:
    return line.endswith(("\r", "\n"))


def _ended(line: str, line_end: str) -> str:
    return line.rstrip("\r\n") + line_end if _has_end(line) else line
