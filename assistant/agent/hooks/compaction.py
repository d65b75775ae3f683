"""MemoryCompactionHook: checks the context before every reasoning step."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from agentscope.agent import Agent
from agentscope.event import ModelCallEndEvent, ModelCallStartEvent
from agentscope.middleware import MiddlewareBase

from assistant.agent.context import Context
from assistant.errors import PalimpsestError
from assistant.messages.events import CompactionReason
from assistant.models.failures import is_context_overflow

log = logging.getLogger(__name__)


class MemoryCompactionHook(MiddlewareBase):
    """Replaces AgentScope's own compression: `next_handler` of `on_compress_context` is never called."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._requested_hint: str | None = None
        self._is_undo_requested = False

    def request(self, hint: str) -> None:
        """Compact before the next step of the running turn."""
        self._requested_hint = hint

    def request_undo(self) -> None:
        """Take the newest compaction back before the next step of the running turn."""
        self._is_undo_requested = True

    def take_requests(self) -> tuple[bool, str | None]:
        """Whether an undo, and with which hint a compaction, was requested and not done; they count as done then."""
        requests = self._is_undo_requested, self._requested_hint
        self._is_undo_requested, self._requested_hint = False, None
        return requests

    async def on_compress_context(
        self, agent: Agent, input_kwargs: dict[str, Any], next_handler: Callable[..., Awaitable[None]]
    ) -> None:
        """The gate and the four steps. Whatever goes wrong here is told, and the turn goes on with what it has."""
        is_undo_requested, hint = self.take_requests()
        if is_undo_requested:
            await self._undo()
        await self._check("automatic" if hint is None else "manual", hint or "")

    async def on_reasoning(
        self, agent: Agent, input_kwargs: dict[str, Any], next_handler: Callable[..., AsyncGenerator[Any, None]]
    ) -> AsyncGenerator[Any, None]:
        """Takes the provider's count of each call, and compacts once when it says that the request was too long."""
        has_streamed = False
        try:
            async for event in next_handler(**input_kwargs):
                has_streamed |= not isinstance(event, ModelCallStartEvent)
                self._count(event)
                yield event
        except Exception as error:
            if has_streamed or not is_context_overflow(error):
                raise
            log.info("the provider refused a request as too long; compacting and calling on")
            self._context.learn_overflow(error)
            await self._check("overflow", "")
            async for event in next_handler(**input_kwargs):
                self._count(event)
                yield event

    def _count(self, event: object) -> None:
        if isinstance(event, ModelCallEndEvent):
            self._context.learn_usage(event.input_tokens)

    async def _check(self, reason: CompactionReason, hint: str) -> None:
        try:
            await self._context.check(reason, hint)
        except PalimpsestError as error:
            self._context.tell(str(error))
        except Exception as error:
            log.exception("the context check failed")
            self._context.tell(
                f"The context could not be compacted ({type(error).__name__}: {error}). Nothing was lost."
            )

    async def _undo(self) -> None:
        try:
            await self._context.undo()
        except PalimpsestError as error:
            self._context.tell(str(error))
        except Exception as error:
            log.exception("the compaction could not be undone")
            self._context.tell(
                f"The compaction could not be undone ({type(error).__name__}: {error}). Nothing was lost."
            )
