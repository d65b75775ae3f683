"""What the person keeps out of recall: sentences, known by what they say and not by where they are (pure)."""

from __future__ import annotations

import hashlib
from collections.abc import Collection

from assistant.text.passages import passages_of

_DIGEST_BYTES = 8


def sentence_marks(text: str) -> tuple[str, ...]:
    """One mark for each sentence, in order, each once; nothing of the text can be read from it."""
    keys = dict.fromkeys(passage.key for passage in passages_of(text))
    return tuple(hashlib.blake2b(key.encode("utf-8"), digest_size=_DIGEST_BYTES).hexdigest() for key in keys if key)


def is_left_out(text: str, marks: Collection[str]) -> bool:
    """True for a text of which every sentence has one of the marks."""
    own = sentence_marks(text) if marks else ()
    return bool(own) and all(mark in marks for mark in own)
