"""CompactionHook: checks the context before every reasoning step."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from typing import Literal

from agentscope.agent import Agent
from agentscope.event import ModelCallEndEvent, ModelCallStartEvent
from agentscope.middleware import MiddlewareBase

from assistant.agent.compactor import Compactor
from assistant.agent.hooks.signatures import Inputs, NextCompression, NextStream, Stream
from assistant.config.plain_reasons import plain_reason
from assistant.config.words import say
from assistant.errors import PalimpsestError
from assistant.models.failures import is_context_overflow

log = logging.getLogger(__name__)


class CompactionHook(MiddlewareBase):
    """Replaces AgentScope's own compression: `next_handler` of `on_compress_context` is never called."""

    def __init__(self, compactor: Compactor) -> None:
        self._compactor = compactor

    async def on_compress_context(self, agent: Agent, input_kwargs: Inputs, next_handler: NextCompression) -> None:
        """First what the person asked for, then the gate and the four steps."""
        requests = self._compactor.requests
        if requests.take_undo():
            await self._attempt(self._compactor.undo(), "undo_failed")
        hint = requests.take_hint()
        check = self._compactor.check("automatic") if hint is None else self._compactor.check("manual", hint)
        await self._attempt(check, "compaction_failed")

    async def on_reasoning(self, agent: Agent, input_kwargs: Inputs, next_handler: NextStream) -> Stream:
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
            self._compactor.learn_overflow(error)
            await self._attempt(self._compactor.check("overflow"), "compaction_failed")
            async for event in next_handler(**input_kwargs):
                self._count(event)
                yield event

    def _count(self, event: object) -> None:
        if isinstance(event, ModelCallStartEvent):
            self._compactor.begin_call()
        if isinstance(event, ModelCallEndEvent):
            self._compactor.learn_usage(event.input_tokens)

    async def _attempt(self, change: Awaitable[None], failure: Literal["undo_failed", "compaction_failed"]) -> None:
        """Whatever goes wrong is reported, and the turn goes on with what it has."""
        try:
            await change
        except PalimpsestError as error:
            self._compactor.report(str(error))
        except Exception as error:
            log.exception("a change of the context failed")
            self._compactor.report(say("agent", failure, reason=plain_reason(error)))
