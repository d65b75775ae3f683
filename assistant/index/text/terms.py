"""Words as the full-text index sees them, in every script: questions without their function words (pure).

Runs of scripts without blanks are bigrams. Marks, points and forms of a letter that people leave out are left out.
"""

from __future__ import annotations

import re
import unicodedata

TERMS_VERSION = f"3/{unicodedata.unidata_version}"
"""Changes whenever `spaced` may give another result for the same text; the full-text index is then built again."""

_CJK = (
    "\u3040-\u30ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\uac00-\ud7af"  # Hangul
    "\U00020000-\U0003134f"
)
_CJK_RUN = re.compile(f"[{_CJK}]+")
# Thai, Lao, Myanmar and Khmer have no blanks between words either; their digits stay numbers.
_RUN = re.compile(f"[{_CJK}]+|[\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u103f\u104a-\u109f\u1780-\u17d3]+")
_EMOJI = re.compile("[\U0001f1e6-\U0001f1ff]{2}|[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]")
# Blocks in which marks above, below and beside letters are found, and characters that are not seen.
_MARK_BLOCKS = (
    (0x00AD, 0x00AE),
    (0x0300, 0x1E00),
    (0x200B, 0x2065),
    (0xA600, 0xAC00),
    (0xFE00, 0xFE30),
    (0xFEFF, 0xFF00),
)
_MARKS = re.compile(
    "["
    + "".join(
        re.escape(chr(code))
        for first, end in _MARK_BLOCKS
        for code in range(first, end)
        if unicodedata.category(chr(code)) in ("Mn", "Mc", "Me", "Cf")
    )
    + "\u0640\U0001f3fb-\U0001f3ff]"
)
# Letters that no decomposition takes apart, and that people without them on their keyboard write so.
_STROKES = {"ł": "l", "đ": "d", "ð": "d", "ø": "o", "ħ": "h", "ŧ": "t", "æ": "ae", "œ": "oe", "þ": "th"}
_APOSTROPHES = "\u02b9\u02bb\u02bc\u02be\u02bf"
_GREEK_BLOCKS = ((0x0370, 0x0400), (0x1F00, 0x2000))


def _without_accents() -> dict[str, str]:
    """Greek letters without accents and breathings, and the Cyrillic ones that only stress parts from another."""
    codes = [*(code for first, end in _GREEK_BLOCKS for code in range(first, end)), ord("ѐ"), ord("ѝ")]
    bases = {chr(code): unicodedata.normalize("NFD", chr(code))[0] for code in codes}
    return {letter: base for letter, base in bases.items() if base != letter and base.isalpha()}


_SAME_LETTERS = str.maketrans(
    {
        **_without_accents(),
        **_STROKES,
        **{letter.upper(): plain.upper() for letter, plain in _STROKES.items()},
        **dict.fromkeys(_APOSTROPHES, ""),
        **dict.fromkeys("أإآٱ", "ا"),
        **dict.fromkeys("ىیئ", "ي"),
        "ؤ": "و",
        "ة": "ه",
        "ک": "ك",
        **dict.fromkeys("İı", "i"),
        **dict.fromkeys("ßẞ", "ss"),
        "ς": "σ",
        "ё": "е",
        "Ё": "Е",
        **{chr(zero + digit): str(digit) for zero in (0x0660, 0x06F0, 0x0966, 0x0E50, 0x17E0) for digit in range(10)},
    }
)
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
    """The text as it is indexed: forms of a letter unified, each run without blanks written as its bigrams."""
    plain = _plain(text)
    return plain if plain.isascii() else _RUN.sub(_spaced_run, plain)


def content_terms(question: str) -> list[str]:
    """The distinct terms of a question without function words, in its order: words, and bigrams of CJK runs."""
    text = _CHINESE_FUNCTION_WORDS.sub(" ", _plain(question))
    terms = [term for term in every_term(text) if not _is_function_term(term)]
    # A pair with a particle in it is mostly a seam between two words, but 目的 is a word of its own.
    return [term for term in terms if _CHINESE_PARTICLES.isdisjoint(term)] or terms


def every_term(text: str) -> list[str]:
    """The distinct terms of a text, in its order."""
    # To lower case is another letter at the end of a Greek word.
    return list(dict.fromkeys(_WORD.findall(spaced(text).lower().replace("ς", "σ"))))


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
    if text.isascii():
        return text
    unmarked = _MARKS.sub("", unicodedata.normalize("NFKC", text))
    return _EMOJI.sub(_emoji_word, unmarked.translate(_SAME_LETTERS))


def _emoji_word(found: re.Match[str]) -> str:
    """A picture as a word, which the index would take for a blank; of joined ones each is one."""
    return f" emoji{''.join(f'{ord(letter):x}' for letter in found.group())} "


def _is_function_term(term: str) -> bool:
    return term in _ENGLISH_FUNCTION_WORDS or all(character in _CHINESE_FUNCTION_CHARACTERS for character in term)


def _spaced_run(found: re.Match[str]) -> str:
    """The bigrams of a run between blanks; a single character is a term by itself."""
    run = found.group()
    if len(run) <= 2:
        return f" {run} "
    return f" {' '.join(map(str.__add__, run, run[1:]))} "
