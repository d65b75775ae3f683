"""The centre of the page on a real assistant, in a home with memory files, whose model plays a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from assistant.assembly.assistant import Assistant
from assistant.conversation.conversation import Conversation
from assistant.messages.blocks import Msg, text_of
from assistant.models.scripted import Reply, ScriptedModel, ScriptedRequest, ScriptStep
from assistant.ui.chat.chat_controller import ChatController
from assistant.ui.chat.live import LiveViews
from assistant.ui.components import PageUpdate
from assistant.ui.server.loading import Loaded, Loading
from tests.fakes.home import say, scripted_assistant, text

MEMORY_TEXTS = {
    "SOUL.md": "# Soul\n\nCalm, exact, brief. Says what it does not know.\n",
    "USER.md": "# About me\n\n- Lives in Zürich, speaks German and 中文\n- Prefers short answers\n",
    "MEMORY.md": "# Long-term memory\n\n## Health\n- Dentist: Friday 15:30\n\n## Travel\n- Lisbon 12–16 December, "
    "flight LX2086\n",
    "memory/2026-11-30.md": "# 2026-11-30\n\n- Moved the dentist to Friday\n",
    "memory/2026-11-29.md": "# 2026-11-29\n\n- Compared three hotels in Alfama\n",
}
PATIENCE = 40
"""How often `echo` answers, which is more than a test asks."""


@dataclass(frozen=True, slots=True)
class OpenPage:
    """The assistant, what the page's buttons call, and what the scripted model was sent."""

    assistant: Assistant
    controller: ChatController
    requests: list[ScriptedRequest]

    async def talk(self, *texts: str) -> Conversation:
        """A new conversation in which this was said, and answered."""
        conversation = self.assistant.conversations.create()
        for words in texts:
            await say(self.assistant, conversation, words)
        return conversation


def write_memory(home: Path) -> None:
    """Three memory files and two notes, in a home that has its working rules and so is no new one."""
    (home / "memory").mkdir(parents=True)
    (home / "AGENTS.md").write_text("Answer briefly.\n", "utf-8")
    for name, words in MEMORY_TEXTS.items():
        (home / name).write_text(words, "utf-8")


def echo(messages: Sequence[Msg]) -> Reply:
    """Says what was said."""
    return [text(f"You said: **{text_of(messages[-1])}**")]


def held(gate: asyncio.Event) -> Callable[[Sequence[Msg]], Reply]:
    """An answer that begins, and ends once the gate is open."""
    return lambda _: [text("It begins …"), gate, text(" and it ends.")]


@asynccontextmanager
async def open_page(home: Path, *steps: ScriptStep, **settings: object) -> AsyncGenerator[OpenPage]:
    """The page of a home with memory files; after its steps the model says what was said."""
    write_memory(home)
    model = ScriptedModel([*steps, *[echo] * PATIENCE])
    opened = scripted_assistant(home, model, **{"memory_store_backend": "local", **settings})
    async with page_of(opened, model.requests) as page:
        yield page


@asynccontextmanager
async def page_of(
    opened: AbstractAsyncContextManager[Assistant], requests: list[ScriptedRequest] | None = None
) -> AsyncGenerator[OpenPage]:
    """The page of any assistant."""
    async with opened as assistant:
        loading, views = Loading(), LiveViews()
        loading.finish(Loaded(assistant, len))
        yield OpenPage(assistant, ChatController(loading, views), [] if requests is None else requests)
        await views.close()


async def last(updates: AsyncIterator[PageUpdate]) -> PageUpdate:
    """What the page shows in the end."""
    return [update async for update in updates][-1]
