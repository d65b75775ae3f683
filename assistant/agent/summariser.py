"""The summariser: a temporary agent that asks a model for one text, and lives for that request alone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable
from dataclasses import dataclass
from typing import TypeVar

from agentscope.agent import Agent, InjectionConfig, ReActConfig
from agentscope.middleware import MiddlewareBase
from agentscope.model import ChatModelBase

from assistant.agent.hooks.steps import MAX_SILENT_STEPS, StepHook
from assistant.compaction.summary.summary import Ask
from assistant.config.plain_reasons import plain_reason
from assistant.config.words import say
from assistant.errors import ModelError, PalimpsestError
from assistant.messages.blocks import Msg, UserMsg, text_of

SUMMARISER_NAME = "reme_compactor"
SILENT_SECONDS = 600.0
"""A model that sends nothing for so long is given up; one that is slow is waited for, as a processor alone is."""

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Summariser:
    """Whom a compaction asks for its summary, and how many tokens may be asked about at once."""

    ask: Ask
    window_tokens: int


def make_ask(model: ChatModelBase) -> Ask:
    """A callable (system prompt, user text) → the model's text. Each call makes an agent that lives only for it.

    The callable raises `ModelError` when the model fails or sends nothing for `SILENT_SECONDS`.
    """

    async def ask(system: str, user: str) -> str:
        agent = Agent(
            name=SUMMARISER_NAME,
            system_prompt=system,
            model=model,
            middlewares=[StepHook(lambda: None, MAX_SILENT_STEPS + 1), NoCompression()],
            # Else a stopped request would be taken for an answer, and asked again.
            react_config=ReActConfig(interruption_raise_cancelled_error=True),
            injection_config=InjectionConfig(inject_runtime_state=False),
        )
        try:
            reply = await while_heard(SILENT_SECONDS, agent.reply_stream(UserMsg("user", user), yield_final_msg=True))
        except PalimpsestError:
            raise
        except Exception as error:
            # A client may raise anything; a digest then has to take the place of the summary, or the session ends here.
            log.exception("the compactor model failed")
            raise ModelError(say("agent", "model_failed", reason=plain_reason(error))) from error
        return text_of(reply) if isinstance(reply, Msg) else ""

    return ask


async def while_heard(seconds: float, stream: AsyncIterable[T]) -> T | None:
    """The last of what a stream brings; raises `ModelError` where nothing comes for so long.

    AgentScope swallows the cancellation of a stream and ends it with what came so far, so the clock is asked each time.
    """
    loop = asyncio.get_running_loop()
    last: T | None = None
    try:
        async with asyncio.timeout(seconds) as limit:
            async for piece in stream:
                last = piece
                if not limit.expired():
                    limit.reschedule(loop.time() + seconds)
    except TimeoutError:
        raise ModelError(say("agent", "model_silent", seconds=seconds)) from None
    if limit.expired():
        raise ModelError(say("agent", "model_silent", seconds=seconds))
    return last


class NoCompression(MiddlewareBase):
    """Turns AgentScope's own compression off for an agent that lives for one request."""

    async def on_compress_context(self, agent: Agent, input_kwargs: object, next_handler: object) -> None:
        """Leaves the context as it is."""
