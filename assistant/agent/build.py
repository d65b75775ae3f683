"""Model + toolkit + hooks + state → AgentScope's Agent, with its own compression and reminders off."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from agentscope.agent import Agent, ContextConfig, InjectionConfig, ReActConfig
from agentscope.middleware import MiddlewareBase
from agentscope.model import ChatModelBase
from agentscope.state import AgentState
from agentscope.tool import Toolkit
from pydantic import ValidationError

from assistant.agent.hooks.recall import without_recall
from assistant.storage.sessions.session_file import Session

AGENT_NAME = "palimpsest"
"""Part of what a saved state means: a state written under another name is not recognised as the agent's own."""
# Our own step limit ends a turn cleanly; AgentScope's would pay one more call and speak English to the model.
_NO_LIMIT = 1_000_000_000

log = logging.getLogger(__name__)


def build_agent(
    model: ChatModelBase,
    toolkit: Toolkit,
    state: AgentState,
    hooks: Sequence[MiddlewareBase],
    *,
    name: str = AGENT_NAME,
    system_prompt: str = "",
    is_sidecar: bool = False,
) -> Agent:
    """The agent; hooks stand outermost first, and one may put its own system prompt before each call.

    A conversation's agent ends a cancelled reply in a valid state and returns; a sidecar's cancellation goes through.
    """
    return Agent(
        name=name,
        system_prompt=system_prompt,
        model=model,
        toolkit=toolkit,
        middlewares=list(hooks),
        state=state,
        context_config=ContextConfig(tool_result_limit=_NO_LIMIT, max_image_num=_NO_LIMIT),
        react_config=ReActConfig(max_iters=_NO_LIMIT, interruption_raise_cancelled_error=is_sidecar),
        injection_config=InjectionConfig(inject_runtime_state=False),
    )


def restore_state(session: Session) -> AgentState:
    """The agent's state as the session file holds it; what was recalled for a turn that was cut is left out."""
    context = without_recall(session.messages)
    try:
        return AgentState.model_validate({**session.agent_state, "context": context})
    except ValidationError:
        # The words are what counts; the rest is the agent's own and made anew.
        log.warning("the agent's state of conversation %s is damaged and was begun anew", session.session_id)
        return AgentState(context=context)
