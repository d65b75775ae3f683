"""How many tokens a text, a block or a conversation costs, corrected by what the provider itself counted."""

from __future__ import annotations

import base64
import importlib.util
import json
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

import tiktoken

from assistant.messages.attached import IMAGE_TOKENS
from assistant.messages.blocks import Block, DataBlock, Msg, TextBlock, ToolCallBlock, ToolResultBlock, block_text

Vocabulary = Literal["qwen", "bytes"]

MESSAGE_OVERHEAD_TOKENS = 4
# One reported usage moves the factor by this share, so that a single odd answer does not swing the meter.
_CALIBRATION_SHARE = 0.5
_FACTOR_RANGE = (0.5, 4.0)
# Long texts that are not blocks (system prompt, schemas, the summary) come again at every check.
_REMEMBERED_CHARS = 2_000
_REMEMBERED_TEXTS = 16
# Blocks at the end of the newest message that may still grow while a tool runs or a text streams.
_GROWING_BLOCKS = 64
# Qwen's own splitting rule, published with its vocabulary; the file itself ships inside dashscope.
_QWEN_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)


class TokenCounter:
    """Counts by a vocabulary, remembers every block it has counted, and follows the provider's own usage.

    A check of a long conversation costs the new blocks only, as long as the list and the messages in it are appended
    to and nothing else: a caller that replaces a block makes a new message and a new list. `factor` is provider tokens
    per counted token.
    """

    def __init__(
        self, vocabulary: Vocabulary = "bytes", factor: float = 1.0, keep: Callable[[float], None] | None = None
    ) -> None:
        """`keep` gets each factor that a report of the provider led to."""
        self._keep = keep
        self.vocabulary: Vocabulary = vocabulary
        self.factor = factor
        self._counted: dict[tuple[str, str, int], int] = {}
        self._long_texts: dict[str, int] = {}
        self._tally = _Tally()

    def text(self, text: str) -> int:
        """Calibrated tokens of a text."""
        return round(self._raw_text(text) * self.factor)

    def block(self, block: Block) -> int:
        """Calibrated tokens of a block."""
        return round(self._raw_block(block) * self.factor)

    def message(self, message: Msg) -> int:
        """Calibrated tokens of a message with all its blocks."""
        return round(self._raw_message(message) * self.factor)

    def messages(self, messages: Iterable[Msg]) -> int:
        """Calibrated tokens of a conversation."""
        raw = self._tally_of(messages) if isinstance(messages, list) else sum(map(self._raw_message, messages))
        return round(raw * self.factor)

    def schemas(self, schemas: Sequence[dict[str, object]]) -> int:
        """Calibrated tokens of tool schemas, counted as compact JSON."""
        return self.text(json.dumps(schemas, ensure_ascii=False)) if schemas else 0

    def calibrate(self, counted_tokens: int, reported_tokens: int) -> None:
        """Move the factor towards what the provider reported for a request this counter held for `counted_tokens`.

        A report of 0 means the provider sent no usage and changes nothing.
        """
        if counted_tokens <= 0 or reported_tokens <= 0:
            return
        target = self.factor * reported_tokens / counted_tokens
        moved = self.factor + (target - self.factor) * _CALIBRATION_SHARE
        self.factor = min(max(moved, _FACTOR_RANGE[0]), _FACTOR_RANGE[1])
        if self._keep is not None:
            self._keep(self.factor)

    def _tally_of(self, messages: list[Msg]) -> int:
        tally = self._tally
        if not tally.still_holds(messages):
            tally = self._tally = _Tally(messages)
        # All but the last message are complete; in the last one, all but the newest blocks.
        for message in messages[tally.settled : -1]:
            tally.settled_tokens += self._raw_message(message)
            tally.settled += 1
            tally.last_settled = message
        return tally.settled_tokens + (self._raw_open_message(messages[-1], tally) if messages else 0)

    def _raw_open_message(self, message: Msg, tally: _Tally) -> int:
        content = message.content
        if tally.open_message is not message or tally.open_blocks > len(content):
            tally.open_message, tally.open_blocks, tally.open_tokens = message, 0, MESSAGE_OVERHEAD_TOKENS
        settled = max(tally.open_blocks, len(content) - _GROWING_BLOCKS)
        tally.open_tokens += sum(map(self._raw_block, content[tally.open_blocks : settled]))
        tally.open_blocks = settled
        return tally.open_tokens + sum(map(self._raw_block, content[settled:]))

    def _raw_message(self, message: Msg) -> int:
        return MESSAGE_OVERHEAD_TOKENS + sum(self._raw_block(block) for block in message.content)

    def _raw_block(self, block: Block) -> int:
        key = (block.type, block.id, _payload_chars(block))
        if (known := self._counted.get(key)) is None:
            known = self._counted[key] = self._count_block(block)
        return known

    def _count_block(self, block: Block) -> int:
        match block:
            case DataBlock():
                return IMAGE_TOKENS
            case ToolResultBlock() if not isinstance(block.output, str):
                texts = sum(self._count_text(part.text) for part in block.output if isinstance(part, TextBlock))
                return texts + IMAGE_TOKENS * sum(isinstance(part, DataBlock) for part in block.output)
            case _:
                return self._count_text(block_text(block)) + MESSAGE_OVERHEAD_TOKENS

    def _raw_text(self, text: str) -> int:
        if len(text) < _REMEMBERED_CHARS:
            return self._count_text(text)
        if (known := self._long_texts.pop(text, None)) is None:
            known = self._count_text(text)
        # Taken out and put back, so that the first one is the one not used for longest.
        self._long_texts[text] = known
        if len(self._long_texts) > _REMEMBERED_TEXTS:
            del self._long_texts[next(iter(self._long_texts))]
        return known

    def _count_text(self, text: str) -> int:
        if self.vocabulary == "qwen" and (encoding := qwen_encoding()) is not None:
            # Very long runs without white space cost quadratic time in the splitter, so they go in pieces.
            normal = unicodedata.normalize("NFC", text)
            pieces = (normal[start : start + 20_000] for start in range(0, len(normal), 20_000))
            return sum(len(encoding.encode_ordinary(piece)) for piece in pieces)
        # UTF-8 bytes / 4: the best of the rough rules for English, Chinese, JSON and code alike.
        return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


