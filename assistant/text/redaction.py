"""Secrets masked: keys, tokens, passwords, private keys and card numbers, before a text reaches memory, index or log.

The shapes of keys are those of detect-secrets. Its scanning engine (a file and a settings singleton a line, tests over
the network) and its entropy detectors, which take hashes and identifiers for secrets, are not used.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from detect_secrets.filters import heuristic
from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.jwt import JwtTokenDetector
from detect_secrets.plugins.keyword import DENYLIST
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text without its secrets, and the kinds that were masked, in order, each once."""

    text: str
    kinds: tuple[str, ...]


def mask_secrets(text: str) -> MaskedText:
    """The text with `⟦masked: kind⟧` in place of each secret; masking it again changes nothing."""
    kinds: dict[str, None] = {}
    while spans := _spans(text):
        pieces: list[str] = []
        end = 0
        for span in spans:
            pieces += [text[end : span.start], f"⟦masked: {span.kind}⟧"]
            kinds[span.kind] = None
            end = span.stop
        text = "".join([*pieces, text[end:]])
    return MaskedText(text, tuple(kinds))


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    stop: int
    kind: str


@dataclass(frozen=True, slots=True)
class _Rule:
    """What `pattern` finds in its group is a secret if `is_secret` says so; group 0 is the whole match.

    One of `markers` must stand in a text for the pattern to be tried: most texts hold none. With `has_edges` a match
    inside a longer run of letters and digits does not count. Where there are `roots`, one of them is in every
    match, whatever its case, with less than `_REACH_CHARS` of the match on either side: only there it is looked for.
    """

    kind: str
    markers: tuple[str, ...]
    pattern: re.Pattern[str]
    is_secret: Callable[[str], bool] = bool
    group: int = 0
    has_edges: bool = True
    roots: tuple[str, ...] = ()


_REACH_CHARS = 400
# Other letters that a pattern takes for an i or an s where case does not count, and the only ones whose small form has
# another length.
_SAME_LETTERS = (("İ", "i"), ("ı", "i"), ("ſ", "s"))
_MARK = re.compile(r"⟦masked: [^⟦⟧\n]{1,40}⟧")
_WORD = re.compile(r"[A-Za-z0-9_]")


def _spans(text: str) -> list[_Span]:
    """What is to be masked, from left to right, without overlaps and outside of marks."""
    small = text
    for letter, same in _SAME_LETTERS:
        small = small.replace(letter, same)
    small = small.lower()
    rules = [rule for rule in _RULES if any(marker in text for marker in rule.markers)]
    found = [span for rule in rules for span in _found(rule, text, small)]
    found += [*_card_numbers(text), *_private_keys(text)]
    taken = [_Span(mark.start(), mark.end(), "") for mark in _MARK.finditer(text)] if found else []
    spans: list[_Span] = []
    end = 0
    # At one place the longer one counts; a mark, of no kind, comes first of all.
    for span in sorted([*found, *taken], key=lambda span: (span.start, bool(span.kind), -span.stop)):
        if span.start < end:
            continue
        end = span.stop
        if span.kind and not any(mark.start < span.stop and span.start < mark.stop for mark in taken):
            spans.append(span)
    return spans


def _found(rule: _Rule, text: str, small: str) -> Iterator[_Span]:
    for begin, end in _near(rule.roots, small) if rule.roots else [(0, len(text))]:
        for match in rule.pattern.finditer(text, begin, end):
            start, stop = match.span(rule.group)
            if rule.has_edges and (_WORD.match(text[start - 1 : start]) or _WORD.match(text[stop : stop + 1])):
                continue
            if rule.is_secret(match.group(rule.group)):
                yield _Span(start, stop, rule.kind)


def _near(roots: Sequence[str], small: str) -> Iterator[tuple[int, int]]:
    """The stretches of a text in which a match can be, from left to right, none touching another."""
    places = sorted(place for root in roots for place in _places(root, small))
    begin = end = 0
    for place in places:
        if place - _REACH_CHARS > end:
            if end:
                yield begin, end
            begin = place - _REACH_CHARS
        end = place + _REACH_CHARS
    if end:
        yield max(0, begin), min(end, len(small))


