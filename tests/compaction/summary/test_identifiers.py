"""What is taken for exact, and what an update forgot to name."""

from __future__ import annotations

import pytest

from assistant.compaction.summary.identifiers import MAX_IDENTIFIERS, identifiers_of, missing_identifiers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see https://example.com/a?b=1, then", ("https://example.com/a?b=1",)),
        ("in /srv/app/main.py.", ("/srv/app/main.py",)),
        ("edit src/app.py and notes.md", ("src/app.py", "notes.md")),
        ("the port is 8443", ("8443",)),
        ("on 2026-11-30 at 09:15", ("2026-11-30", "09:15")),
        ("version v1.2.3", ("v1.2.3",)),
        ("raised KeyError: 'name' is missing", ("KeyError: 'name' is missing",)),
        ("run `make all`", ("make all",)),
        ("ticket ABC-123", ("ABC-123",)),
        ("端口是8443，文件在 /data/库.md", ("8443", "/data/库.md")),
        ("写信给ada@example.org，看src/库/main.py里的错误", ("ada@example.org", "src/库/main.py")),
        ("目录/srv/app下面，提交a1b2c3d4e", ("/srv/app", "a1b2c3d4e")),
        ("- [2026-11-30 09:15] The person: port 8443", ("8443",)),
        ("nothing exact here, 5 words", ()),
    ],
)
def test_identifiers_are_found_by_shape(text: str, expected: tuple[str, ...]) -> None:
    assert identifiers_of(text) == expected


def test_at_most_a_hundred_are_looked_at() -> None:
    assert len(identifiers_of(" ".join(str(n) for n in range(1_000, 2_000)))) == MAX_IDENTIFIERS


def test_what_an_update_forgot_is_named() -> None:
    assert missing_identifiers("port 8443, file a.py", "the file a.py stays") == ("8443",)


@pytest.mark.parametrize("unit", ["a-", "a/", "a.", "1.", "f", "x@", "/a", "A_", "`a", "v1", "Err"])
def test_no_text_makes_the_search_slow(unit: str) -> None:
    assert len(identifiers_of(unit * 50_000)) <= MAX_IDENTIFIERS
