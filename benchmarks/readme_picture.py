"""The page as the README shows it, in both themes: the real assistant, after a conversation that was compressed."""

from __future__ import annotations

import json
import tomllib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser
from pydantic import TypeAdapter

from assistant.assembly.assistant import Assistant, open_assistant
from assistant.config.settings import Settings
from assistant.conversation.conversation import Conversation
from assistant.messages.blocks import TextBlock, ToolCallBlock
from assistant.models.chat_model import ChatModel
from assistant.models.scripted import Reply, ScriptedModel
from assistant.storage.atomic_io import replace_text
from assistant.storage.workspace import Workspace
from assistant.ui.page import start

THEMES = ("light", "dark")
WINDOW_TOKENS = 8_000
PATIENCE_MILLISECONDS = 120_000
_STORY_PATH = Path(__file__).parent / "readme_story.toml"
# Only the box with the conversation moves, not the page.
_SCROLL_TO = """card => {
    let box = card.parentElement;
    const moves = () => box.scrollHeight > box.clientHeight + 1 && getComputedStyle(box).overflowY !== "visible";
    while (!moves()) box = box.parentElement;
    box.scrollTop += card.getBoundingClientRect().top - box.getBoundingClientRect().top - 12;
}"""


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """What the person says, and what is answered."""

    text: str
    reply: str


@dataclass(frozen=True, slots=True)
class ReadmeStory:
    """All that is said in the picture's home; `decision` is what the flush writes, `query` what the model looks up.

    The timetable makes the first message long, so that there is something to fold.
    """

    title: str
    other_titles: list[str]
    user: str
    summary: str
    decision: str
    query: str
    timetable_line: str
    folded: list[SpokenTurn]
    newest: SpokenTurn

    def folded_texts(self) -> list[str]:
        """What the person says before the compaction."""
        times = (f"{hour}:{minute:02}" for hour in range(6, 23) for minute in (1, 21, 41))
        timetable = "\n".join(self.timetable_line.format(time=time) for time in times)
        first, *others = (turn.text for turn in self.folded)
        return [f"{first}\n\n{timetable}", *others]

    def script(self) -> list[Reply]:
        """What the model answers, call by call; the flush takes two of them."""
        flush = _call("add_lines", file="MEMORY.md", heading="Decisions", lines=[self.decision])
        said = ["Done." for _ in self.other_titles] + [turn.reply for turn in self.folded] + [self.summary]
        return [
            *([TextBlock(text=text)] for text in said),
            [flush],
            [TextBlock(text="NO_REPLY")],
            [_call("memory_search", query=self.query)],
            [TextBlock(text=self.newest.reply)],
        ]


def take_readme_pictures(browser: Browser, folder: Path) -> None:
    """Write `page-light.png` and `page-dark.png` into a folder."""
    story = TypeAdapter(ReadmeStory).validate_python(tomllib.loads(_STORY_PATH.read_text(encoding="utf-8")))
    with TemporaryDirectory() as home:
        chosen = {"language": "en", "max_input_length": WINDOW_TOKENS, "memory_reserve_ratio": 0.02}
        settings = Settings.model_validate({"home": home, **chosen})
        server = start(settings, lambda _, address: _open_told(settings, address, story))
        try:
            for theme in THEMES:
                _take(browser, f"{server.url}?__theme={theme}", story, folder / f"page-{theme}.png")
        finally:
            server.close()


@asynccontextmanager
async def _open_told(settings: Settings, address: str, story: ReadmeStory) -> AsyncGenerator[Assistant]:
    """The assistant of a home in which the whole story has been said."""
    workspace = Workspace(settings.home)
    workspace.create("en")
    workspace.bootstrap_path.unlink()
    replace_text(workspace.root / "USER.md", story.user)
    model = ScriptedModel(story.script(), context_size=WINDOW_TOKENS)

    async def connect(_: Settings) -> ChatModel:
        return ChatModel(
            model=model,
            name="your-model",
            provider="openai",
            address="http://127.0.0.1",
            window_tokens=WINDOW_TOKENS,
            vocabulary="bytes",
            is_language_model=True,
            is_fit_for_summaries=True,
            how="The answers of this picture are written beforehand.",
        )

    async with open_assistant(settings, address, connect) as assistant:
        for title in story.other_titles:
            await _say(assistant.conversations.create(title), title)
        conversation = assistant.conversations.create(story.title)
        for text in story.folded_texts():
            await _say(conversation, text)
        conversation.compact()
        await conversation.wait()
        await assistant.flushes.wait()
        await assistant.index.sync()
        await _say(conversation, story.newest.text)
        model.assert_complete()
        yield assistant


async def _say(conversation: Conversation, text: str) -> None:
    conversation.ask(text)
    await conversation.wait()


def _call(tool: str, **arguments: str | list[str]) -> ToolCallBlock:
    return ToolCallBlock(id=f"call-{tool}", name=tool, input=json.dumps(arguments, ensure_ascii=False))


def _take(browser: Browser, address: str, story: ReadmeStory, path: Path) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 960})
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    page = context.new_page()
    page.goto(address)
    page.locator("html.p-settled").wait_for()
    page.locator("#open-right button").click()
    page.locator("#sessions .p-session", has_text=story.title).click()
    page.locator("#chat .p-compaction").last.wait_for()
    page.get_by_text(story.newest.reply.splitlines()[-1]).wait_for()
    page.get_by_text("USER.md", exact=True).first.click()
    page.mouse.move(720, 4)
    page.locator("#chat .p-compaction").last.evaluate(_SCROLL_TO)
    page.wait_for_timeout(800)
    page.screenshot(path=path)
    context.close()
