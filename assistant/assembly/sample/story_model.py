"""The model that answers in the sample conversation, out of its story, by what it is asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence

from agentscope.credential import CredentialBase
from agentscope.formatter import OpenAIChatFormatter
from agentscope.model import ChatModelBase, ChatResponse
from agentscope.tool import ToolChoice

from assistant.assembly.sample.story import STORY_WINDOW_TOKENS, Story
from assistant.config.words import Language, say
from assistant.messages.blocks import Msg, TextBlock, ToolCallBlock, ToolResultBlock, result_text, text_of
from assistant.models.chat_model import ChatModel
from assistant.models.offline.offline_quotes import read_answers, write_quotes
from assistant.models.offline.texts import offline_texts
from assistant.models.providers.call_ids import fresh_call_id

_PIECE_CHARS = 8
_FLUSH_TOOL = "add_lines"
_NOTHING_MORE = "NO_REPLY"


def connect_story(story: Story, language: Language, piece_seconds: float) -> ChatModel:
    """The model of the sample, which also writes its summary and its memory; no language model is behind it."""
    return ChatModel(
        model=StoryModel(story, language, piece_seconds),
        name="sample",
        provider="offline",
        address="",
        window_tokens=STORY_WINDOW_TOKENS,
        vocabulary="bytes",
        # It plays the part of one: recall, summaries and the flush are those of a language model.
        is_language_model=True,
        is_fit_for_summaries=True,
        how=say("conversation", "story_model"),
    )


class StoryModel(ChatModelBase):
    """Answers by what is asked: a line of the story, a summary, or what is to be remembered; never by how often."""

    type = "story_chat"

    def __init__(self, story: Story, language: Language, piece_seconds: float = 0.0) -> None:
        """`piece_seconds` is the time between two pieces of an answer, so that it can be watched."""
        super().__init__(
            CredentialBase(),
            "sample",
            self.Parameters(),
            stream=True,
            max_retries=0,
            context_size=STORY_WINDOW_TOKENS,
        )
        self.formatter = OpenAIChatFormatter()
        self._story = story
        self._language: Language = language
        self._piece_seconds = piece_seconds

    async def _call_api(
        self,
        model_name: str,
        messages: list[Msg],
        tools: list[dict[str, object]] | None = None,
        tool_choice: ToolChoice | None = None,
        **kwargs: object,
    ) -> AsyncGenerator[ChatResponse, None]:
        names = json.dumps(tools or [])
        if not tools:
            return self._stream([TextBlock(text=self._story.summary.strip())], 0.0)
        if f'"{_FLUSH_TOOL}"' in names:
            return self._stream(self._remember(messages), 0.0)
        return self._stream(self._answer(messages), self._piece_seconds)

    def _answer(self, messages: Sequence[Msg]) -> list[TextBlock | ToolCallBlock]:
        asked, results = _asked(messages)
        step = next((step for step in self._story.steps if step.text and step.text == asked), None)
        if step is None or not step.replies:
            return [TextBlock(text=self._story.unknown)]
        reply = step.replies[-1 if results else 0]
        if reply.calls:
            return [_call(call.tool, {**call.arguments}) for call in reply.calls]
        found = [one for result in results for one in read_answers(result)[: reply.quotes]]
        quoted = write_quotes(found, offline_texts(self._language))
        return [TextBlock(text="\n\n".join(filter(None, [reply.text.strip(), quoted])))]

    def _remember(self, messages: Sequence[Msg]) -> list[TextBlock | ToolCallBlock]:
        if _asked(messages)[1]:
            return [TextBlock(text=_NOTHING_MORE)]
        return [
            _call(_FLUSH_TOOL, {"file": part.file, "heading": part.heading, "lines": list(part.lines)})
            for part in self._story.flush
        ]

    async def _stream(
        self, blocks: Sequence[TextBlock | ToolCallBlock], piece_seconds: float
    ) -> AsyncGenerator[ChatResponse, None]:
        for block in blocks:
            if isinstance(block, ToolCallBlock):
                yield ChatResponse(content=[block], is_last=False)
                continue
            for start in range(0, len(block.text), _PIECE_CHARS):
                await asyncio.sleep(piece_seconds)
                piece = TextBlock(text=block.text[start : start + _PIECE_CHARS], id=block.id)
                yield ChatResponse(content=[piece], is_last=False)


def _call(name: str, arguments: dict[str, str | list[str]]) -> ToolCallBlock:
    return ToolCallBlock(id=fresh_call_id(), name=name, input=json.dumps(arguments, ensure_ascii=False))


def _asked(messages: Sequence[Msg]) -> tuple[str, list[str]]:
    """The newest message of the person, and what the calls after it brought, in the order of the calls."""
    asked = ""
    results: dict[str, str] = {}
    for message in messages:
        if message.role == "user":
            asked = text_of(message).strip()
            results.clear()
        for block in message.content:
            if isinstance(block, ToolCallBlock):
                results[block.id] = ""
            elif isinstance(block, ToolResultBlock):
                results[block.id] = result_text(block)
    return asked, [*results.values()]
