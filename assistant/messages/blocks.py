"""Messages and their blocks (AgentScope's), and how to read and copy them: keys, steps, turns.

One reply is one assistant message that holds the whole tool loop as blocks, so everything counts in blocks. A *step*
is what one model call brought: hint, thinking, text, all its tool calls and all their results. A *turn* starts at a
user message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeGuard, cast

from agentscope import message as library
from agentscope.message import (
    Base64Source,
    DataBlock,
    HintBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    URLSource,
)

from assistant.text.json_parsing import parse_json
from assistant.text.json_values import is_object

__all__ = [
    "ATTACHED_PREFIX",
    "AssistantMsg",
    "Base64Source",
    "Block",
    "BlockKey",
    "BlockKind",
    "DataBlock",
    "HintBlock",
    "MessageMaker",
    "Msg",
    "PlacedBlock",
    "Step",
    "SystemMsg",
    "TextBlock",
    "ThinkingBlock",
    "ToolCallBlock",
    "ToolCallState",
    "ToolResultBlock",
    "ToolResultState",
    "Turn",
    "URLSource",
    "UserMsg",
    "block_keys",
    "block_text",
    "copy_with_blocks",
    "is_said",
    "iterate_blocks",
    "open_calls",
    "parse_object",
    "result_text",
    "steps_of",
    "text_of",
    "turns_of",
    "with_result_text",
]

Block = TextBlock | ThinkingBlock | HintBlock | ToolCallBlock | ToolResultBlock | DataBlock
BlockKind = Literal["text", "thinking", "hint", "tool_call", "tool_result", "data"]
ATTACHED_PREFIX = "attached-"
"""How the id of a text block begins that holds a file and not what its author said."""


class MessageMaker(Protocol):
    """Makes a message of one role out of a text or of blocks."""

    def __call__(
        self,
        name: str,
        content: str | Sequence[Block],
        metadata: dict[str, object] | None = None,
        created_at: str | None = None,
        *,
        id: str | None = None,
    ) -> Msg:
        """The message; it names and dates itself where that is not said."""
        ...


# AgentScope does not say what is in the metadata of a message.
UserMsg = cast(MessageMaker, library.UserMsg)  # pyright: ignore[reportUnknownMemberType]
AssistantMsg = cast(MessageMaker, library.AssistantMsg)  # pyright: ignore[reportUnknownMemberType]
SystemMsg = cast(MessageMaker, library.SystemMsg)  # pyright: ignore[reportUnknownMemberType]


@dataclass(frozen=True, slots=True)
class BlockKey:
    """Names one block of one conversation for ever; a call and its result share the block id and differ in kind."""

    message_id: str
    kind: BlockKind
    block_id: str


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """A block and its place: `message.content[block_index]` of `messages[message_index]`."""

    message_index: int
    block_index: int
    message: Msg
    block: Block

    @property
    def key(self) -> BlockKey:
        """The key under which the journal knows this block."""
        return BlockKey(self.message.id, self.block.type, self.block.id)


@dataclass(frozen=True, slots=True)
class Step:
    """The blocks `content[start:stop]` of one message that one model call brought; a user message is one step."""

    message_index: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Turn:
    """The messages `[start:stop]`: a user message and all that answers it; what comes before the first is one too."""

    start: int
    stop: int


def iterate_blocks(messages: Sequence[Msg]) -> Iterator[PlacedBlock]:
    """Every block, oldest first."""
    for message_index, message in enumerate(messages):
        for block_index, block in enumerate(message.content):
            yield PlacedBlock(message_index, block_index, message, block)


def block_keys(messages: Sequence[Msg]) -> list[BlockKey]:
    """The key of every block, oldest first."""
    return [placed.key for placed in iterate_blocks(messages)]


def steps_of(messages: Sequence[Msg]) -> list[Step]:
    """All steps, oldest first. Within a message a step ends where something other than a result follows a result."""
    steps: list[Step] = []
    for message_index, message in enumerate(messages):
        start = 0
        for index in range(1, len(message.content)):
            if message.content[index - 1].type == "tool_result" and message.content[index].type != "tool_result":
                steps.append(Step(message_index, start, index))
                start = index
        if message.content:
            steps.append(Step(message_index, start, len(message.content)))
    return steps


def turns_of(messages: Sequence[Msg]) -> list[Turn]:
    """All turns, oldest first."""
    starts = [index for index, message in enumerate(messages) if message.role == "user"]
    if not messages:
        return []
    if not starts or starts[0] != 0:
        starts.insert(0, 0)
    return [Turn(start, stop) for start, stop in zip(starts, [*starts[1:], len(messages)], strict=True)]


def open_calls(message: Msg) -> list[ToolCallBlock]:
    """The tool calls of a message that have no result yet."""
    answered = {block.id for block in message.content if isinstance(block, ToolResultBlock)}
    return [block for block in message.content if isinstance(block, ToolCallBlock) and block.id not in answered]


def copy_with_blocks(message: Msg, blocks: Iterable[Block]) -> Msg:
    """The same message (id, role, times) with other blocks; the original is untouched."""
    return message.model_copy(update={"content": list(blocks)})


def block_text(block: Block) -> str:
    """What a reader sees of a block as plain text; a call reads `name(arguments)`, binary data its media type."""
    match block:
        case TextBlock():
            return block.text
        case ThinkingBlock():
            return block.thinking
        case HintBlock():
            return block.hint if isinstance(block.hint, str) else _join(block.hint)
        case ToolCallBlock():
            return f"{block.name}({block.input})"
        case ToolResultBlock():
            return result_text(block)
        case DataBlock():
            return f"[{block.source.media_type}]"


def result_text(block: ToolResultBlock) -> str:
    """The text of a tool result; a binary part is given as its media type."""
    return block.output if isinstance(block.output, str) else _join(block.output)


def is_said(block: Block) -> TypeGuard[TextBlock]:
    """Whether a block is text that its author said, and not a file that was attached."""
    return isinstance(block, TextBlock) and not block.id.startswith(ATTACHED_PREFIX)


def text_of(message: Msg) -> str:
    """What the author of a message said, a line between two blocks; without the files that were attached."""
    return "\n".join(block.text for block in message.content if is_said(block))


def with_result_text(block: ToolResultBlock, text: str, metadata: dict[str, object]) -> ToolResultBlock:
    """The same result with `text` in place of its text parts (binary parts stay) and `metadata` added."""
    output: str | list[TextBlock | DataBlock] = text
    if not isinstance(block.output, str):
        output = [TextBlock(text=text), *(part for part in block.output if isinstance(part, DataBlock))]
    return block.model_copy(update={"output": output, "metadata": {**block.metadata, **metadata}})


def call_arguments(block: ToolCallBlock) -> dict[str, object]:
    """The parsed arguments of a call; empty when the model wrote no JSON object."""
    return parse_object(block.input) or {}


def parse_object(text: str) -> dict[str, object] | None:
    """The JSON object that a text is; None for anything else, however deep it is nested."""
    try:
        value = parse_json(text)
    except ValueError:
        return None
    return value if is_object(value) else None


def _join(parts: Sequence[TextBlock | DataBlock]) -> str:
    return "\n".join(block_text(part) for part in parts)
