"""The box in which a message is edited; it says what leaves the context with the old message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from assistant.ui.cards import card
from assistant.ui.chat.live import LiveView

if TYPE_CHECKING:
    # It brings the agent library with it, which the page does not wait for.
    from assistant.conversation.conversation import Question


@dataclass(frozen=True, slots=True)
class Draft:
    """The message that is edited (empty: none), and how many later ones leave, as the person has seen it."""

    session_id: str = ""
    message_id: str = ""
    later_messages: int = 0


def question_of(view: LiveView, message_id: str) -> Question | None:
    """The message where it can be edited."""
    questions = (question for question in view.conversation.questions() if question.message_id == message_id)
    return next(questions, None)


def draft_of(view: LiveView, question: Question) -> Draft:
    """A draft of this message as the conversation is now."""
    return Draft(view.conversation.session_id, question.message_id, question.later_messages)


def note_html(draft: Draft) -> Markup:
    """What sending again takes out of the context, in plain words."""
    return card("edit_note", later=draft.later_messages)
