"""What a card's button does to the conversation it is in. A target that is not pending is refused."""

from __future__ import annotations

import asyncio
import datetime as dt
import secrets
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING

import gradio as gr

from assistant.config.words import say
from assistant.memory.log import Origin
from assistant.ui.cards import card
from assistant.ui.chat.chat_controller import ChatController
from assistant.ui.chat.click import Click
from assistant.ui.chat.compactions_list import PAGE_SIZE, summary_diff_html
from assistant.ui.chat.context_panel import pin_target
from assistant.ui.chat.edit_box import draft_of, question_of
from assistant.ui.chat.entries import Transcript
from assistant.ui.chat.fold import Answered
from assistant.ui.chat.full_text_dialog import full_text_html
from assistant.ui.chat.live import LiveView
from assistant.ui.chat.model_panel import model_tab_html
from assistant.ui.chat.page_updates import listed_compactions, shown_edit_box, suggestions
from assistant.ui.chat.render import answer_text
from assistant.ui.chat.transcript_window import Window, place_of_folded
from assistant.ui.components import PageUpdate
from assistant.ui.form import read_form
from assistant.ui.memory.memory_panel import WRITER

if TYPE_CHECKING:
    # It brings the agent library with it, which the page does not wait for.
    from assistant.assembly.assistant import Assistant
    from assistant.messages.blocks import BlockKey

_SHOW = "/show"


def allow(view: LiveView, target: str) -> bool:
    """Run a call that waits for approval, this once."""
    return _answer(view, Answered(target, True))


def allow_in_conversation(view: LiveView, target: str) -> bool:
    """Run a call that waits for approval, and such calls in this conversation from now on."""
    return _answer(view, Answered(target, True, "conversation"))


def allow_always(view: LiveView, target: str) -> bool:
    """Run a call that waits for approval, and such calls from now on."""
    return _answer(view, Answered(target, True, "always"))


def deny(view: LiveView, target: str) -> bool:
    """Refuse a call that waits for approval, with the words that the person gave for it."""
    form = read_form(target)
    return _answer(view, Answered(form.target, False, why=form.said("why")))


def undo_compaction(view: LiveView, target: str) -> bool:
    """Undo the newest compaction."""
    if target != view.transcript.undoable:
        return False
    view.conversation.undo()
    return True


def retry(view: LiveView, target: str) -> bool:
    """Answer the newest message again."""
    if not _is_last_end(view, target):
        return False
    view.retry()
    return True


def continue_turn(view: LiveView, target: str) -> bool:
    """Go on with a turn that was cut."""
    if not _is_last_end(view, target):
        return False
    view.conversation.continue_turn()
    return True


def show_version(view: LiveView, target: str) -> bool:
    """Let another version of a message or an answer stand in the conversation."""
    place, _, number = target.rpartition(" ")
    part, _, message_id = place.partition(" ")
    known = view.transcript.versions_of(part, message_id)
    if known is None or number not in map(str, range(1, known.count + 1)):
        return False
    view.conversation.show_version(known.part, message_id, int(number))
    return True


def refuse_recall(view: LiveView, target: str) -> bool:
    """Keep a recalled passage out of recall in this conversation."""
    if (line := view.transcript.recalled(target)) is None:
        return False
    view.conversation.refuse_recall(line)
    return True


async def stop(chat: ChatController, click: Click, view: LiveView) -> AsyncIterator[PageUpdate]:
    """Stop the turn that runs."""
    await view.conversation.stop()
    yield chat.follow(click, view)


def latest(_transcript: Transcript, _window: Window) -> Window:
    """The end of the conversation."""
    return Window()


async def show_folded(chat: ChatController, click: Click, view: LiveView) -> AsyncIterator[PageUpdate]:
    """Show the messages that a compaction folded."""
    place = place_of_folded(view.transcript, click.tab.window, click.target)
    if place is None:
        gr.Warning(say("page", "button_gone"))
    yield chat.follow(click, view, place.window, str(place.entry)) if place else chat.follow(click, view)


async def copy_answer(_chat: ChatController, click: Click, view: LiveView) -> PageUpdate | None:
    """Give the browser an answer as it was written."""
    return PageUpdate(copied=_copied(answer_text(view.transcript, click.target)))


async def copy_message(_chat: ChatController, click: Click, view: LiveView) -> PageUpdate | None:
    """Give the browser a message of the person as they wrote it."""
    entry = view.transcript.question(click.target)
    return PageUpdate(copied=_copied(entry.text)) if entry else None


async def branch(chat: ChatController, click: Click, view: LiveView) -> AsyncIterator[PageUpdate]:
    """Open a new conversation that begins with all that stands up to the end of a turn."""
    if view.transcript.question(click.target) is None:
        gr.Warning(say("page", "button_gone"))
        yield PageUpdate()
        return
    conversations = click.loaded.assistant.conversations
    branched = await asyncio.to_thread(conversations.branch, view.conversation.session_id, click.target)
    async for update in chat.open(click, branched):
        yield update