def _places(root: str, small: str) -> Iterator[int]:
    place = small.find(root)
    while place >= 0:
        yield place
        place = small.find(root, place + 1)


def _has_digit_and_letter(value: str) -> bool:
    return any(character.isdigit() for character in value) and any(character.isalpha() for character in value)


# What comes after `password:` in schemas, examples and prose.
_NO_SECRETS = frozenset(
    {"string", "text", "value", "password", "passwd", "secret", "token", "required", "optional", "hidden", "redacted"}
    | {"masked", "example", "changed", "changeme", "username", "invalid", "incorrect", "undefined", "default"}
    | {"missing", "placeholder", "localhost", "disabled", "enabled", "unknown"}
)
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\b.*")


def _is_literal(value: str) -> bool:
    """True unless the value is a placeholder, a reference, or a word about a secret."""
    return not (
        len(value) < 4
        or value.lower().strip("_-.") in _NO_SECRETS
        or value.lower().startswith(("your", "my_", "xxx", "..."))
        or len(set(value)) < 3
        or not any(character.isalnum() for character in value)
        or heuristic.is_templated_secret(value)
        or heuristic.is_prefixed_with_dollar_sign(value)
        or _DATE.fullmatch(value)
    )


def _is_bare_secret(value: str) -> bool:
    """For a value without quotes: words are prose or code, so it must look like what a person cannot read."""
    return _is_literal(value) and _has_digit_and_letter(value)


def _is_name_and_password(value: str) -> bool:
    """True for the value after `Basic`: a name, a colon and a password."""
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except binascii.Error:
        return False
    return b":" in decoded and decoded.isascii() and decoded.decode("ascii").isprintable()


def _is_random(value: str) -> bool:
    """True for letters of both cases, digits and signs in no order: no path, no identifier, no hash."""
    kinds = (str.isupper, str.islower, str.isdigit)
    is_mixed = all(sum(map(kind, value)) >= 4 for kind in kinds)
    return is_mixed and not _LOWER_RUN.search(value) and 0 < sum(sign in "/+" for sign in value) <= 5


_KEY_NAME = r"(?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
_KEY_BEGIN = re.compile(f"-----BEGIN {_KEY_NAME}")
_KEY_END = re.compile(f"-----END {_KEY_NAME}")
_KEY_LINES = re.compile(r"(?:(?:\s|\\n)+[A-Za-z0-9+/=]{16,})*")
_MAX_KEY_CHARS = 20_000
# A name of any length would be looked for from each place to the end of the line.
_NAMES = (
    *(name.replace(".*", ".{0,40}") for name in DENYLIST),
    "access_?key",
    "secret_?key",
    "token",
    "passphrase",
    "api[ -]key",
)
_ENDINGS = ("password", "passwd", "secret")
"""Names that count at the end of any word, as in PGPASSWORD; the others at the start of one, as in apiKey or db_pwd."""
_NAME_ROOTS = ("key", "pass", "pwd", "secret", "token", "contrase", "密", "口令", "令牌")
"""One of them is in each name."""
_FIRST_LETTERS = "".join(sorted({name[0] + name[0].upper() for name in _NAMES}))
_WORD_START = "(?:(?<![A-Za-z].)|(?<=[a-z][A-Z]))"


def _name_shape(name: str) -> str:
    start = "" if name in _ENDINGS else _WORD_START
    return f"(?<=[{name[0]}{name[0].upper()}]){start}(?i:{name[1:]})"


