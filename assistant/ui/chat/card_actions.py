"""What a card's button does to the conversation it stands in. A target the server does not know is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gradio as gr

from assistant.memory.log import Origin
from assistant.ui.chat.context_panel import pin_target
from assistant.ui.chat.entries import Transcript
from assistant.ui.chat.live import LiveView
from assistant.ui.chat.window import Window, earlier_window
from assistant.ui.memory.memory_panel import WRITER

if TYPE_CHECKING:
    # It brings the agent library with it, which the page does not wait for.
    from assistant.assembly.assistant import Assistant


def change(view: LiveView, name: str, target: str) -> bool:
    """Do what the button says; False when its target is not pending."""
    transcript = view.transcript
    last_end = transcript.last_end
    match name:
        case "allow" | "deny" if target in transcript.pending_calls:
            view.answer(target, name == "allow")
        case "undo" if target == transcript.undoable:
            view.conversation.undo()
        case "retry" if last_end and target == last_end.turn_id and not view.is_running:
            view.retry()
        case "continue" if last_end and target == last_end.turn_id and not view.is_running:
            view.conversation.continue_turn()
        case _:
            return False
    return True


def pin(view: LiveView, name: str, target: str) -> bool:
    """Pin or unpin a piece of the context; False when it is not there any more."""
    conversation = view.conversation
    items = [item for item in conversation.context_items() if item.is_user or item.is_pinned]
    key = next((item.key for item in items if item.key and pin_target(item) == target), None)
    if key is None:
        return False
    if name == "pin":
        conversation.pin(key)
    else:
        conversation.unpin(key)
    conversation.measure()
    view.touch()
    return True


def undo_change(assistant: Assistant, change_id: str, session_id: str) -> None:
    """Take a change of a memory file back."""
    # It is told in the conversation as any other change.
    if assistant.notes.undo(change_id, Origin(WRITER, session_id)) is None:
        gr.Info("Nothing of that change is left: it was undone or written over before.")


def moved_window(transcript: Transcript, window: Window, name: str) -> Window | None:
    """The part to draw after a click; None when the button moves nothing."""
    match name:
        case "earlier":
            return earlier_window(transcript, window)
        case "latest":
            return Window()
        case _:
            return None
