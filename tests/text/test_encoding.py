"""A file is read as its editor meant it, whatever the encoding, and never as mojibake."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.text.encoding import DecodedText, decode_text

CHINESE = "我喜欢龙井茶，每天三点开会。\n- 项目使用 Python\n"
LATIN = "- likes tea\n- lives in Köln, café à côté\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "gbk", "gb18030"])
def test_chinese_is_read_in_every_encoding_its_editors_write(encoding: str) -> None:
    if encoding == "utf-16-le":
        text = "# Notes\n" + CHINESE[14:]
        assert decode_text(text.encode(encoding)).text == text
    else:
        assert decode_text(CHINESE.encode(encoding)).text == CHINESE


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_western_text_is_read_in_every_encoding_its_editors_write(encoding: str) -> None:
    assert decode_text(LATIN.encode(encoding)).text == LATIN


def test_what_is_not_utf8_says_so() -> None:
    assert decode_text(CHINESE.encode("gbk")) == DecodedText(CHINESE, "gb18030", "\n")
    assert not decode_text(CHINESE.encode("gbk")).is_utf8
    assert decode_text(CHINESE.encode("utf-8-sig")).is_utf8
    assert decode_text(b"") == DecodedText("", "utf-8", "\n")


def test_bytes_of_no_encoding_are_still_text() -> None:
    assert decode_text(b"a\x81b") == DecodedText("a\x81b", "latin-1", "\n")


def test_windows_line_ends_are_told_and_read_as_newlines() -> None:
    assert decode_text(b"a\r\nb\r\n") == DecodedText("a\nb\n", "utf-8", "\r\n")
    assert decode_text(b"a\r\nb\nc\n").newline == "\n"


def test_a_mark_of_one_encoding_before_bytes_of_another_does_not_fail() -> None:
    assert decode_text(b"\xff\xfea").encoding == "cp1252"


@given(st.text())
def test_utf8_is_always_read_as_what_it_is(text: str) -> None:
    content = text.encode()
    if not content.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")) and b"\0" not in content:
        assert decode_text(content).text == text.replace("\r\n", "\n").replace("\r", "\n")


@given(st.binary(max_size=200))
def test_any_bytes_are_read(content: bytes) -> None:
    decode_text(content)
