"""How many tokens a text costs, roughly: characters divided by what the text mostly is, or a real tokenizer."""

from __future__ import annotations

import re
from collections.abc import Callable

from assistant.openclaw.options import EstimatorName

Weigh = Callable[[str], float]

CHARS_PER_TOKEN: dict[EstimatorName, float] = {"mixed": 3.0, "chinese": 1.5, "english": 4.0, "code": 3.5}
# Han, kana, hangul and full-width forms: about one token for one and a half characters.
_WIDE = re.compile("[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")


def choose_weigh(name: EstimatorName, count_tokens: Callable[[str], int] | None = None) -> Weigh:
    """The function that weighs a text in tokens; a tokenizer, where one is given, goes before the divisors."""
    if count_tokens is not None:
        return count_tokens
    if name == "auto":
        return _weigh_by_script
    divisor = CHARS_PER_TOKEN[name]
    return lambda text: len(text) / divisor


def _weigh_by_script(text: str) -> float:
    if text.isascii():
        return len(text) / CHARS_PER_TOKEN["english"]
    wide = len(_WIDE.findall(text))
    return wide / CHARS_PER_TOKEN["chinese"] + (len(text) - wide) / CHARS_PER_TOKEN["english"]
