"""Who answers, in the composer: the profile of the conversation, and the others to choose from."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING

from assistant.config.profiles import MAIN
from assistant.ui.cards import card
from assistant.ui.chat.click import Click
from assistant.ui.components import PageUpdate
from assistant.ui.setup.profile_rows import ProfileRow, profile_rows

if TYPE_CHECKING:
    # They bring the agent library with them, which the page does not wait for.
    from assistant.assembly.assistant import Assistant
    from assistant.conversation.conversation import Conversation
    from assistant.ui.chat.chat_controller import ChatController


def picker_html(assistant: Assistant, conversation: Conversation | None, profile: str | None = None) -> str:
    """Who answers in a conversation; without one, by which profile the next one is to begin (None: the default)."""
    rows, is_away = profile_rows(assistant), assistant.model.is_stand_in
    if conversation is not None:
        known = (MAIN, *conversation.profiles.names)
        # The sample conversation lives in a home of its own.
        rows = [row for row in rows if row.name in known]
        profile, is_away = conversation.profile, conversation.model.is_stand_in
    elif profile is None or assistant.profiles.named(profile) is None:
        profile = MAIN if profile == MAIN else _default(assistant)
    # What was chosen stands there also while no profile can be read.
    chosen = next((row for row in rows if row.name == profile), ProfileRow(profile, profile, "", False))
    return str(
        card("model_picker", rows=rows, chosen=chosen, is_away=is_away, may_make_more=assistant.own_settings.is_owner)
    )


def answers_as(assistant: Assistant, conversation: Conversation | None, profile: str | None) -> tuple[str, bool]:
    """How whoever answers is called beside the title, and whether it is a language model."""
    if conversation is not None:
        return conversation.profile or conversation.model.name, conversation.model.is_language_model
    name = _default(assistant) if profile is None else profile
    # Of a profile that was not connected yet nothing else is known.
    return name or assistant.model.name, bool(name) or assistant.model.is_language_model


async def choose_profile(chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """Let another profile answer from the next turn on, or begin the next conversation with it."""
    tab = click.tab
    if tab.session_id:
        view = chat.tabs.view(click.loaded, tab.session_id)
        view.conversation.choose_profile(click.target)
        yield chat.follow(click, view)
        return
    # The conversation comes into being with its first message.
    yield chat.tabs.empty_update(click.loaded, replace(tab, profile=click.target))


def _default(assistant: Assistant) -> str:
    """The profile that answers in a new conversation; the settings' own where the default is the name of none."""
    profiles = assistant.profiles
    default = profiles.named(profiles.default)
    return default.name if default else MAIN
