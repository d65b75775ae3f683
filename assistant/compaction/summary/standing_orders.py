"""What the person told the assistant to do from now on: found by its shape, and carried word for word (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from assistant.messages.blocks import Msg, is_said
from assistant.text.markdown import without_bullet, without_code
from assistant.text.passages import key_of, passages_of

MAX_ORDERS = 12
"""The newest count: a later one may take an earlier one back."""
_MOST_CHARS = 240
_MESSAGE_CHARS = 16_000
_STANDING = re.compile(
    r"\b(?:from now on|always|never|every (?:time|answer|reply|message)|each (?:time|answer|reply)|whenever"
    r"|at most|no more than|in future|in the future|for the rest of|any ?more|from here on)\b"
    r"|从现在起|从现在开始|以后|今后|每次|总是|一律|永远|不要再|别再|最多|不超过",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"^\W*(?:(?:and|so|but|ok(?:ay)?|oh|also|please|from now on|from here on|in (?:the )?future|always|never"
    r"|whenever [^,]+,|every time [^,]+,|(?:could|can|will|would) you|i(?:['’]d| would)? (?:want|like|need) you to"
    r"|you (?:should|must)|do not|don['’]t|stop)[\s,]+)*(?:answer|reply|respond|write|speak|talk|use|keep|call|address"
    r"|say|ask|tell|show|give|start|begin|end|add|include|leave|put|make|mention|apologi[sz]e|quote|cite|format"
    r"|translate|explain|avoid|stick)(?:ing)?\b"
    r"|^\W*(?:请|以后|今后|从现在起|从现在开始|每次|总是|一律|永远|不要|别|都|先|，|,|你|再|也|在)*"
    r"(?:用|回答|回复|写|说|叫|称呼|问|告诉|显示|给|加|保持|避免|使用|提到|道歉|引用|翻译|解释)",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"[?？]\W*$")


def orders_of(messages: Iterable[Msg]) -> tuple[str, ...]:
    """The standing orders of the person in these messages, word for word, oldest first."""
    texts = (
        block.text[:_MESSAGE_CHARS]
        for message in messages
        if message.role == "user"
        for block in message.content
        if is_said(block)
    )
    return _orders_in(texts)


def orders_in_summary(text: str) -> tuple[str, ...]:
    """The lines of an earlier summary that read as one."""
    return _orders_in([re.sub(r"^\W*", "", without_bullet(line)) for line in text.splitlines()])


def missing_orders(orders: Sequence[str], text: str) -> tuple[str, ...]:
    """Those that the text does not hold word for word, the newest at most, oldest first."""
    held = key_of(text)
    return tuple(order for order in orders if key_of(order) not in held)[-MAX_ORDERS:]


def _orders_in(texts: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for text in texts:
        for passage in passages_of(without_code(text)):
            said = " ".join(passage.text.split())
            is_order = len(said) <= _MOST_CHARS and _STANDING.search(said) and _ORDER.search(said)
            if is_order and not (
                _QUESTION.search(said) and not re.match(r"\W*(?:could|can|will|would) you", said, re.I)
            ):
                # Said again, it counts where it was said last.
                found.pop(passage.key, None)
                found[passage.key] = said
    return tuple(found.values())
