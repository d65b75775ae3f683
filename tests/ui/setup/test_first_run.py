"""When the page asks its first questions."""

from __future__ import annotations

from pathlib import Path

from assistant.models.scripted import ScriptedModel
from assistant.ui.setup.first_run import is_first_run
from tests.fakes.home import say, scripted_assistant, text


async def test_the_first_run_ends_with_what_is_kept_or_said(tmp_path: Path) -> None:
    async with scripted_assistant(tmp_path / "said", ScriptedModel([[text("Hello.")]])) as assistant:
        seen = [is_first_run(assistant)]
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Hi")
        seen.append(is_first_run(assistant))
        await assistant.conversations.trash(conversation.session_id)
        seen.append(is_first_run(assistant))
    async with scripted_assistant(tmp_path / "kept", ScriptedModel([])) as assistant:
        seen.append(is_first_run(assistant))
        assistant.own_settings.path.write_text("# mine\n", "utf-8")
        seen.append(is_first_run(assistant))
    assert seen == [True, False, False, True, False]
