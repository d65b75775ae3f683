"""What a person typed at the question whether a call may run, as their decision (pure)."""

from __future__ import annotations

from assistant.agent.allowances import Decision


def terminal_answer(typed: str) -> Decision:
    """Allowed by one of the letters that are offered; anything else denies, and the model reads it as the reason."""
    answer = typed.strip()
    match answer.lower():
        case "y" | "yes" | "是":
            return Decision(True)
        case "c":
            return Decision(True, "conversation")
        case "a":
            return Decision(True, "always")
        case "" | "n" | "no" | "否":
            return Decision(False)
        case _:
            return Decision(False, why=answer)
