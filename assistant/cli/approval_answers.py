"""What a person typed at the question whether a call may run, as their decision (pure)."""

from __future__ import annotations

from assistant.agent.allowances import Decision

_ONCE = ("y", "yes", "是")
_IN_CONVERSATION = ("c",)
_ALWAYS = ("a",)
_DENIED = ("", "n", "no", "否")


def terminal_answer(typed: str) -> Decision:
    """Allowed by one of the letters that are offered; anything else denies, and the model reads it as the reason."""
    answer = typed.strip()
    match answer.lower():
        case letter if letter in _ONCE:
            return Decision(True)
        case letter if letter in _IN_CONVERSATION:
            return Decision(True, "conversation")
        case letter if letter in _ALWAYS:
            return Decision(True, "always")
        case letter if letter in _DENIED:
            return Decision(False)
        case _:
            return Decision(False, why=answer)
