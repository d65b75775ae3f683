"""Values of ours that are kept with the agent's state, so that a new start knows them."""

from __future__ import annotations

from typing import TypeVar

from agentscope.state import AgentState
from pydantic import TypeAdapter, ValidationError

Kept = TypeVar("Kept")


def kept_value(state: AgentState, key: str, form: TypeAdapter[Kept]) -> Kept | None:
    """What is kept under a key; None where nothing is, or nothing that can be read."""
    try:
        return form.validate_python(state.middle_context.get(key))
    except ValidationError:
        return None
