"""A message that only makes sense after what was said before it, and what is searched for in its place (pure)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assistant.index.text.terms import content_terms, is_cjk

_MOST_TERMS = 2
_MOST_CJK_TERMS = 4
_LEADS_BACK = re.compile(
    r"\b(?:it|its|that|this|those|these|they|them|their|he|him|his|she|her|hers|there|then|else|ones?|too|also)\b"
    r"|^\W*(?:and|but|so|or|what about|how about)\b"
    r"|^\W*(?:why|when|where|who|what|which|how (?:much|many|long|often|far))(?: \w+)?\W*$"
    r"|[它他她这那其]|后来|然后|还有|另外|[呢也]"
    r"|^\W*(?:是|要|花了?|收)?(?:为什么|什么时候|哪|谁|多少|几)\S{0,4}$|是(?:谁|哪|什么|多少)\S{0,4}$",
    re.IGNORECASE,
)
# More of what was said would outweigh the message itself.
_CONTEXT_CHARS = 300


def follows_on(message: str) -> bool:
    """True for a short message that leads back to what was said: `and when was that?`, 「那后来呢？」."""
    most = _MOST_CJK_TERMS if is_cjk(message) else _MOST_TERMS
    return bool(_LEADS_BACK.search(message)) and len(content_terms(message)) <= most


def question_in_context(message: str, said_before: Sequence[str]) -> str:
    """The message, after what it follows where it leads back to that; `said_before` is oldest first."""
    if not follows_on(message):
        return message
    before = "\n".join(text[:_CONTEXT_CHARS] for text in said_before if text.strip())
    return f"{message}\n{before}" if before else message
