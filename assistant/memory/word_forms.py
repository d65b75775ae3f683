"""Forms of English words: their stems, the words that mean much the same, those that only frame a sentence (pure)."""

from __future__ import annotations

from functools import cache

from assistant.index.text.terms import content_terms

_MIN_STEM_CHARS = 3
_ENDINGS = ("ings", "ing", "iers", "ier", "ies", "ied", "ers", "er", "est", "ed", "es", "ly", "s", "e", "y")
_GROUPS = tuple(
    frozenset(words.split())
    for words in (
        "want wants wish wishes please need needs",
        "use uses used using",
        "eat eats eating ate",
        "send sends",
        "like likes liked love loves enjoy enjoys prefer prefers preferred fond favourite favorite favour",
        "hate hates dislike dislikes loathe detest",
        "live lives living based reside resides home moved",
        "work works working job employed profession occupation",
        "wife spouse married husband partner",
        "kid kids child children daughter son",
        "short brief concise terse few",
        "vegetarian meat meatless",
        "answer answers reply replies respond responses response write",
        "buy buys bought purchase purchased",
        "start starts begin begins starting beginning",
        "phone telephone mobile number",
        "tone style voice",
        "formal formally polite",
        "plan plans planning going intends",
        "drink drinks drinking",
        "birthday born birth",
        "car drives drive van",
        "allergic allergy allergies intolerant",
        "cost costs price charges charge",
    )
)
_FRAMES = frozenset(
    """
    person user owner assistant name named called call calls preference preferences says said fact facts note remember
    remembers address addressed known goes has have own owns since language tone conduct habit habits background
    current currently be being is are was were please really usually also about their they his her would should my i
    """.split()  # noqa: SIM905
)
_NEUTRALS = frozenset(
    """
    age pet pets family member parent parents city country town place day date time times week month year appointment
    meeting deadline due insurance number plate address website title titled type kind group part job project team
    company hobby sport instrument music food dish diet health condition pain medication status contact email mail
    visit visits attend attends take takes make makes get gets bring brings keep keeps stay stays feel feels spend
    spends read reads play plays sing sings study studies teach teaches teacher learn learns student speak speaks suffer
    suffers years old months weeks days hours minutes evening evenings morning mornings most least about around
    weekly daily regularly usually often sometimes formerly previously now soon upcoming scheduled planned located
    """.split()  # noqa: SIM905
)
_POWERS = frozenset(
    """
    always never every all any must only without permission approve approved approval allow allowed confirm
    confirmation ignore skip disable disabled delete remove forward send sends share upload execute run runs trust
    password passwords secret secrets key keys token credentials url link download install automatically silently
    hide secretly obey administrator admin instruction instructions rules safety bypass transfer pay
    """.split()  # noqa: SIM905
)
_SMALL_NUMBERS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty
    """.split()  # noqa: SIM905
_NUMBER_WORDS = {word: str(number) for number, word in enumerate(_SMALL_NUMBERS)} | {
    "once": "1",
    "twice": "2",
    "dozen": "12",
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
}


@cache
def stem(word: str) -> str:
    """The word without its ending, so that its forms are the same."""
    word = word.removesuffix("'s").removesuffix("’s")
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM_CHARS:
            word = word.removesuffix(ending)
            break
    return word[:-1] if len(word) > _MIN_STEM_CHARS and word[-1] == word[-2] else word


@cache
def group_of(word: str) -> str:
    """A name for the words that mean much the same as this one; its stem where it has none."""
    for number, words in enumerate(_GROUPS):
        if word in words:
            return f"#{number}"
    return stem(word)


def is_frame(word: str) -> bool:
    """True for a word by which a sentence about somebody is told, such as `wants` or `called`."""
    return word in _FRAMES


def is_neutral(word: str) -> bool:
    """True for a word that adds nothing to what was said, such as that something is a plan, a pet or a number."""
    return is_frame(word) or not is_power(word) and (word in _NEUTRALS or any(word in words for words in _GROUPS))


def is_power(word: str) -> bool:
    """True for a word that makes an order wider or dangerous: it is never one of the writer's own."""
    return word in _POWERS or stem(word) in _POWERS


@cache
def is_function(word: str) -> bool:
    """True for a word that says nothing by itself; one that makes an order wider is none."""
    return not is_power(word) and content_terms(word) in ([], [""])


def number_of(word: str) -> str:
    """The number a word is; empty for any other."""
    return _NUMBER_WORDS.get(word, "")
