"""How many tokens a model can read, from the surest source there is."""

from __future__ import annotations

import re
from functools import cache

from agentscope.model import (
    AnthropicChatModel,
    DashScopeChatModel,
    DeepSeekChatModel,
    GeminiChatModel,
    MoonshotChatModel,
    OpenAIChatModel,
)

LOOPBACK_TOKENS = 8_192
CLOUD_TOKENS = 128_000
FILE_TOOLS_TOKENS = 16_000
"""Below this window an agent gets no tools but those on its memory: their schemas would fill it."""

# What follows a card's name in the name of a dated or pinned edition of that model.
_EDITION = re.compile(r"-(?:latest|preview|\d{4}(?:-?\d{2}){0,2}(?:-preview)?)$")


def window_of(name: str, *, setting: int | None, reported: int | None, is_local: bool) -> int:
    """The window of a model in tokens: the setting, else AgentScope's card, else the server's report, else a guess.

    On loopback the server's report comes before the card: it knows what it has loaded.
    """
    if setting:
        return setting
    carded = card_window(name)
    surest = (reported, carded, LOOPBACK_TOKENS) if is_local else (carded, reported, CLOUD_TOKENS)
    return next(tokens for tokens in surest if tokens)


def is_guess(name: str, *, setting: int | None, reported: int | None) -> bool:
    """True where neither the person nor the server nor a card says how much the model can read."""
    return not (setting or reported or card_window(name))


def card_window(name: str) -> int | None:
    """The window on AgentScope's card for a model or the model of which it is an edition, or None."""
    plain = name.lower().rpartition("/")[2]
    cards = _card_windows()
    return cards.get(plain) or cards.get(_EDITION.sub("", plain))


@cache
def _card_windows() -> dict[str, int]:
    classes = (
        AnthropicChatModel,
        DashScopeChatModel,
        OpenAIChatModel,
        DeepSeekChatModel,
        GeminiChatModel,
        MoonshotChatModel,
    )
    return {card.name.lower(): card.context_size for kind in classes for card in kind.list_models()}
