"""An edit changes the lines it is about, and nothing else of a file."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assistant.agent.tools.file_texts import as_utf8, like_before


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_a_file_keeps_its_encoding(encoding: str) -> None:
    before = "第一行内容\r\n第二行内容\r\n".encode(encoding)
    seen = as_utf8(before).decode()
    assert seen == "第一行内容\r\n第二行内容\r\n"
    changed = seen.replace("\r\n", "\n").replace("第二", "第三")
    assert like_before(before, changed) == "第一行内容\r\n第三行内容\r\n".encode(encoding)


def test_a_big_endian_mark_is_kept() -> None:
    before = b"\xfe\xff" + "one\n".encode("utf-16-be")
    assert like_before(before, "two\n") == b"\xfe\xff" + "two\n".encode("utf-16-be")


def test_line_ends_of_untouched_lines_stay_in_a_mixed_file() -> None:
    before = b"one\r\ntwo\nthree\r\nfour\rfive"
    assert like_before(before, "one\ntwo\n3\nfour\nfive") == b"one\r\ntwo\n3\nfour\rfive"


def test_a_new_empty_line_behind_an_old_return_is_a_line_of_its_own() -> None:
    assert like_before(b"\r", "\n\n") == b"\n\n"


def test_what_the_encoding_cannot_hold_makes_the_file_utf8() -> None:
    assert like_before(b"caf\xe9\n", "café 咖啡\n") == "café 咖啡\n".encode()


def test_what_is_no_text_comes_back_as_it_is() -> None:
    assert as_utf8(b"\x89PNG\0\0\xff\xfe") == b"\x89PNG\0\0\xff\xfe"
    assert like_before(b"\x89PNG\0\0\xff", "text\n") == b"text\n"


@given(st.binary(max_size=60).filter(lambda content: b"\0" not in content))
def test_writing_back_what_was_read_changes_no_byte(content: bytes) -> None:
    seen = as_utf8(content).decode().replace("\r\n", "\n").replace("\r", "\n")
    assert like_before(content, seen) == content


@example("\r\r", "\n\n\n")
@given(st.text(alphabet="ab\r\n中\u2028", max_size=40), st.text(alphabet="ab\n中\u2028", max_size=40))
def test_the_words_are_the_new_ones_whatever_the_file_was(before: str, text: str) -> None:
    written = like_before(before.encode(), text).decode()
    assert written.replace("\r\n", "\n").replace("\r", "\n") == text
