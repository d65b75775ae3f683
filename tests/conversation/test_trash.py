"""Emptying the trash leaves no word of a deleted conversation in the home, and everything else as it was."""

from __future__ import annotations

import json
from pathlib import Path

from assistant.assembly.home import open_home
from assistant.conversation.trash import EmptiedTrash
from assistant.messages.blocks import AssistantMsg, TextBlock, ToolCallBlock, ToolResultBlock, UserMsg
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import home_settings, make_trash_of, say, scripted_assistant, text

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
