"""What is to be known of one answer beside its blocks, as its reader finds it out."""

from __future__ import annotations

from dataclasses import dataclass, field

from assistant.models.wire.pieces import TokenUsage


@dataclass(slots=True)
class AnswerFacts:
    """Filled while an answer is read.

    `has_ended` once the provider has said that the answer ends, `is_cut` where it says that this is its output limit,
    after `output_tokens` by its count (0: none was given); `is_filtered` where a content filter ended it. The first
    `thought_chars` characters of the text are thinking, which came under the name `thought_field`. `unread` names parts
    that cannot be shown. `message_extras` and, by id of the call, `call_extras` go back with the answer.
    """

    has_ended: bool = False
    is_cut: bool = False
    output_tokens: int = 0
    is_filtered: bool = False
    begins_in_thought: bool = False
    thought_chars: int = 0
    unread: tuple[str, ...] = ()
    thought_field: str = ""
    message_extras: dict[str, object] = field(default_factory=dict[str, object])
    call_extras: dict[str, object] = field(default_factory=dict[str, object])
    usage: TokenUsage | None = None
