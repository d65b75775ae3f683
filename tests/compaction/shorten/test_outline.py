"""What an extract of a file names."""

from __future__ import annotations

from assistant.compaction.shorten.outline import outline_of


def test_headings_and_definitions_are_named_with_their_line_numbers() -> None:
    text = "     1\t# Title\n     2\ttext\n     3\tclass A:\n     4\t    def run(self):\n     5\t        x = 1\n"
    assert outline_of(text, 700) == "     1\t# Title\n     3\tclass A:\n     4\t    def run(self):"


def test_other_files_are_outlined_too() -> None:
    text = "[server]\nport = 1\nexport function go() {\npub fn main() {\nCREATE TABLE notes (\n"
    assert outline_of(text, 700) == "[server]\nexport function go() {\npub fn main() {\nCREATE TABLE notes ("


def test_a_long_outline_is_thinned_evenly() -> None:
    text = "".join(f"def f{n}():\n" for n in range(1000))
    found = outline_of(text, 100).splitlines()
    assert found[0] == "def f0():"
    assert 4 < len(found) < 10


def test_a_text_without_either_has_none() -> None:
    assert outline_of("just words\n" * 100, 700) == ""
