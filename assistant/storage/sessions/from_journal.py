"""What the journal gives to a session: what its file does not have yet, or all of it where the file is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assistant.compaction.record import CompactionRecord
from assistant.messages.blocks import Msg, block_keys
from assistant.storage.journal.rebuild import complete_messages, rebuild_messages, record_of, since_clear
from assistant.storage.journal.rows import (
    BlockRow,
    DroppedRow,
    FlushRow,
    ProfileChosenRow,
    RecalledRow,
    Row,
    ShownRow,
    TurnEndRow,
    UndoneRow,
)
from assistant.storage.journal.versions import told_rows
from assistant.storage.sessions.session_file import Session, title_of_messages


def completed(stored: Session, rows: list[Row]) -> Session:
    """The stored session, given what the journal has beyond it; a `clear` that the file does not know yet counts."""
    stored.profile = profile_in(rows, stored.profile)
    before_clear = rows[: len(rows) - len(since_clear(rows))]
    if any(isinstance(row, CompactionRecord) and row.compaction_id == stored.compaction_id for row in before_clear):
        stored.summary, stored.compaction_id = "", None
    if stored.compaction_id and record_of(rows, stored.compaction_id) is None:
        rows = _from_first_of(stored.messages, rows)
    stored.messages = complete_messages(stored.messages, rows, stored.compaction_id)
    return stored


def rebuilt(session_id: str, rows: list[Row]) -> Session | None:
    """A conversation made from its rows; None where there are none."""
    blocks = [row for row in rows if isinstance(row, BlockRow)]
    if not blocks:
        return None
    context = rebuild_messages(rows)
    everything: list[Msg] = rebuild_messages(
        [row for row in rows if not isinstance(row, DroppedRow | ShownRow)], compaction_id=None
    ).messages
    return Session(
        user_id=blocks[0].user_id,
        session_id=session_id,
        title=title_of_messages(everything),
        messages=context.messages,
        summary=context.summary,
        compaction_id=context.compaction_id,
        updated_at=rows[-1].at,
        profile=profile_in(rows),
    )


def profile_in(rows: Sequence[Row], otherwise: str = "") -> str:
    """The profile that was chosen last; `otherwise` where none ever was."""
    return next((row.profile for row in reversed(rows) if isinstance(row, ProfileChosenRow)), otherwise)


def branched_rows(rows: Sequence[Row], message_id: str, session_id: str) -> list[Row]:
    """What stands from the last `clear` to the end of the turn of a message, as rows of another conversation.

    `rows` have those of other versions too. Empty where no such message stands there. What was to be written to memory
    is written by the conversation it is of.
    """
    profile = profile_in(rows)
    rows = since_clear(told_rows(rows).rows)
    questions = [row.message_id for row in rows if isinstance(row, BlockRow) and row.role == "user"]
    if message_id not in questions:
        return []
    later = set(questions[questions.index(message_id) :]) - {message_id}
    stop = next((i for i, row in enumerate(rows) if isinstance(row, BlockRow) and row.message_id in later), len(rows))
    copied: list[Row] = [ProfileChosenRow(session_id, profile, rows[0].at)] if profile else []
    for row in rows[:stop]:
        if isinstance(row, BlockRow | TurnEndRow | UndoneRow | RecalledRow):
            copied.append(replace(row, session_id=session_id))
        elif isinstance(row, CompactionRecord):
            copied.append(replace(row, session_id=session_id))
            copied.append(FlushRow(session_id, row.compaction_id, "nothing", row.at))
    return copied


def _from_first_of(messages: list[Msg], rows: list[Row]) -> list[Row]:
    """The rows from the first that `messages` know: where the record is lost, older blocks may have been folded."""
    keys = set(block_keys(messages))
    known = [index for index, row in enumerate(rows) if isinstance(row, BlockRow) and row.key in keys]
    return rows[known[0] :] if known else []
