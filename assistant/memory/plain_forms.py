"""What somebody said in an idiom, in the plain words in which it is written down (pure)."""

from __future__ import annotations

import re

# A number that counts something is no age.
_AGE_ENDS = r"(?=\s*(?:years?\b|yrs?\b|now\b|today\b|and\b|but\b|,|;|[.!)]|$))(?![.,:]\d)"
_CANNOT = r"(?:can(?:no|['’])t|can not|could(?:n['’]t| not))"
_NOT = r"(?:do(?:es)?(?:n['’]t| not)|never(?: did| really)?|did(?:n['’]t| not))"
# What is disliked stands right behind; a clause there may hold another feeling.
_THING = r"\b(?! (?:it|that|when|how|if|people|to)\b)"
_FORMS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), plain)
    for pattern, plain in (
        (rf"\b(?:i['’]?m|i am)(?: (?:only|already|now|just|about))? (\d{{1,3}}){_AGE_ENDS}", r"age \1 years old"),
        (rf"\bi(?:['’]ve| have)?(?: (?:just|recently|now))? turn(?:ed|ing)? (\d{{1,3}}){_AGE_ENDS}", r"age \1"),
        (rf"\b{_CANNOT} (?:really )?(?:stand|bear|abide|stomach){_THING}", "hate"),
        (rf"\b{_NOT} (?:really |much |particularly )?(?:like|care for|enjoy|love){_THING}", "dislike"),
        (
            rf"\b(?:i['’]?m|i am) not (?:a |much of a )?(?:(?:big|great) )?(?:fan of|fond of|keen on|into){_THING}",
            "I dislike",
        ),
        (rf"\b(?:i['’]?m|i am) (?:sick|tired|sick and tired) of{_THING}", "I dislike"),
        (
            r"\b(?:i['’]?m|i am) (?:really |very |quite )?(?:(?:crazy|mad|nuts|wild) about|keen on|fond of|into)\b",
            "I like",
        ),
        (r"\b(?:i['’]?m|i am) (?:a )?(?:(?:big|great|huge) )?fan of\b", "I like"),
        (r"\bi have (?:a|an) (\w+) allergy\b", r"allergic to \1"),
        (r"\b(\w+(?: \w+)?) (?:does(?:n['’]t| not) agree|disagrees) with me\b", r"intolerant to \1"),
        (r"\bi go by\b", "call me"),
        (r"我(?:今年|已经|都|刚满?|快)*(\d{1,3})(?:岁|了)", r"我的年龄是\1岁"),
        ("受不了|吃不惯|喝不惯|忍受不了|很烦", "讨厌"),
        ("不(?:太|怎么|大)?喜欢|不爱", "讨厌"),
    )
)


def plain_form(sentence: str) -> str:
    """The sentence with its idioms in plain words: `can't stand` is `hate`, `I'm 42` is an age."""
    for pattern, plain in _FORMS:
        sentence = pattern.sub(plain, sentence)
    return sentence
