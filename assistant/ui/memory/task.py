"""What a person was asked about memory in one browser tab, and has not decided yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # They bring the agent library and the index with them, which the page does not wait for.
    from assistant.memory.forget.forgetter import ForgetPreview
    from assistant.memory.tidy import Tidying


@dataclass(frozen=True, slots=True)
class Task:
    """The open question: what to forget, or what to tidy in which file; none of both where there is no card."""

    found: ForgetPreview | None = None
    tidied_name: str = ""
    tidying: Tidying | None = None
