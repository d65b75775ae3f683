"""Words as the full-text index sees them: CJK runs as bigrams, questions without their function words (pure)."""

from __future__ import annotations

import re
import unicodedata

TERMS_VERSION = f"1/{unicodedata.unidata_version}"
"""Changes whenever `spaced` may give another result for the same text; the full-text index is then built anew."""

_CJK = (
    "\u3040-\u30ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\uac00-\ud7af"  # Hangul
    "\U00020000-\U0003134f"
)
_CJK_RUN = re.compile(f"[{_CJK}]+")
_WORD = re.compile(r"[^\W_]+")
_CHINESE_FUNCTION_WORDS = re.compile(
    "什么时候|为什么|怎么样|什么|怎么|怎样|哪里|哪儿|哪些|哪个|哪位|多少|如何|是否|我们|你们|他们|她们|它们|咱们|这个|那个"
    "|这些|那些|请问|告诉我|记得|之前|以前|一下|时候|还是|或者|以及|因为|所以|但是|已经|可以|关于"
)
_CHINESE_FUNCTION_CHARACTERS = frozenset(
    "的了是在我你他她它们这那哪什么怎吗呢吧啊呀和与及或就都也很有个不被把给对从到之其谁几为"
)
_CHINESE_PARTICLES = frozenset("的了吗呢吧啊呀")
_ENGLISH_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        a about above after again against all am an and any are as at be because been before being below between both
        but by can could did do does doing don down during each few for from further had has have having he her here
        hers herself him himself his how i if in into is it its itself just ll m me might more most must my myself no
        nor not now of off on once only or other our ours ourselves out over own re s same shall she should so some such
        t than that the their theirs them themselves then there these they this those through to too under until up us
        ve very was we were what when where which while who whom why will with would you your yours yourself yourselves
        """,
    )
)


def spaced(text: str) -> str:
    """The text as it is indexed: compatibility forms unified, each CJK run written as its bigrams."""
    plain = _plain(text)
    return plain if plain.isascii() else _CJK_RUN.sub(_spaced_run, plain)


def content_terms(question: str) -> list[str]:
    """The distinct terms of a question without function words, in its order: words, and bigrams of CJK runs."""
    text = _CHINESE_FUNCTION_WORDS.sub(" ", _plain(question))
    terms = [term for term in every_term(text) if not _is_function_term(term)]
    # A pair with a particle in it is mostly a seam between two words, but 目的 is a word of its own.
    return [term for term in terms if _CHINESE_PARTICLES.isdisjoint(term)] or terms


def every_term(text: str) -> list[str]:
    """The distinct terms of a text, in its order."""
    return list(dict.fromkeys(_WORD.findall(spaced(text).lower())))


def is_cjk(text: str) -> bool:
    """True when the text is mainly Chinese, Japanese or Korean."""
    return cjk_share(text) > 0.5


def cjk_share(text: str) -> float:
    """How much of a text is Chinese, Japanese or Korean, 0 to 1; one such character says as much as four letters."""
    if text.isascii():
        return 0.0
    characters = sum(map(len, _CJK_RUN.findall(text)))
    others = sum(map(str.isalpha, text)) - characters
    return 4 * characters / max(4 * characters + others, 1)


def _plain(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _is_function_term(term: str) -> bool:
    return term in _ENGLISH_FUNCTION_WORDS or all(character in _CHINESE_FUNCTION_CHARACTERS for character in term)


def _spaced_run(found: re.Match[str]) -> str:
    """The bigrams of a run between blanks; a single character stands for itself."""
    run = found.group()
    if len(run) <= 2:
        return f" {run} "
    return f" {' '.join(map(str.__add__, run, run[1:]))} "
