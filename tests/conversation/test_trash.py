"""Emptying the trash leaves no word of a deleted conversation in the home, and everything else as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assistant.assembly.home import open_home
from assistant.conversation.trash import EmptiedTrash
from assistant.messages.attached import AttachedFile
from assistant.messages.attached_blocks import attached_picture, attached_text
from assistant.messages.blocks import (
    AssistantMsg,
    DataBlock,
    HintBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    UserMsg,
)
from assistant.messages.events import RecalledLine
from assistant.messages.hints import RECALL_SOURCE
from assistant.models.scripted import ScriptedModel
from assistant.storage.attachments import Attachments
from assistant.storage.journal.rows import QueuedRow, RecalledRow
from tests.fakes.home import home_settings, make_trash_of, said_in, say, scripted_assistant, text

AT = "2026-11-30T09:00:00.000+00:00"

GONE_ID = "00000000-0000-4000-8000-00000000000a"
KEPT_ID = "00000000-0000-4000-8000-00000000000b"


def files_with(home: Path, words: bytes) -> list[str]:
    """The files of the home in which these bytes stand."""
    return sorted(
        str(path.relative_to(home)) for path in home.rglob("*") if path.is_file() and words in path.read_bytes()
    )


async def test_no_word_of_a_deleted_conversation_is_left_in_the_home(home: Path) -> None:
    async with open_home(home_settings(home)) as opened:
        store = opened.store
        for session_id, secret, artifact_id in (("gone", "zanzibar", GONE_ID), ("kept", "lisbon", KEPT_ID)):
            result = ToolResultBlock(id="c", name="Bash", output="cut", metadata={"artifact_id": artifact_id})
            session = store.sessions.create(f"About {secret}")
            session.session_id = session_id
            session.messages = [
                UserMsg("user", f"We go to {secret}"),
                AssistantMsg(
                    "palimpsest", [ToolCallBlock(id="c", name="Bash", input="{}"), result, TextBlock(text="ok")]
                ),
            ]
            store.journal.append_missing(session_id, "owner", session.messages)
            store.sessions.save(session)
            store.artifacts.store_as(artifact_id, f"all about {secret}")
            failure = store.workspace.compaction_failures_folder / f"failed-{session_id}.json"
            failure.parent.mkdir(exist_ok=True)
            failure.write_text(json.dumps({"session_id": session_id, "prompt": secret}), encoding="utf-8")
        await opened.index.sync()
        assert (await opened.index.search("zanzibar")).hits != ()

        store.sessions.trash("gone")
        trash = make_trash_of(opened)
        assert await trash.empty() == EmptiedTrash(1)
        assert await trash.empty() == EmptiedTrash(0)

        assert (await opened.index.search("zanzibar")).hits == ()
        assert [hit.session_id for hit in (await opened.index.search("lisbon")).hits] == ["kept"]
        assert [summary.session_id for summary in store.sessions.list()] == ["kept"]
    assert files_with(home, b"zanzibar") == []
    assert {name.partition("/")[0] for name in files_with(home, b"lisbon")} == {
        "compaction_failures",
        "dialog",
        "index",
        "sessions",
        "tool_result",
    }


@pytest.mark.parametrize("is_open", [True, False], ids=["open", "closed"])
async def test_what_was_recalled_from_it_leaves_the_others(home: Path, is_open: bool) -> None:
    recalled = (
        RecalledLine("dialog/2026-11-30.jsonl", 3, "You: We go to zanzibar", 0.7, "gone"),
        RecalledLine("MEMORY.md", 1, "- Trips are in May", 0.4),
    )
    async with scripted_assistant(home, ScriptedModel([[text("In May.")]])) as assistant:
        store = assistant.store
        for session_id in ("gone", "kept"):
            session = store.sessions.create(session_id)
            session.session_id = session_id
            hint = HintBlock(hint="We go to zanzibar", source=RECALL_SOURCE)
            asked, answer = UserMsg("user", "Where?"), AssistantMsg("palimpsest", [TextBlock(text="There.")])
            session.messages = [AssistantMsg("palimpsest", [hint]), asked, answer]
            store.journal.append_missing(session_id, "owner", session.messages)
            store.sessions.save(session)
        store.journal.append([RecalledRow("kept", recalled, AT), RecalledRow("kept", recalled[:1], AT)])
        if is_open:
            assistant.conversations.open("kept")
        store.sessions.trash("gone")

        assert await assistant.trash.empty() == EmptiedTrash(1)

        assert files_with(home, b"zanzibar") == []
        conversation = assistant.conversations.open("kept")
        assert said_in(await say(assistant, conversation, "When?")) == "In May."
        rows = [row for row in store.journal.rows("kept") if isinstance(row, RecalledRow)]
        assert rows == [RecalledRow("kept", recalled[1:], AT)]
    assert files_with(home, b"zanzibar") == []


async def test_what_was_attached_to_it_leaves_the_home(home: Path) -> None:
    async with open_home(home_settings(home)) as opened:
        store = opened.store
        attachments = Attachments(store.workspace)
        source = home / "source"
        source.write_bytes(b"zanzibar")
        sent, waiting = UserMsg("user", "Look"), UserMsg("user", "And here")
        for message in (sent, waiting):
            name = attachments.keep_picture(b"zanzibar", "image/png")
            kept = attachments.keep("map.png", source)
            text_of_it = attachments.keep_text("map.png.txt", "zanzibar")
            file = AttachedFile("map.png", kept, 8, 2_000, "picture", name, text_of_it)
            message.content = [attached_text(file, "A map."), attached_picture(name, "image/png")]
        source.unlink()
        store.journal.append_missing("gone", "owner", [sent])
        queued = [block for block in waiting.content if isinstance(block, TextBlock | DataBlock)]
        store.journal.append([QueuedRow("gone", waiting.id, "user", block, AT, AT) for block in queued])
        store.sessions.trash("gone")
        assert len(files_with(home, b"zanzibar")) == 6

        assert await make_trash_of(opened).empty() == EmptiedTrash(1)
    assert files_with(home, b"zanzibar") == []


async def test_what_was_saved_to_memory_stays(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([[text("Noted.")]])) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "/remember The garage code is 4711")
        await say(assistant, conversation, "Thank you")
        await assistant.conversations.trash(conversation.session_id)
        assert await assistant.trash.empty() == EmptiedTrash(1)
        assert assistant.conversations.trashed() == []
    assert "The garage code is 4711" in (home / "MEMORY.md").read_text("utf-8")


def test_what_went_is_told_in_words() -> None:
    assert EmptiedTrash(0).text == "The trash is empty."
    assert EmptiedTrash(1).text == "1 conversation is gone for good, from the journal and from search."
    assert EmptiedTrash(2, ("But.",)).text.splitlines() == [
        "2 conversations are gone for good, from the journal and from search.",
        "But.",
    ]