# A pattern that starts with a set of characters is searched many times faster than one that starts with its words, so
# the first letter is matched by itself and then looked at again.
_NAME = (
    rf"(?:[{_FIRST_LETTERS}](?:{'|'.join(map(_name_shape, _NAMES))})(?:_?[0-9])?(?![A-Za-z0-9])"
    r"|[密口令](?:(?<=密)[码碼钥]|(?<=口)令|(?<=令)牌))"
)
_QUOTED = re.compile(_NAME + r"[\"'`\]]{0,3}\s{0,3}(?:[:：]?=|[:：]|=>)\s{0,3}[\"'`]([^\s\"'`]{6,200})[\"'`]")
_ASSIGNED = re.compile(
    _NAME + r"[\"'`\]*]{0,4}\s{0,3}(?:[:：]?=|[:：]|=>|\bis\b|是|为|為)\s{0,3}[`*]{0,2}"
    r"((?:(?![\"'`,;()\[\]{}<>])[!-~]){6,200}+)(?![(\[])"
)
_NUMBER = re.compile(
    r"(?:(?i:password|passwd|pwd|passcode)|密码|密碼|口令)\s{0,3}(?:[:：=]|\bis\b|是|为|為)\s{0,3}([0-9]{6,12})(?![0-9A-Za-z])"
)
_IN_ADDRESS = re.compile(r"://[^\s:/?#@\[\]]{0,100}:([^\s/?#@]{3,200})@")
_PASSPHRASE = re.compile(
    r"(?:(?i:password|passphrase|passcode|passwd|pwd)|密码|密碼|口令)\s{0,3}(?:[:：=]|\bis\b|是|为|為)\s{0,3}[\"'`]?"
    r"([A-Za-z]{3,20}(?:[-_.][A-Za-z]{3,20}){2,8})(?![\w(])"
)
_SEED_WORDS = re.compile(
    r"(?:(?i:seed|recovery|mnemonic|backup)\s{1,3}(?i:phrase|words)|(?i:mnemonic)|助记词|助記詞)[^\n:：]{0,20}(?:[:：=]|\bis\b|是)\s{0,3}"
    r"[\"'`]?((?:[a-z]{3,8}[ ,]{1,3}){11,23}[a-z]{3,8})"
)
_BASIC = re.compile(r"\b[Bb](?i:asic)\s{1,3}([A-Za-z0-9+/]{8,400}={0,2})")
_COOKIE = re.compile(
    r"\b(?i:cookie)[\"']?\s{0,3}:\s{0,3}[\"']?([\w.!#$%&*+^`|~-]{1,80}=[^\s\"']{12,4000}(?:;\s{0,2}[^\s;\"']{1,4000}){0,40})"
)
_CLOUD_SECRET = re.compile(r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_LOWER_RUN = re.compile(r"[a-z]{6}|[A-Z]{6}|[0-9]{6}")
_BEARER = re.compile(r"\b[Bb](?i:earer)\s{1,3}([A-Za-z0-9._~+/=-]{20,2000})")


def _rules() -> Iterator[_Rule]:
    for kind, markers, detector in (
        ("AWS key", ("AKIA", "ASIA", "ABIA", "ACCA", "A3T", "aws", "AWS", "Aws"), AWSKeyDetector),
        ("Azure key", ("AccountKey=",), AzureStorageKeyDetector),
        ("Discord token", (".",), DiscordBotTokenDetector),
        ("Mailchimp key", ("-us",), MailchimpDetector),
        ("SendGrid key", ("SG.",), SendGridDetector),
        ("Slack token", ("xox", "hooks.slack"), SlackDetector),
        ("Square key", ("sq0csp-",), SquareOAuthDetector),
        ("Stripe key", ("k_live_",), StripeDetector),
        ("Twilio key", ("AC", "SK"), TwilioKeyDetector),
    ):
        for pattern in _shapes(detector):
            yield _Rule(kind, markers, pattern, group=pattern.groups)
    for pattern in _shapes(GitHubTokenDetector):
        # Its group is the prefix alone.
        yield _Rule("GitHub token", ("gh",), pattern)
    for kind, marker, shape in (
        ("API key", "sk-", r"sk-[A-Za-z0-9_-]{20,200}"),
        ("API key", "AIza", r"AIza[A-Za-z0-9_-]{35}"),
        ("API key", "gsk_", r"gsk_[A-Za-z0-9]{40,60}"),
        ("API key", "xai-", r"xai-[A-Za-z0-9]{60,100}"),
        ("API key", "LTAI", r"LTAI[A-Za-z0-9]{12,24}"),
        ("API key", "AKID", r"AKID[A-Za-z0-9]{32}"),
        ("Stripe key", "k_test_", r"[rs]k_test_[A-Za-z0-9]{24,}"),
        ("GitHub token", "github_pat_", r"github_pat_[A-Za-z0-9_]{60,90}"),
        ("GitLab token", "gl", r"gl(?:pat|dt|ft|soat|rt|ptt)-[A-Za-z0-9_-]{20,50}"),
        ("Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{30,40}"),
        ("Slack token", "xapp-", r"xapp-[0-9A-Za-z-]{30,200}"),
        ("PyPI token", "pypi-", r"pypi-[A-Za-z0-9_-]{70,250}"),
        ("npm token", "npm_", r"npm_[A-Za-z0-9]{36}"),
        ("Telegram token", ":AA", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
    ):
        yield _Rule(kind, (marker,), re.compile(shape), _has_digit_and_letter)
    web_token = re.compile(r"(?<![\w-])eyJ[\w=-]{8,4000}\.[\w=-]{8,8000}(?:\.[\w=-]{1,4000})?", re.ASCII)
    yield _Rule("token", ("eyJ",), web_token, JwtTokenDetector.is_formally_valid)
    yield _Rule("token", ("earer", "EARER"), _BEARER, _has_digit_and_letter, group=1, has_edges=False)
    yield _Rule("token", ("asic", "ASIC"), _BASIC, _is_name_and_password, group=1, has_edges=False)
    yield _Rule("cookie", ("ookie", "OOKIE"), _COOKIE, group=1, has_edges=False)
    yield _Rule("cloud secret", ("/", "+"), _CLOUD_SECRET, _is_random)
    yield _Rule(
        "secret", ("ass", "ASS", "pwd", "PWD", "密", "口令"), _PASSPHRASE, _is_literal, group=1, has_edges=False
    )
    yield _Rule("seed words", ("hrase", "words", "nemonic", "助"), _SEED_WORDS, group=1, has_edges=False)
    yield _Rule("password", ("://",), _IN_ADDRESS, _is_literal, group=1, has_edges=False)
    yield _Rule(
        "secret", ("ass", "ASS", "pwd", "PWD", "密", "口令"), _NUMBER, group=1, has_edges=False, roots=_NAME_ROOTS
    )
    separators = (":", "=", "：", "is", "是", "为", "為")
    yield _Rule("secret", separators, _ASSIGNED, _is_bare_secret, group=1, has_edges=False, roots=_NAME_ROOTS)
    yield _Rule("secret", separators, _QUOTED, _is_literal, group=1, has_edges=False, roots=_NAME_ROOTS)


def _shapes(detector: type[RegexBasedDetector]) -> list[re.Pattern[str]]:
    return list(detector.denylist)  # type: ignore[arg-type]


_RULES = tuple(_rules())


def _private_keys(text: str) -> Iterator[_Span]:
    """A key to its end, or where that is missing or far, the lines of it that follow. Each end is looked for once."""
    if "PRIVATE KEY" not in text:
        return
    ends = _KEY_END.finditer(text)
    last, end = next(ends, None), 0
    for begin in _KEY_BEGIN.finditer(text):
        if begin.start() < end:
            continue
        while last is not None and last.start() < begin.end():
            last = next(ends, None)
        if last is not None and last.start() - begin.end() <= _MAX_KEY_CHARS:
            end = last.end()
        else:
            lines = _KEY_LINES.match(text, begin.end())
            end = lines.end() if lines else begin.end()
        yield _Span(begin.start(), end, "private key")


_CARD = re.compile(
    r"(?<![A-Za-z0-9_.])(?:[0-9]{4}([ -]?)[0-9]{4}\1[0-9]{4}\1[0-9]{1,7}|3[47][0-9]{2}([ -]?)[0-9]{6}\2[0-9]{5}"
    r"|3[0689][0-9]{2}([ -]?)[0-9]{6}\3[0-9]{4})(?![A-Za-z0-9_]|\.[0-9])"
)
# The numbers that issuers give out: first digits and length.
_ISSUED = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|6(?:011|5\d\d|4[4-9]\d)\d{12}|62\d{14,17}|35\d{14}|3(?:0[0-5]|[689]\d)\d{11}"
)


def _card_numbers(text: str) -> Iterator[_Span]:
    for match in _CARD.finditer(text):
        digits = re.sub(r"[ -]", "", match.group())
        if _ISSUED.fullmatch(digits) and _passes_luhn(digits):
            yield _Span(match.start(), match.end(), "card number")


def _passes_luhn(digits: str) -> bool:
    doubled = [int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(digits))]
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0
