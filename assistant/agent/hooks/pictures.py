"""PictureHook: puts the pictures of the home into each model call, and a sentence where a model would not see one."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from agentscope.agent import Agent
from agentscope.middleware import MiddlewareBase

from assistant.agent.hooks.signatures import Inputs, ModelAnswer, NextAnswer
from assistant.agent.session_state import SessionState
from assistant.config.prompts import render
from assistant.config.words import Language
from assistant.messages.attached_blocks import picture_name
from assistant.messages.blocks import Base64Source, Block, DataBlock, Msg, TextBlock, copy_with_blocks
from assistant.storage.attachments import Attachments, picture_type


class PictureHook(MiddlewareBase):
    """The conversation only names its pictures, so that neither journal nor session file grows by them."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._attachments = Attachments(state.workspace)

    async def on_model_call(self, agent: Agent, input_kwargs: Inputs, next_handler: NextAnswer) -> ModelAnswer:
        """The model's answer to the messages with their pictures."""
        messages: Sequence[Msg] = input_kwargs["messages"]
        return await next_handler(**{**input_kwargs, "messages": [self._shown(message) for message in messages]})

    def _shown(self, message: Msg) -> Msg:
        if not any(map(picture_name, message.content)):
            return message
        language = self._state.language
        return copy_with_blocks(message, [self._picture(block, language) for block in message.content])

    def _picture(self, block: Block, language: Language) -> Block:
        name = picture_name(block)
        if not name:
            return block
        if not self._state.sees_pictures:
            return TextBlock(id=block.id, text=render("part_in_words", language, kind="picture"))
        content = self._attachments.picture(name)
        if content is None:
            return TextBlock(id=block.id, text=render("picture_gone", language))
        return DataBlock(id=block.id, source=Base64Source(media_type=picture_type(name), data=_coded(content)))


def _coded(content: bytes) -> str:
    return base64.b64encode(content).decode()
