"""Where every block of a conversation is: in the journal once, and in the context or folded by a standing record."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.messages.blocks import BlockKey, Msg, TextBlock, ToolResultBlock, block_text, iterate_blocks
from assistant.storage.artifacts import ARTIFACT_ID_KEY
from assistant.storage.journal.journal import Journal
from assistant.storage.journal.rebuild import chain_of, record_of
from assistant.storage.journal.rows import BlockRow, QueuedRow, Row
from assistant.storage.sessions.session_file import Session


@dataclass(frozen=True, slots=True)
class Account:
    """What is wrong with a conversation on disk, one line a fault, and how much was looked at."""

    faults: tuple[str, ...]
    blocks: int
    questions: int
    folded: int
    in_context: int
    records: int


def account_of(
    dialog_folder: Path, journal: Journal, session: Session, sent: Sequence[str], known: Sequence[str]
) -> Account:
    """Look at the journal's files line by line and at the session.

    Each question of `sent` must be there once; of others only those that are `known` may have been sent.
    """
    rows = journal.rows(session.session_id, include_dropped=True)
    blocks = {row.key: row for row in rows if isinstance(row, BlockRow)}
    chain = chain_of(rows, record_of(rows, session.compaction_id) if session.compaction_id else None)
    folded = Counter(key for record in chain for key in record.keys)
    context = [placed.key for placed in iterate_blocks(session.messages)]
    faults = [
        *_repeated_lines(dialog_folder),
        *_misplaced(blocks, folded, context),
        *_changed(blocks, session.messages),
        *_lost(rows, sent, known),
    ]
    if session.compaction_id and not chain:
        faults.append(f"the session stands on the record {session.compaction_id}, which the journal does not have")
    questions = sum(row.role == "user" for row in blocks.values())
    return Account(tuple(faults), len(blocks), questions, len(folded), len(context), len(chain))


def _repeated_lines(dialog_folder: Path) -> list[str]:
    """Blocks that stand in more than one line, and lines that are no JSON."""
    counts: Counter[tuple[str, str, str, str]] = Counter()
    faults: list[str] = []
    for path in sorted(dialog_folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_bytes().splitlines(), start=1):
            try:
                row = json.loads(line)
            except ValueError:
                faults.append(f"{path.name}:{number} is no JSON")
                continue
            if row["kind"] == "block":
                counts[row["session_id"], row["message_id"], row["block"]["type"], row["block"]["id"]] += 1
    return faults + [f"{key} stands in {count} rows" for key, count in counts.items() if count > 1]


def _misplaced(blocks: dict[BlockKey, BlockRow], folded: Counter[BlockKey], context: list[BlockKey]) -> list[str]:
    faults = [f"{key} is folded {count} times" for key, count in folded.items() if count > 1]
    faults += [f"{key} stands in the context {count} times" for key, count in Counter(context).items() if count > 1]
    present = set(context)
    for key, row in blocks.items():
        if (key in present) == (key in folded):
            where = "both in the context and folded" if key in present else "neither in the context nor folded"
            faults.append(f"{key} is {where}: {block_text(row.block)[:80]!r}")
    # A result that healing put in place of a lost one is in the journal with the next step, recalled memory never is.
    absent = [key for key in context if key not in blocks and key.kind not in ("tool_result", "hint")]
    faults += [f"{key} is not in the journal" for key in absent]
    order = [key for key in blocks if key in present]
    if [key for key in context if key in blocks and key.kind == "text"] != [key for key in order if key.kind == "text"]:
        faults.append("the context is not in the order of the journal")
    return faults


def _changed(blocks: dict[BlockKey, BlockRow], messages: Sequence[Msg]) -> list[str]:
    """Blocks in the context that do not say what the journal says; a shortened result names its full text."""
    faults: list[str] = []
    for placed in iterate_blocks(messages):
        row = blocks.get(placed.key)
        if row is None or block_text(row.block) == block_text(placed.block):
            continue
        if not isinstance(placed.block, ToolResultBlock) or ARTIFACT_ID_KEY not in placed.block.metadata:
            faults.append(f"{placed.key} says something else than the journal")
    return faults


def _lost(rows: Sequence[Row], sent: Sequence[str], known: Sequence[str]) -> list[str]:
    asked = Counter(
        row.block.text
        for row in rows
        if isinstance(row, BlockRow) and row.role == "user" and isinstance(row.block, TextBlock)
    )
    # One that has to wait for another turn is safe before its own begins.
    queued = [row.block.text for row in rows if isinstance(row, QueuedRow) and not asked[row.block.text]]
    asked.update(queued)
    faults = [
        f"a question stands {asked[text]} times in the journal: {text[:80]!r}" for text in sent if asked[text] != 1
    ]
    faults += [f"nobody sent this: {text[:80]!r}" for text in asked if text not in set(known)]
    return faults
