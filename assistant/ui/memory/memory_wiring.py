"""What happens on each event of the Memory tab. Every argument is checked by the controller that receives it."""

from __future__ import annotations

import asyncio
import html
from collections.abc import AsyncIterator
from dataclasses import dataclass

import gradio as gr

from assistant.config.words import say
from assistant.errors import PalimpsestError
from assistant.ui.actions import memory_action
from assistant.ui.chat.chat_controller import show_refusals
from assistant.ui.chat.tab import Tab
from assistant.ui.components import EditorComponents, MemoryComponents, PageComponents, PageUpdate, outputs_of
from assistant.ui.event_values import QUEUED, QUICK, Values, action_of, tab_of
from assistant.ui.memory.memory_actions import FileAction, MemoryClick
from assistant.ui.memory.memory_panel import MemoryController, MemoryUpdate
from assistant.ui.memory.open_files import OpenFile
from assistant.ui.memory.task import Task
from assistant.ui.server.loading import Loaded
from assistant.ui.server.user_sessions import UserSession, UserSessions

# With the editor's words comes what the editor was given, so that they never count for another file; the words stay
# away where they are just that, for a file may have megabytes.
_HELD_JS = "async (words, tab) => [await window.palimpsest.held(words), tab]"
_UNTOUCHED = "untouched"
# No editor was ever given these.
_OTHER_WORDS = "\0"


def wire_memory(demo: gr.Blocks, page: PageComponents, users: UserSessions) -> None:
    """Connect the Memory tab to the controllers of the user session of each request."""
    _wire_cards(page, users)
    _wire_editor(demo, page, users)
    _wire_save(page, users)


def _wire_cards(page: PageComponents, users: UserSessions) -> None:
    async def act(
        words: str | None, task: Task, tab: Tab, request: gr.Request, event: gr.EventData
    ) -> AsyncIterator[Values]:
        acted = carry_out(words or "", task, tab, users.enter(request), tab_of(request), event)
        async for update in show_refusals(acted):
            yield update.values_of(MemoryComponents)

    async def carry_out(
        words: str, task: Task, tab: Tab, user: UserSession, tab_hash: str, event: gr.EventData
    ) -> AsyncIterator[PageUpdate]:
        pressed = action_of(event)
        loaded = (await user.loading.ready()).of(tab.session_id)
        action = memory_action(pressed.name)
        async with user.files.lock(tab_hash):
            file = user.files.of(tab_hash)
            click = MemoryClick(loaded, pressed.target, file, words, task)
            is_wordless = isinstance(action, FileAction) and not action.needs_words
            if not is_wordless and pressed.given != file.given:
                gr.Warning(say("page", "editor_changing"))
                yield PageUpdate()
                return
            if isinstance(action, FileAction):
                update = await asyncio.to_thread(action.run, user.memory, click)
                yield _other_file() if update is None else _keep(user, tab_hash, update) | _front(action.opens)
                return
        is_known = False
        if action is not None:
            async for shown in action.run(user.tasks, click):
                is_known = True
                yield shown | _front(True)
        if not is_known:
            yield _other_file()

    page.memory_actions.select(act, [page.editor, page.task, page.tab], outputs_of(page, MemoryComponents), **QUEUED)


def _front(comes: bool) -> PageUpdate:
    """The Memory tab comes to the front."""
    return PageUpdate(tabs=gr.Tabs(selected="memory")) if comes else PageUpdate()


def _other_file() -> PageUpdate:
    gr.Warning(say("page", "button_of_other_file"))
    return PageUpdate()


