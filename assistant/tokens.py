"""How many tokens a text, a block or a conversation costs, corrected by what the provider itself counted."""

from __future__ import annotations

import base64
import importlib.util
import json
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import tiktoken

from assistant.messages import Block, DataBlock, Msg, TextBlock, ToolCallBlock, ToolResultBlock, block_text

Vocabulary = Literal["qwen", "bytes"]

MESSAGE_OVERHEAD_TOKENS = 4
IMAGE_TOKENS = 2000
# One reported usage moves the factor by this share, so that a single odd answer does not swing the meter.
_CALIBRATION_SHARE = 0.5
_FACTOR_RANGE = (0.5, 4.0)
# Qwen's own splitting rule, published with its vocabulary; the file itself ships inside dashscope.
_QWEN_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)


class TokenCounter:
    """Counts by a vocabulary, remembers every block it has counted, and follows the provider's own usage.

    A check of a long conversation costs the new blocks only. `factor` is provider tokens per counted token.
    """

    def __init__(self, vocabulary: Vocabulary = "bytes", factor: float = 1.0) -> None:
        self.vocabulary: Vocabulary = vocabulary
        self.factor = factor
        self._counted: dict[tuple[str, str, int], int] = {}

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
        return round(sum(self._raw_message(message) for message in messages) * self.factor)

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
                texts = sum(self._raw_text(part.text) for part in block.output if isinstance(part, TextBlock))
                return texts + IMAGE_TOKENS * sum(isinstance(part, DataBlock) for part in block.output)
            case _:
                return self._raw_text(block_text(block)) + MESSAGE_OVERHEAD_TOKENS

    def _raw_text(self, text: str) -> int:
        if self.vocabulary == "qwen" and (encoding := qwen_encoding()) is not None:
            # Very long runs without white space cost quadratic time in the splitter, so they go in pieces.
            normal = unicodedata.normalize("NFC", text)
            pieces = (normal[start : start + 20_000] for start in range(0, len(normal), 20_000))
            return sum(len(encoding.encode_ordinary(piece)) for piece in pieces)
        # UTF-8 bytes / 4: the best of the rough rules for English, Chinese, JSON and code alike.
        return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


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