@dataclass(slots=True)
class _Tally:
    """The running total of one conversation: its list, how much of it is counted for good, and what that came to."""

    messages: list[Msg] = field(default_factory=list[Msg])
    settled: int = 0
    settled_tokens: int = 0
    last_settled: Msg | None = None
    open_message: Msg | None = None
    open_blocks: int = 0
    open_tokens: int = 0

    def still_holds(self, messages: list[Msg]) -> bool:
        """True when this is the list that was counted, and it was only appended to."""
        if messages is not self.messages or len(messages) <= self.settled:
            return False
        return self.settled == 0 or messages[self.settled - 1] is self.last_settled


def vocabulary_for(model_name: str) -> Vocabulary:
    """The vocabulary that counts a model best offline: Qwen's own for its family, else UTF-8 bytes / 4."""
    return "qwen" if model_name.lower().rpartition("/")[2].startswith(("qwen", "qwq")) else "bytes"


@cache
def qwen_encoding() -> tiktoken.Encoding | None:
    """Qwen's vocabulary from dashscope's own files, read without importing dashscope; None where it is missing."""
    spec = importlib.util.find_spec("dashscope")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "resources" / "qwen.tiktoken"
    if not path.is_file():
        return None
    lines = path.read_bytes().splitlines()
    ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line)}
    return tiktoken.Encoding("qwen", pat_str=_QWEN_PATTERN, mergeable_ranks=ranks, special_tokens={})


def _payload_chars(block: Block) -> int:
    match block:
        case ToolCallBlock():
            return len(block.input)
        case DataBlock():
            return 0
        case _:
            return len(block_text(block))
