"""A home whose assistant is answered by a script; conversations, journal, tools and hooks are the real ones."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from assistant.assembly.assistant import Assistant, open_assistant
from assistant.assembly.home import Home, make_trash, stop_nothing
from assistant.config.settings import Settings
from assistant.conversation.conversation import Conversation
from assistant.conversation.trash import Trash
from assistant.messages.blocks import TextBlock, ToolCallBlock
from assistant.messages.events import Event, TextDelta
from assistant.models.chat_model import ChatModel
from assistant.models.scripted import ScriptedModel

SUMMARY = "\n\n".join(
    f"## {title}\n- what was said about {title.lower()}, kept for whoever goes on from here"
    for title in (
        "Goal",
        "Constraints and preferences",
        "Progress",
        "Key decisions",
        "Next steps",
        "Key context",
    )
)
"""What a summariser answers; valid for a conversation in English."""


def home_settings(home: Path, **values: object) -> Settings:
    """Settings of a home without a search index by meaning, without recall, and without a model that writes notes."""
    chosen = {"memory": "off", "embedder": "none", "timezone": "UTC", "language": "en", **values}
    return Settings.model_validate({"home": home, **chosen})


def chat_model(model: ScriptedModel, window_tokens: int) -> ChatModel:
    """A script as the model that answers and writes the summaries."""
    return ChatModel(
        model=model,
        name="scripted",
        provider="openai",
        address="",
        window_tokens=window_tokens,
        vocabulary="bytes",
        is_language_model=True,
        is_fit_for_summaries=True,
        how="A script answers.",
    )


def connect_script(model: ScriptedModel) -> Callable[[Settings], Awaitable[ChatModel]]:
    """Whatever the settings say, the script answers."""

    async def connect(settings: Settings) -> ChatModel:
        return chat_model(model, settings.max_input_length or model.context_size)

    return connect


@asynccontextmanager
async def scripted_assistant(home: Path, model: ScriptedModel, **values: object) -> AsyncGenerator[Assistant]:
    """The assistant of a home that is answered by a script."""
    async with open_assistant(home_settings(home, **values), connect=connect_script(model)) as assistant:
        yield assistant


def make_trash_of(home: Home) -> Trash:
    """What empties the trash of a home that is open without a model."""
    return make_trash(home.store, home.index, stop_nothing)


async def say(assistant: Assistant, conversation: Conversation, text: str) -> list[Event]:
    """What is told from a message or command on until nothing runs."""
    submitted = await assistant.submit(conversation, text)
    async with aclosing(submitted.events) as told:
        return [numbered.event async for numbered in told]


async def until(conversation: Conversation, kind: type[Event], start: int) -> Event:
    """The first event of a kind from number `start` on."""
    async with aclosing(conversation.follow(start)) as told:
        async for numbered in told:
            if isinstance(numbered.event, kind):
                return numbered.event
    raise AssertionError("a conversation that is open never ends")


def text(words: str) -> TextBlock:
    """A text of the model."""
    return TextBlock(text=words)


def call(name: str, arguments: str, call_id: str) -> ToolCallBlock:
    """A tool call of the model."""
    return ToolCallBlock(id=call_id, name=name, input=arguments)


def said_in(events: Sequence[Event]) -> str:
    """The answer that events tell."""
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def kinds_of(events: Sequence[Event]) -> list[str]:
    """What kinds of events were told, one for each run of the same kind; measures are left out."""
    kinds = [event.type for event in events if event.type != "context_measured"]
    return [kind for index, kind in enumerate(kinds) if not index or kinds[index - 1] != kind]
