"""What each button of the page does: one table for the conversation's side, one for the Memory tab."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING

import gradio as gr

from assistant.config.words import say
from assistant.errors import PalimpsestError
from assistant.models.connection_report import ConnectionReport
from assistant.ui.action_names import ChatAction, MemoryAction
from assistant.ui.chat import card_actions, keyboard, list_actions, model_picker, sessions_panel
from assistant.ui.chat.action_kinds import ChatMethod, changing, listing, moving, on_conversation, reporting, showing
from assistant.ui.chat.chat_controller import ChatController
from assistant.ui.chat.click import Click
from assistant.ui.chat.tab import Tab
from assistant.ui.chat.transcript_window import earlier_window
from assistant.ui.components import PageUpdate
from assistant.ui.memory import memory_actions
from assistant.ui.memory.memory_actions import FileAction, TaskAction
from assistant.ui.setup import first_run, profile_view, settings_view

if TYPE_CHECKING:
    # It brings the agent library with it, which the page does not wait for.
    from assistant.assembly.assistant import Assistant


async def _test_connection(assistant: Assistant) -> ConnectionReport:
    return await assistant.test_connection()


CHAT_ACTIONS: Mapping[ChatAction, ChatMethod] = {
    # A tool call, a turn, a compaction.
    "allow": changing(card_actions.allow),
    "allow-conversation": changing(card_actions.allow_in_conversation),
    "allow-always": changing(card_actions.allow_always),
    "deny": changing(card_actions.deny),
    "stop": on_conversation(card_actions.stop),
    "retry": changing(card_actions.retry, at_rest=True),
    "version": changing(card_actions.show_version, at_rest=True),
    "branch": on_conversation(card_actions.branch, at_rest=True),
    "continue": changing(card_actions.continue_turn, at_rest=True),
    "undo": changing(card_actions.undo_compaction),
    "refuse-recall": changing(card_actions.refuse_recall),
    # A message, a part of the conversation.
    "send": card_actions.send_message,
    "catch-up": card_actions.catch_up,
    "draw-all": card_actions.draw_all,
    "copy": showing(card_actions.copy_answer),
    "copy-message": showing(card_actions.copy_message),
    "edit": showing(card_actions.edit, at_rest=True),
    "earlier": moving(earlier_window),
    "latest": moving(card_actions.latest),
    "transcript": on_conversation(card_actions.show_folded),
    # The keyboard.
    "list-commands": keyboard.list_commands,
    "open-keys": keyboard.open_keys,
    # What is behind a card.
    "full-text": showing(card_actions.show_full_text),
    "summary-diff": showing(card_actions.show_summary_diff),
    "older-compactions": showing(card_actions.list_older_compactions),
    "close-text": card_actions.close_dialog,
    # The context and memory.
    "pin": showing(card_actions.pin),
    "unpin": showing(card_actions.unpin),
    "undo-change": showing(card_actions.undo_change),
    # The list of conversations and the trash.
    "open-session": card_actions.open_conversation,
    "open-message": card_actions.open_conversation,
    "rename-session": listing(sessions_panel.rename),
    "pin-session": listing(sessions_panel.pin),
    "unpin-session": listing(sessions_panel.unpin),
    "trash-session": listing(sessions_panel.move_to_trash),
    "restore-session": listing(sessions_panel.restore),
    "open-trash": listing(sessions_panel.open_trash),
    "ask-empty-trash": listing(sessions_panel.ask_empty_trash),
    "empty-trash": listing(sessions_panel.empty_trash),
    "list-older": list_actions.list_older,
    "list-newer": list_actions.list_newer,
    "list-newest": list_actions.list_newest,
    "list-named": list_actions.list_named,
    "list-from": list_actions.list_from,
    # A new home, a new conversation.
    "begin": first_run.begin,
    "look-around": first_run.look_around,
    # The settings.
    "choose-model": settings_view.choose_model,
    "edit-profile": profile_view.edit_profile,
    "keep-profile": profile_view.keep_profile,
    "ask-remove-profile": profile_view.ask_remove_profile,
    "remove-profile": profile_view.remove_profile,
    "begin-with-profile": profile_view.begin_with_profile,
    "open-settings": settings_view.open_settings,
    "save-settings": settings_view.save_settings,
    "revoke-call": settings_view.revoke_call,
    "show": card_actions.show_sample,
    "suggest": card_actions.suggest,
    # The model.
    "choose-profile": model_picker.choose_profile,
    "recall": card_actions.switch_recall,
    "reconnect": reporting(card_actions.reconnect),
    "test": reporting(_test_connection),
}

MEMORY_ACTIONS: Mapping[MemoryAction, FileAction | TaskAction] = {
    # The open file.
    "open-file": FileAction(memory_actions.open_file, opens=True),
    "open-hit": FileAction(memory_actions.open_hit, opens=True),
    "notes-day": FileAction(memory_actions.open_day),
    "notes-today": FileAction(memory_actions.open_today),
    "memory-preview": FileAction(memory_actions.preview),
    "memory-source": FileAction(memory_actions.end_preview, needs_words=False),
    "notes-month": FileAction(memory_actions.toggle_month, needs_words=False),
    "memory-reload": FileAction(memory_actions.reload),
    "memory-diff": FileAction(memory_actions.show_disk, needs_words=False),
    "memory-history": FileAction(memory_actions.toggle_history, needs_words=False),
    "memory-restore": FileAction(memory_actions.restore),
    "memory-overwrite": FileAction(memory_actions.keep_mine),
    "memory-both": FileAction(memory_actions.keep_both),
    # The task cards.
    "work-close": TaskAction(memory_actions.close_card),
    "memory-line": TaskAction(memory_actions.show_line),
    "tidy-file": TaskAction(memory_actions.tidy),
    "tidy-accept": TaskAction(memory_actions.accept_tidying),
    "pending-open": TaskAction(memory_actions.list_pending),
    "pending-look": TaskAction(memory_actions.consolidate),
    "pending-keep": TaskAction(memory_actions.keep_pending),
    "pending-drop": TaskAction(memory_actions.drop_pending),
    "forget-words": TaskAction(memory_actions.ask_words),
    "forget-change": TaskAction(memory_actions.forget_change),
    "forget-line": TaskAction(memory_actions.find_line),
    "forget-find": TaskAction(memory_actions.find_words),
    "forget-now": TaskAction(memory_actions.forget),
}

ACTIONS = {**CHAT_ACTIONS, **MEMORY_ACTIONS}
"""Every button of the page that asks the server for something."""


async def act_in_chat(
    chat: ChatController, name: str, target: str, tab: Tab, tab_hash: str
) -> AsyncIterator[PageUpdate]:
    """What a button of the conversation's side does. The name comes from a browser: an unknown one is refused."""
    try:
        loaded = await chat.loaded()
    except PalimpsestError:
        # A message that cannot be sent goes back into the composer.
        yield PageUpdate(composer=target.partition(" ")[2]) if name == "send" else PageUpdate()
        raise
    act = next((method for known, method in CHAT_ACTIONS.items() if known == name), None)
    if act is None:
        gr.Warning(say("page", "button_gone"))
        yield PageUpdate()
        return
    async for update in act(chat, Click(loaded, target, tab, tab_hash)):
        yield update


def memory_action(name: str) -> FileAction | TaskAction | None:
    """What a button of the Memory tab does; None for an unknown name."""
    return next((action for known, action in MEMORY_ACTIONS.items() if known == name), None)
