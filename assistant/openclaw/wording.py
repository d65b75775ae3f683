"""What a sentence is: envelope or the person's own words, a pleasantry, a question; in English and Chinese."""

from __future__ import annotations

import re

# Reminders, injected files and channel envelopes that programs wrap round what a person typed.
_WRAPPED = re.compile(
    r"<(system-reminder|system_reminder|environment_context|environment_details|user_instructions|instructions"
    r"|relevant[-_]memories|context|file|files|attached[-_]files?|document|documents|local-command-\w+|command-\w+)"
    r"(?:\s[^>]*)?>.*?</\1>",
    re.DOTALL | re.IGNORECASE,
)
_CHANNEL_HEAD = re.compile(
    r"^\[(?:(?:telegram|whatsapp|discord|slack|signal|imessage|webchat|matrix|line|feishu|wechat|cron|heartbeat)\b[^\]\n]*"
    r"|(?:mon|tue|wed|thu|fri|sat|sun)\w*\s[^\]\n]*|\d{4}-\d\d-\d\d[^\]\n]*|message_id:[^\]\n]*)\][ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_INJECTED_LINE = re.compile(
    r"^(?:System:[ \t].*|Current time:.*|Read HEARTBEAT\.md if it exists.*|Pre-compaction memory flush\..*"
    r"|\[Replying to .*?\].*?\[/Replying\])$",
    re.MULTILINE | re.IGNORECASE,
)
_METADATA = re.compile(
    r"^(?:Conversation info|Sender|Thread starter|Replied message|Forwarded message context"
    r"|Chat history since last reply)"
    r" \(untrusted[^)]*\):\s*```(?:json)?\n.*?\n```[ \t]*",
    re.DOTALL | re.MULTILINE,
)

Stems = tuple[bytes, ...]


def stems_of(*words: str) -> Stems:
    """Words to be looked for by `has_stem`."""
    return tuple(word.encode() for word in words)


def stem_text(text: str) -> bytes:
    """A text as `has_stem` takes it: small letters, in bytes, among which a word is found twice as fast."""
    return text.lower().encode("utf-8", "replace")


def has_stem(text: bytes, stems: Stems) -> bool:
    """True when a `stem_text` holds one of the stems: a quick look before a slow pattern."""
    for stem in stems:  # noqa: SIM110 (a generator costs twice the time, and this runs for every text)
        if stem in text:
            return True
    return False


_PLEASANTRIES_EN = (
    r"(?:ok(?:ay)?|k|yes|yep|yeah|no problem|sure(?: thing)?|thanks?(?: you)?(?: (?:so|very) much| a lot)?|thx|ty"
    r"|cheers|great|nice|cool|perfect|awesome|wonderful|excellent"
    r"|good(?: job| work| morning| afternoon| evening| night)?|well done|got it|understood"
    r"|alright|all right|hi(?: there)?|hello(?: there)?|hey|bye|goodbye|see you"
    r"|(?:you(?:'re| are) )?welcome|my pleasure|no worries|happy to help|glad (?:to help|i could help)|lol|haha+|hmm+"
    r"|sounds good|that's (?:great|fine|all)|heartbeat_ok|no_reply)"
)
_PLEASANTRIES_ZH = (
    r"(?:好+的?|嗯+|哦+|噢+|行+|可以|对的?|是的?|收到|明白了?|知道了|了解了?|谢谢(?:你|您|啦|了)?|多谢|感谢(?:你|您)?|辛苦了?|太好了|太棒了|真棒"
    r"|不错|很好|棒|没问题|没事|不客气|不用谢|你好|您好|早上好|早安|中午好|下午好|晚上好|晚安|再见|拜拜|哈+|呵+|嘿+|加油|请)"
)
_GAP = r"[\s,，.。!！~～、;；:：😀-🙏👍👌🎉✨❤️🤖]*"
_NAME = r"(?:[吧啊呀呢哦啦了的哈嘛]|[ ,]*(?:again|then|now|everyone|all|buddy|friend|man|mate))*"
# Atomic and possessive: a run of such words is read in one way only, so that no text is slow to refuse.
_PLEASANTRY = re.compile(rf"{_GAP}(?:(?>{_PLEASANTRIES_EN}|{_PLEASANTRIES_ZH})(?>{_NAME}){_GAP})++", re.IGNORECASE)
_PLEASANTRY_CHARS = 80

_QUESTION = re.compile(
    r"\b(?:shall i|should (?:i|we)|do you want|would you like|which (?:one|of)|confirm"
    r"|let me know (?:if|which|whether))\b"
    r"|要不要|是否|哪个|哪一个|可以吗|好吗|行吗|怎么样|请确认|吗\s*$|呢\s*$",
    re.IGNORECASE,
)
_QUESTION_TAIL_CHARS = 300
# Every match of the pattern holds one of these.
_QUESTION_STEMS = stems_of(
    *("shall", "should", "do you want", "would you", "which ", "let me know", "confirm"),
    *("要不要", "是否", "哪", "可以吗", "好吗", "行吗", "怎么样", "请确认", "吗", "呢"),
)
_SENTENCE_END = re.compile(r"[.!?。！？\n]")


def own_words(text: str) -> str:
    """What the person wrote, without reminders, injected files and channel envelopes; empty when nothing is left."""
    if "<" in text:
        text = _WRAPPED.sub("", text)
    if "(untrusted" in text:
        text = _METADATA.sub("", text)
    return _INJECTED_LINE.sub("", _CHANNEL_HEAD.sub("", text)).strip()


def is_pleasantry(text: str) -> bool:
    """True for a short text made of nothing but words of politeness."""
    bare = text.strip()
    return len(bare) <= _PLEASANTRY_CHARS and _PLEASANTRY.fullmatch(bare) is not None


def asks_something(text: str) -> bool:
    """True when the end of a text waits for an answer."""
    tail = text[-_QUESTION_TAIL_CHARS:]
    if "?" in tail or "？" in tail:
        return True
    return has_stem(stem_text(tail), _QUESTION_STEMS) and _QUESTION.search(tail) is not None


def first_sentence(text: str, limit_chars: int = 200) -> str:
    """The first sentence of a text on one line, cut at `limit_chars`."""
    head = text[: limit_chars * 4].strip()
    return one_line(head[: _end_of_sentence(head)], limit_chars)


def one_line(text: str, limit_chars: int) -> str:
    """A text on one line, cut at `limit_chars`."""
    line = " ".join(text.split())
    return line if len(line) <= limit_chars else line[: limit_chars - 1].rstrip() + "…"


def _end_of_sentence(text: str) -> int:
    for mark in _SENTENCE_END.finditer(text):
        # A full stop inside a number, a name or a path ends nothing.
        if mark.group() not in ".!?" or text[mark.end() : mark.end() + 1].isspace():
            return mark.end()
    return len(text)
