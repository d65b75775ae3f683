"""Addresses in a conversation are sent as words: no formatter opens a file that somebody else has named."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from assistant.messages.blocks import (
    AssistantMsg,
    DataBlock,
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
    URLSource,
    UserMsg,
)
from assistant.models.providers.call_ids import fresh_call_id
from assistant.models.providers.request_form import TidyDashScopeFormatter, TidyOpenAIFormatter


def link_to(path: Path, media_type: str) -> DataBlock:
    """A block that leads to a file, as an older version kept it."""
    return DataBlock(source=URLSource.model_validate({"url": path.as_uri(), "media_type": media_type}))


def in_result(link: DataBlock) -> list[Msg]:
    """A conversation in which a tool brought the link."""
    call_id = fresh_call_id()
    call = ToolCallBlock(id=call_id, name="mcp__srv__ask", input="{}")
    output: list[TextBlock | DataBlock] = [TextBlock(text="Here it is."), link]
    result = ToolResultBlock(id=call_id, name="mcp__srv__ask", output=output, state=ToolResultState.SUCCESS)
    return [UserMsg("me", "Look."), AssistantMsg("palimpsest", [call, result])]


def in_message(link: DataBlock) -> list[Msg]:
    """A conversation in which a message has the link."""
    return [UserMsg("me", [TextBlock(text="Look."), link])]


@pytest.mark.parametrize("place", [in_result, in_message])
@pytest.mark.parametrize("media_type", ["image/png", "audio/wav", "application/octet-stream"])
@pytest.mark.parametrize("formatter", [TidyOpenAIFormatter(), TidyDashScopeFormatter()])
async def test_a_file_that_a_block_names_is_not_read(tmp_path: Path, place, media_type: str, formatter) -> None:  # type: ignore[no-untyped-def]
    secret = tmp_path / "secret.env"
    secret.write_text("KEY=walrus", encoding="utf-8")
    messages = place(link_to(secret, media_type))
    sent = json.dumps(await formatter.format(messages))
    assert (base64.b64encode(b"KEY=walrus").decode() in sent, "which was not opened" in sent) == (False, True)
    assert isinstance(messages[-1].content[-1], DataBlock | ToolResultBlock)
