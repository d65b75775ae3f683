"""What the person allowed for longer than once, as the settings list it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.config.words import say
from assistant.text.visible_text import as_it_runs
from assistant.ui.safe_text import one_line
from assistant.ui.times import full_time

if TYPE_CHECKING:
    # They bring the agent library with them, which the page does not wait for.
    from assistant.assembly.assistant import Assistant
    from assistant.storage.allowed_calls import Allowance

_TITLE_CHARS = 60


@dataclass(frozen=True, slots=True)
class AllowedRow:
    """One allowance: where and since when it holds, what it allows, its command as it runs, and what revokes it."""

    where: str
    what: str
    command: str
    target: str


def allowed_rows(assistant: Assistant) -> list[AllowedRow]:
    """What is always allowed, then what is in each conversation that is open in this process."""
    rows = [_row(one, "always_since", "") for one in assistant.store.allowed_calls.all()]
    return [*rows, *_of_conversations(assistant)]


def damaged_name(assistant: Assistant) -> str:
    """The name of the file of what is always allowed, where it cannot be read; empty otherwise."""
    return assistant.store.allowed_calls.damaged_name


def _of_conversations(assistant: Assistant) -> Iterator[AllowedRow]:
    for conversation in assistant.conversations.all_open():
        title = one_line(conversation.title, _TITLE_CHARS)
        for listed in conversation.allowances.all():
            if listed.scope == "conversation":
                yield _row(listed.allowance, "in_conversation_since", conversation.session_id, title)


def _row(allowance: Allowance, where: str, session_id: str, title: str = "") -> AllowedRow:
    return AllowedRow(
        say("page_setup", where, when=full_time(allowance.at), title=title),
        allowance.extent.text,
        "\n".join(as_it_runs(allowance.extent.command)),
        f"{session_id} {allowance.allowance_id}",
    )