def _wire_editor(demo: gr.Blocks, page: PageComponents, users: UserSessions) -> None:
    outputs, inputs = outputs_of(page, EditorComponents), [page.editor, page.tab]

    async def load(request: gr.Request) -> AsyncIterator[Values]:
        user, tab_hash = users.enter(request), tab_of(request)
        try:
            loaded = await user.loading.ready()
            async with user.files.lock(tab_hash):
                first = await asyncio.to_thread(user.memory.poll, loaded, OpenFile(), None)
                yield _keep(user, tab_hash, first).values_of(EditorComponents)
        except PalimpsestError:
            # The conversation's side of the page says why.
            yield PageUpdate().values_of(EditorComponents)

    async def poll(sent: str | None, tab: Tab, request: gr.Request) -> Values:
        user = users.entered(request)
        loaded = user.loading.loaded if user else None
        if user is None or loaded is None:
            return PageUpdate().values_of(EditorComponents)
        update = await look(user, loaded.of(tab.session_id), tab_of(request), _held(sent))
        return update.values_of(EditorComponents)

    async def look(user: UserSession, loaded: Loaded, tab_hash: str, held: _Held) -> PageUpdate:
        async with user.files.lock(tab_hash):
            update = await _looked(user, loaded, tab_hash, held)
            return PageUpdate() if update is None else _keep(user, tab_hash, update)

    demo.load(load, None, outputs, **QUEUED)
    page.news.select(poll, inputs, outputs, js=_HELD_JS, **QUICK)


async def has_memory_news(user: UserSession, loaded: Loaded, tab_hash: str, given: str, is_edited: bool) -> bool:
    """Whether the Memory tab would show something else; `given` and `is_edited` say what its editor holds."""
    async with user.files.lock(tab_hash):
        update = await _looked(user, loaded, tab_hash, _Held(given, _OTHER_WORDS if is_edited else None))
        return update is not None and bool(update.page)


async def _looked(user: UserSession, loaded: Loaded, tab_hash: str, held: _Held) -> MemoryUpdate | None:
    """How the file of a tab is now; None where the answer to an earlier event has not reached the browser yet."""
    file = user.files.of(tab_hash)
    if file.name and held.given != file.given:
        return None
    return await asyncio.to_thread(_look, user.memory, loaded, file, held)


def _wire_save(page: PageComponents, users: UserSessions) -> None:
    async def save(sent: str | None, tab: Tab, request: gr.Request) -> AsyncIterator[Values]:
        async for update in show_refusals(carry_out(_held(sent), users.enter(request), tab_of(request))):
            yield update.values_of(EditorComponents)

    async def carry_out(held: _Held, user: UserSession, tab_hash: str) -> AsyncIterator[PageUpdate]:
        loaded = await user.loading.ready()
        async with user.files.lock(tab_hash):
            file = user.files.of(tab_hash)
            if held.given != file.given:
                gr.Warning(say("page", "editor_changing"))
                yield PageUpdate()
            else:
                yield _keep(user, tab_hash, await asyncio.to_thread(user.memory.save, loaded, file, held.words))

    outputs = outputs_of(page, EditorComponents)
    page.save.click(save, [page.editor, page.tab], outputs, js=_HELD_JS, **QUEUED)


def _keep(user: UserSession, tab_hash: str, update: MemoryUpdate) -> PageUpdate:
    """What changes on the page; the file of the update is the tab's from now on."""
    user.files.keep(tab_hash, update.file)
    if update.problem:
        gr.Warning(html.escape(update.problem))
    return update.page


@dataclass(frozen=True, slots=True)
class _Held:
    """What an editor was given last, by its mark, and its words where they are others."""

    given: str = ""
    words: str | None = None


def _held(sent: str | None) -> _Held:
    given, _, rest = (sent or "").partition("\n")
    kind, _, words = rest.partition("\n")
    return _Held(given, None if kind == _UNTOUCHED else words)


def _look(controller: MemoryController, loaded: Loaded, file: OpenFile, held: _Held) -> MemoryUpdate:
    if not file.name and held.given:
        # The session was closed meanwhile, or the program restarted: only the browser has what was typed.
        return controller.take_up(loaded, file, held.given, held.words)
    return controller.poll(loaded, file, held.words)
