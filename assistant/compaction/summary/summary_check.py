"""Whether a model's answer is a summary: what is stripped from it, and why it is rejected."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from assistant.compaction.summary.file_tracking import without_file_lists
from assistant.compaction.summary.sections import Section, read_sections
from assistant.config.words import Language
from assistant.messages.tokens import TokenCounter
from assistant.text.markdown import without_fence

Rejection = Literal["no_headings", "too_short", "too_long", "wrong_language", "no_answer"]

MIN_CHARS = 200
MIN_CHARS_FROM_TOKENS = 2_000
"""A source of more tokens than this needs a summary of at least `MIN_CHARS` characters."""
_LANGUAGE_MIN_LETTERS = 60

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_SUMMARY_TAGS = re.compile(r"^</?(?:previous-)?summary>[ \t]*$", re.MULTILINE)


def clean_answer(answer: str) -> str:
    """The answer without thoughts, wrappers, summary tags and copied file lists."""
    text = without_fence(_THOUGHTS.sub("", answer).strip())
    return without_file_lists(_SUMMARY_TAGS.sub("", text))


def reject_summary(
    text: str,
    asked: Sequence[Section],
    other_titles: Sequence[Section],
    language: Language,
    source_tokens: int,
    cap_tokens: int,
    counter: TokenCounter,
) -> Rejection | None:
    """Why a cleaned answer is no summary; None when it is one."""
    if not any(section.key for section in read_sections(text, asked, other_titles)):
        return "no_headings"
    if source_tokens > MIN_CHARS_FROM_TOKENS and len(text) < MIN_CHARS:
        return "too_short"
    if counter.text(text) > cap_tokens:
        return "too_long"
    return "wrong_language" if _is_other_language(text, language) else None


def _is_other_language(text: str, language: Language) -> bool:
    # Names, code and quotations mix languages, so only a text that is plainly in the other one counts.
    letters = [character for character in text if character.isalpha()]
    if len(letters) < _LANGUAGE_MIN_LETTERS:
        return False
    chinese = sum("\u4e00" <= character <= "\u9fff" for character in letters) / len(letters)
    return chinese < 0.03 if language == "zh" else chinese > 0.5
