"""Make the model of a provider with a protocol of its own; its library is loaded only then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assistant.models.known_providers import NativeName

if TYPE_CHECKING:
    from assistant.models.providers.native_model import NativeModel


def make_native(
    provider: NativeName, name: str, base_url: str, key: str, window_tokens: int, max_reply_tokens: int
) -> NativeModel:
    """The model `name` at an address, with a window and the longest answer in tokens."""
    match provider:
        case "anthropic":
            # Half a second to load, for those alone who ask for it.
            from assistant.models.providers.anthropic_model import AnthropicModel  # noqa: PLC0415

            address = base_url.removesuffix("/messages").removesuffix("/v1")
            return AnthropicModel(name, address, key, window_tokens, max_reply_tokens)
