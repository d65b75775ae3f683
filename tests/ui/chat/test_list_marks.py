"""A conversation is marked while a call of it waits for the person, and not any more once it rests."""

from __future__ import annotations

import json
from pathlib import Path

from assistant.models.scripted import ScriptedModel
from assistant.ui.chat.list_marks import ListMark, list_marks
from tests.fakes.home import call, say, scripted_assistant, text


async def test_a_conversation_is_marked_while_it_waits_and_not_once_it_is_answered(home: Path) -> None:
    steps = [[call("Bash", json.dumps({"command": "touch made.txt"}), "c1")], [text("Done.")]]
    async with scripted_assistant(home, ScriptedModel(steps)) as assistant:
        conversation = assistant.conversations.create()
        assistant.conversations.create()
        before = list_marks(assistant)
        await say(assistant, conversation, "Make a file")
        waiting = list_marks(assistant)
        conversation.answer("c1", True)
        running = list_marks(assistant)
        await conversation.wait()
        session_id = conversation.session_id
        assert (before, list_marks(assistant)) == ((), ())
        assert waiting == (ListMark(session_id, "waiting"),)
        assert running == (ListMark(session_id, "running"),)
