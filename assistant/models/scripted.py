"""A chat model that replays a script: every answer is written down beforehand, every request is kept."""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

from agentscope.credential import CredentialBase
from agentscope.formatter import OpenAIChatFormatter
from agentscope.model import ChatModelBase, ChatResponse, ChatUsage
from agentscope.tool import ToolChoice

from assistant.messages.blocks import Msg, TextBlock, ThinkingBlock, ToolCallBlock
from assistant.models.providers.carried_notes import AnswerNotes, notes_chunk
from assistant.text.json_values import is_object

ReplyBlock = TextBlock | ThinkingBlock | ToolCallBlock


@dataclass(frozen=True, slots=True)
class OutputCut:
    """The provider cut the answer here, at the output limit; the answer before it is not empty."""

    tokens: int


ReplyItem = ReplyBlock | Exception | asyncio.Event | OutputCut
"""A block is streamed in pieces, an exception is raised at its place, an event is waited for at its place."""
Reply = Sequence[ReplyItem]
ScriptStep = Reply | Exception | Callable[[Sequence[Msg]], Reply | Awaitable[Reply]]
"""What one call answers; a callable gets the messages of the request and returns the reply."""


@dataclass(frozen=True, slots=True)
class ScriptedRequest:
    """What the model was sent: copies of the messages, the tools by name and in full, the mode of the tool choice."""

    messages: tuple[Msg, ...]
    tools: tuple[str, ...]
    tool_choice: str | None
    schemas: tuple[dict[str, object], ...] = ()


class ScriptedModel(ChatModelBase):
    """Answers its steps in order; a call beyond them fails, and `assert_complete` fails on steps left over.

    Usage is AgentScope's own estimate of the request times `usage_factor`; with 0 none is reported.
    """

    type = "scripted_chat"

    def __init__(
        self,
        steps: Sequence[ScriptStep],
        *,
        name: str = "scripted",
        context_size: int = 16_000,
        usage_factor: float = 1.0,
        chunk_chars: int = 16,
    ) -> None:
        super().__init__(
            CredentialBase(), name, self.Parameters(), stream=True, max_retries=0, context_size=context_size
        )
        self.formatter = OpenAIChatFormatter()
        self.requests: list[ScriptedRequest] = []
        self._steps = list(steps)
        self._usage_factor = usage_factor
        self._chunk_chars = chunk_chars

    @property
    def steps_left(self) -> int:
        """How many steps nobody has asked for yet."""
        return max(0, len(self._steps) - len(self.requests))

    def assert_complete(self) -> None:
        """Fail unless every step was asked for exactly once and nothing beyond them."""
        if len(self.requests) != len(self._steps):
            raise AssertionError(f"{self.model}: {len(self._steps)} steps in the script, {len(self.requests)} calls")

    async def _call_api(
        self,
        model_name: str,
        messages: list[Msg],
        tools: list[dict[str, object]] | None = None,
        tool_choice: ToolChoice | None = None,
        **kwargs: object,
    ) -> AsyncGenerator[ChatResponse, None]:
        # Messages are the live context, so they are copied before the loop goes on.
        copies = tuple(message.model_copy(deep=True) for message in messages)
        mode = tool_choice.mode if tool_choice else None
        schemas = tuple(copy.deepcopy(tools or []))
        self.requests.append(ScriptedRequest(copies, tuple(map(_tool_name, schemas)), mode, schemas))
        if len(self.requests) > len(self._steps):
            raise AssertionError(f"{model_name}: call {len(self.requests)} is not in the script")
        reply = await _reply_of(self._steps[len(self.requests) - 1], copies)
        if reply and isinstance(reply[0], Exception):
            raise reply[0]
        counted = self.count_tokens(messages, tools)  # pyright: ignore[reportUnknownMemberType] - their `list[dict]`
        input_tokens = round(await counted * self._usage_factor)
        return self._stream(reply, input_tokens)

    async def _stream(self, reply: Reply, input_tokens: int) -> AsyncGenerator[ChatResponse, None]:
        output_chars = 0
        newest: ReplyBlock = TextBlock(text="")
        for item in reply:
            match item:
                case Exception():
                    raise item
                case asyncio.Event():
                    await item.wait()
                case OutputCut(tokens=tokens):
                    yield notes_chunk(newest, AnswerNotes(cut_tokens=tokens))
                case _:
                    newest = item
                    for piece in _pieces(item, self._chunk_chars):
                        output_chars += self._chunk_chars
                        yield ChatResponse(content=[piece], is_last=False)
        if input_tokens:
            usage = ChatUsage(input_tokens=input_tokens, output_tokens=max(1, output_chars // 4), time=0.0)
            yield ChatResponse(content=[], is_last=False, usage=usage)


async def _reply_of(step: ScriptStep, messages: Sequence[Msg]) -> Reply:
    if isinstance(step, Exception):
        return [step]
    if not callable(step):
        return step
    made = step(messages)
    return await made if inspect.isawaitable(made) else made


def _pieces(block: ReplyBlock, chars: int) -> Iterator[ReplyBlock]:
    """The block in deltas of `chars` characters under one id; an empty block is one delta."""
    match block:
        case TextBlock():
            for part in _parts(block.text, chars):
                yield TextBlock(text=part, id=block.id)
        case ThinkingBlock():
            for part in _parts(block.thinking, chars):
                yield ThinkingBlock(thinking=part, id=block.id)
        case ToolCallBlock():
            for part in _parts(block.input, chars):
                yield ToolCallBlock(id=block.id, name=block.name, input=part)


def _parts(text: str, chars: int) -> list[str]:
    return [text[start : start + chars] for start in range(0, len(text), chars)] or [""]


def _tool_name(tool: dict[str, object]) -> str:
    function = tool.get("function")
    return str(function.get("name")) if is_object(function) else ""
