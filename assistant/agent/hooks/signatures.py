"""The types of AgentScope's hook methods, which it leaves open: each hook names them by these aliases."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from agentscope.model import ChatResponse
from agentscope.permission import PermissionDecision

Inputs = dict[str, Any]
"""The arguments of the hooked method, by name."""
Stream = AsyncGenerator[Any, None]
"""What a step or a tool yields."""
NextStream = Callable[..., Stream]
"""The next hook of a step or of a tool call, and in the end the step or the call itself."""
ModelAnswer = ChatResponse | AsyncGenerator[ChatResponse, None]
NextAnswer = Callable[..., Awaitable[ModelAnswer]]
"""The same for a model call."""
NextDecision = Callable[..., Awaitable[PermissionDecision]]
"""The same for the decision on a tool call."""
NextCompression = Callable[..., Awaitable[None]]
"""The same for AgentScope's own compression."""
