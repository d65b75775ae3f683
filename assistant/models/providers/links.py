"""Messages before they are formatted for a provider: addresses in them are words, for the formatter opens files."""

from __future__ import annotations

from collections.abc import Sequence

from assistant.config.prompts import language_of, render
from assistant.messages.blocks import Block, DataBlock, Msg, TextBlock, ToolResultBlock, URLSource, copy_with_blocks


def with_links_as_words(messages: Sequence[Msg]) -> list[Msg]:
    """The same messages; a picture or file that is given by its address alone becomes a sentence with the address.

    AgentScope's formatters read `file://` addresses from disk and send what they find. Such a block can only come from
    a tool of somebody else, in a session that an older version wrote.
    """
    return [_without_links(message) if _has_link(message) else message for message in messages]


def _has_link(message: Msg) -> bool:
    return any(_is_link(block) or _is_result_with_link(block) for block in message.content)


def _without_links(message: Msg) -> Msg:
    return copy_with_blocks(message, [_in_words(block) for block in message.content])


def _in_words(block: Block) -> Block:
    if isinstance(block, ToolResultBlock) and not isinstance(block.output, str):
        return block.model_copy(update={"output": [_part_in_words(part) for part in block.output]})
    return _part_in_words(block) if isinstance(block, DataBlock) else block


def _part_in_words(part: TextBlock | DataBlock) -> TextBlock | DataBlock:
    if not (isinstance(part, DataBlock) and isinstance(part.source, URLSource)):
        return part
    address = str(part.source.url)
    return TextBlock(text=render("outside_part", language_of(address), part="link", words=address))


def _is_result_with_link(block: Block) -> bool:
    return isinstance(block, ToolResultBlock) and not isinstance(block.output, str) and any(map(_is_link, block.output))


def _is_link(block: Block) -> bool:
    return isinstance(block, DataBlock) and isinstance(block.source, URLSource)
