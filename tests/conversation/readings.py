"""What events, requests and rows of the journal say, for the tests of this folder."""

from __future__ import annotations

import json

from assistant.messages.blocks import block_text, text_of
from assistant.messages.events import Event, TurnFinished, TurnStarted
from assistant.models.scripted import ScriptedRequest
from assistant.storage.journal.rows import BlockRow, Row
from tests.fakes.home import call

TOUCH = call("Bash", json.dumps({"command": "touch made.txt"}), "call_touch0001")


def sent_by_user(request: ScriptedRequest) -> list[str]:
    """The messages of the person in a request, oldest first."""
    return [text_of(message) for message in request.messages if message.role == "user"]


def rows_of(rows: list[Row], role: str) -> list[str]:
    """What the journal has of one role, oldest first."""
    return [block_text(row.block) for row in rows if isinstance(row, BlockRow) and row.role == role]


def reasons(events: list[Event]) -> list[str]:
    """How the turns ended."""
    return [event.reason for event in events if isinstance(event, TurnFinished)]


def questions(events: list[Event]) -> list[str]:
    """The questions with which turns began; empty for a turn that went on."""
    return [event.text for event in events if isinstance(event, TurnStarted)]