async def edit(_chat: ChatController, click: Click, view: LiveView) -> PageUpdate | None:
    """Open the edit box on a message of the person."""
    entry = view.transcript.question(click.target)
    if not entry:
        return None
    if (question := question_of(view, click.target)) is not None:
        return shown_edit_box(draft_of(view, question), entry.text)
    gr.Warning(say("page", "not_in_context"))
    return PageUpdate()


async def list_older_compactions(_chat: ChatController, click: Click, view: LiveView) -> PageUpdate | None:
    """One page more of the list of compactions."""
    tab = replace(click.tab, compactions=click.tab.compactions + PAGE_SIZE)
    return PageUpdate(tab=tab, compactions=listed_compactions(view, tab))


async def show_summary_diff(_chat: ChatController, click: Click, view: LiveView) -> PageUpdate | None:
    """How a compaction changed the summary."""
    if not view.transcript.has_compaction(click.target):
        return None
    record = await asyncio.to_thread(view.conversation.compaction, click.target)
    if record is None:
        return None
    return PageUpdate(dialog=str(summary_diff_html(record, dt.datetime.now(dt.UTC))))


async def show_full_text(_chat: ChatController, click: Click, view: LiveView) -> PageUpdate | None:
    """The whole of a tool result that was shortened."""
    if click.target not in view.transcript.artifact_ids:
        return None
    text = await asyncio.to_thread(click.loaded.assistant.store.artifacts.read, click.target)
    return PageUpdate(dialog=str(full_text_html(click.target, text)))


async def pin(chat: ChatController, click: Click, view: LiveView) -> PageUpdate | None:
    """Pin a piece of the context."""
    if (key := _pin_key(view, click.target)) is None:
        return None
    view.conversation.pin(key)
    return _measured_again(chat, click, view)


async def unpin(chat: ChatController, click: Click, view: LiveView) -> PageUpdate | None:
    """Unpin a piece of the context."""
    if (key := _pin_key(view, click.target)) is None:
        return None
    view.conversation.unpin(key)
    return _measured_again(chat, click, view)


async def undo_change(chat: ChatController, click: Click, view: LiveView) -> PageUpdate | None:
    """Take a change of a memory file back."""
    if click.target not in view.transcript.change_ids:
        return None
    session_id = click.tab.session_id
    notes = click.loaded.of(session_id).assistant.notes
    # The conversation shows it like any other change.
    if await asyncio.to_thread(notes.undo, click.target, Origin(WRITER, session_id)) is None:
        gr.Info(say("page", "change_gone"))
    return chat.tabs.update(click.loaded, view, click.tab)


async def open_conversation(chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """Open a conversation, at the messages that a hit names."""
    session_id, *message_ids = click.target.split(" ")
    async for update in chat.open(click, session_id, message_ids):
        yield update


async def show_sample(chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """Play the sample conversation."""
    async for update in chat.send(_SHOW, click.tab, click.tab_hash):
        yield update


async def send_message(chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """Send a message; before it is the number under which the tab sent it, with a colon and each file of it."""
    head, _, text = click.target.partition(" ")
    number, *file_ids = head.split(":")
    async for update in chat.send(text, click.tab, click.tab_hash, number, file_ids):
        yield update


async def draw_all(chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """Send all of the conversation again."""
    yield chat.draw_all(click)


async def catch_up(chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """What the tab does not show yet."""
    yield chat.news(click.loaded, click.tab, click.tab_hash)


async def close_dialog(_chat: ChatController, _click: Click) -> AsyncIterator[PageUpdate]:
    """Close the dialog over the page."""
    yield PageUpdate(dialog="")


async def suggest(_chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """Put a suggestion into the composer."""
    found = (text for number, text in enumerate(suggestions()) if click.target == str(number))
    yield PageUpdate(composer=next(found, ""))


async def switch_recall(chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """Switch recall on or off."""
    click.loaded.assistant.is_recall_on = click.target == "on"
    yield PageUpdate(model=model_tab_html(click.loaded.assistant, chat.tabs.report))


async def reconnect(assistant: Assistant) -> None:
    """Look for a model again."""
    await assistant.reconnect_model()


def _copied(text: str) -> str:
    # To copy the same text twice must be two changes for the browser to see.
    return str(card("copied", text=text, nonce=secrets.token_hex(4)))


def _answer(view: LiveView, answered: Answered) -> bool:
    request = view.transcript.pending(answered.call_id)
    if request is None or (answered.scope is not None and answered.scope not in request.scopes):
        return False
    view.answer(answered)
    return True


def _is_last_end(view: LiveView, turn_id: str) -> bool:
    last_end = view.transcript.last_end
    return last_end is not None and turn_id == last_end.turn_id and not view.is_running


def _pin_key(view: LiveView, target: str) -> BlockKey | None:
    items = [item for item in view.conversation.context_items() if item.is_user or item.is_pinned]
    return next((item.key for item in items if item.key and pin_target(item) == target), None)


def _measured_again(chat: ChatController, click: Click, view: LiveView) -> PageUpdate:
    view.conversation.measure()
    view.touch()
    return chat.tabs.update(click.loaded, view, click.tab)
