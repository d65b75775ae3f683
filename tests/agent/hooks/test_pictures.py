"""A conversation names its pictures; the model gets them, or a sentence where it would not see them."""

from __future__ import annotations

import base64
from pathlib import Path

from assistant.agent.attachments.file_reading import GivenFile, PictureCopy
from assistant.assembly.assistant import Assistant
from assistant.conversation.conversation import Conversation
from assistant.messages.blocks import Base64Source, DataBlock, block_text
from assistant.messages.events import TurnStarted
from assistant.models.scripted import ScriptedModel, ScriptedRequest
from tests.fakes.home import say, scripted_assistant, text

PIXELS = b"\x89PNG\r\n\x1a\nthe points of the picture"


async def ask_about(assistant: Assistant, conversation: Conversation, folder: Path) -> None:
    """A question about a picture, answered."""
    path = folder / "chart.png"
    path.write_bytes(b"as it was taken")
    given = GivenFile("chart.png", path, 15, "picture", "", PictureCopy("image/png", PIXELS))
    submitted = await assistant.submit(conversation, "What is this?", [given])
    async for _ in submitted.events:
        pass


def pictures_in(request: ScriptedRequest) -> list[str]:
    """The data of all pictures that were sent."""
    blocks = [block for message in request.messages for block in message.content if isinstance(block, DataBlock)]
    return [block.source.data for block in blocks if isinstance(block.source, Base64Source)]


def said_in(request: ScriptedRequest) -> str:
    """All that was sent in words."""
    return "\n".join(block_text(block) for message in request.messages for block in message.content)


async def test_the_model_gets_the_picture_and_the_home_keeps_it_once(home: Path, tmp_path: Path) -> None:
    model = ScriptedModel([[text("A chart.")], [text("Still a chart.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await ask_about(assistant, conversation, tmp_path)
        session_id = conversation.session_id
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.open(session_id)
        await say(assistant, conversation, "And now?")
        (started, *_) = [event for event in conversation.attach().history if isinstance(event, TurnStarted)]

    assert [pictures_in(request) for request in model.requests] == [[base64.b64encode(PIXELS).decode()]] * 2
    assert (started.text, started.attached[0].name) == ("What is this?", "chart.png")
    assert [path.read_bytes() for path in (home / "pictures").iterdir()] == [PIXELS]
    assert (home / "files" / "attached" / "chart.png").read_bytes() == b"as it was taken"
    coded = base64.b64encode(PIXELS)
    assert not any(coded in path.read_bytes() for path in home.rglob("*.json*"))


async def test_a_model_that_takes_no_pictures_is_told_that_one_was_there(home: Path, tmp_path: Path) -> None:
    model = ScriptedModel([[text("I cannot see it.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        conversation._state.sees_pictures = False  # pyright: ignore[reportPrivateUsage]
        await ask_about(assistant, conversation, tmp_path)

    (request,) = model.requests
    assert pictures_in(request) == []
    assert "[A picture was here. This model cannot take it.]" in said_in(request)
    assert 'name="chart.png"' in said_in(request)


async def test_a_picture_whose_file_is_gone_is_told(home: Path, tmp_path: Path) -> None:
    model = ScriptedModel([[text("A chart.")], [text("It is gone.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await ask_about(assistant, conversation, tmp_path)
        for path in (home / "pictures").iterdir():
            path.unlink()
        await say(assistant, conversation, "And now?")

    assert "[A picture was here. Its file is not in the home any more.]" in said_in(model.requests[-1])


async def test_what_is_deleted_for_good_takes_its_pictures_along(home: Path, tmp_path: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([[text("A chart.")]])) as assistant:
        conversation = assistant.conversations.create()
        await ask_about(assistant, conversation, tmp_path)
        await assistant.conversations.trash(conversation.session_id)
        await assistant.trash.empty()
    assert list((home / "pictures").iterdir()) == []
