"""What the person stated: the sentences of a stretch of messages, each weighed by its shape, not by its subject."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from assistant.compaction.summary.identifiers import identifiers_of
from assistant.compaction.summary.quoted_history import fence_safe, shorten_for_reading
from assistant.messages.blocks import Msg, TextBlock
from assistant.text.markdown import without_code
from assistant.text.passages import key_of, passages_of

StatementKind = Literal["rule", "decision", "fact"]

STATEMENT_BYTES = 300
_LONG_BYTES = 200
# A message over this was pasted; its ends show what it is.
_MESSAGE_CHARS = 16_000
_WEIGHED_CHARS = 1_000
# Who writes more sentences than this in one message has pasted most of them.
_TYPED_SENTENCES = 24
_MIN_KEY_CHARS = 2
_ENDING_CHARS = 8
_DAY_CHARS = len("2026-11-30")
_DECISION = re.compile(
    r"\b(?:decided?|chose|chosen|choose|agreed?|settled on|let'?s (?:go|use|take|keep)|we(?:'ll| will)|I(?:'ll| will)"
    r"|instead of|rather than)\b|决定|选择|选定|商定|就用|改用|采用|同意|定了|定为|打算",
    re.IGNORECASE,
)
_RULE = re.compile(
    r"\b(?:always|never|must(?:n'?t)?|don'?t|do not|only|prefer\w*|please|want|wish|need|like|love|hate|avoid|allergic"
    r"|remember|should(?:n'?t)?|favou?rite|no longer|make sure)\b"
    r"|总是|从不|必须|不要|(?<![特区分个类级性])别|(?<![一两几每])只|喜欢|偏好|讨厌|希望|想要|需要|避免|过敏|记住|应该|务必|请|习惯|不再",
    re.IGNORECASE,
)
_ABOUT_SELF = re.compile(r"\b(?:I|my|mine|me|we|our|us)\b|我|咱|本人", re.IGNORECASE)
# A capital or a quotation inside a sentence, or a word that introduces a name.
_NAME = re.compile(r"(?<=[^\W\d_] )[A-Z][a-z]\w+|[\"“「『《].{1,80}?[\"”」』》]|\b(?:called|named)\b|名叫|叫做|名字|姓")
_QUESTION = re.compile(r"[?？]\W*$|[吗呢么]\W*$")
_EMPTY_WORDS = re.compile(
    r"(?:thanks?(?: you)?|thank you|ok(?:ay)?|yes|no|sure|great|fine|nice|hi|hello|hey|(?:good)?bye|go on|continue|done"
    r"|good(?: (?:morning|afternoon|evening|night|day))?"
    r"|谢谢|多谢|好的?|是的?|不是|嗯+|行|可以|你好|您好|早上好|早安|下午好|晚上好|晚安|继续|再见|明白|知道)\W*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of the person, or a line of an earlier digest. `day` is empty where it is not known."""

    text: str
    key: str
    day: str
    kind: StatementKind
    weight: int


def statements_of(messages: Sequence[Msg]) -> list[Statement]:
    """What the person said, sentence by sentence, oldest first, each once; code, greetings and echoes are left out."""
    found: dict[str, Statement] = {}
    for message in messages:
        if message.role != "user":
            continue
        text = "\n".join(block.text for block in message.content if isinstance(block, TextBlock))
        day = message.created_at[:_DAY_CHARS]
        if len(text) > _MESSAGE_CHARS:
            text = f"{text[: _MESSAGE_CHARS // 2]}\n{text[-_MESSAGE_CHARS // 2 :]}"
        for statement in _sentences(without_code(text), day):
            # Said again, it is kept where it was said last.
            found.pop(statement.key, None)
            found[statement.key] = statement
    return list(found.values())


def statement_of(text: str, day: str) -> Statement | None:
    """One line as a statement; None where it says nothing."""
    return _statement(text, key_of(text), day, is_pasted=False)


def _statement(text: str, key: str, day: str, *, is_pasted: bool) -> Statement | None:
    if len(key) < _MIN_KEY_CHARS or _EMPTY_WORDS.fullmatch(key):
        return None
    shown = fence_safe(shorten_for_reading(" ".join(text.split()), STATEMENT_BYTES).replace("\n", " "))
    read = text[:_WEIGHED_CHARS]
    kind = _kind_of(read)
    return Statement(shown, key, day, kind, _weight_of(read, kind) - is_pasted)


def _sentences(text: str, day: str) -> list[Statement]:
    passages = list(passages_of(text))
    found: list[Statement] = []
    for number, passage in enumerate(passages):
        is_pasted = len(passages) > _TYPED_SENTENCES and 2 < number < len(passages) - 3
        statement = _statement(passage.text, passage.key, day, is_pasted=is_pasted)
        if statement is not None:
            found.append(statement)
    return found


def _kind_of(text: str) -> StatementKind:
    if _DECISION.search(text):
        return "decision"
    return "rule" if _RULE.search(text) else "fact"


def _weight_of(text: str, kind: StatementKind) -> int:
    """What a sentence is likely worth later: by who it is about, what it names, and whether it binds."""
    if _QUESTION.search(text[-_ENDING_CHARS:]):
        return 0
    weight = 1 + (kind != "fact")
    weight += _ABOUT_SELF.search(text) is not None
    weight += _NAME.search(text) is not None or bool(identifiers_of(text))
    weight -= len(text.encode("utf-8", "surrogatepass")) > _LONG_BYTES
    return weight
