"""The profiles in the settings: made, tried, edited, removed, and one of them for new conversations."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from assistant.config.words import say
from assistant.errors import PalimpsestError
from assistant.models.connection_report import ConnectionReport
from assistant.ui.chat.click import Click
from assistant.ui.components import PageUpdate
from assistant.ui.form import Form, read_form
from assistant.ui.setup.profile_rows import profile_choice, profile_fields
from assistant.ui.setup.settings_view import is_turn_running, shown_settings

if TYPE_CHECKING:
    # They bring the agent library with them, which the page does not wait for.
    from assistant.assembly.assistant import Assistant
    from assistant.ui.chat.chat_controller import ChatController


async def edit_profile(_chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """Open the form of a profile, or of a new one."""
    assistant = click.loaded.assistant
    await assistant.own_settings.look_around()
    fields = profile_fields(assistant, click.target) if assistant.own_settings.is_owner else None
    yield await shown_settings(assistant, "models", profile=fields)


async def keep_profile(chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """Try the model of a profile, and keep the profile where it answers."""
    assistant, form = click.loaded.assistant, read_form(click.target)
    filled_in = profile_fields(assistant, form.target, form)
    yield await shown_settings(assistant, "models", is_trying=True, profile=filled_in)
    try:
        report = await _keep(assistant, form)
    except (PalimpsestError, OSError) as error:
        report = ConnectionReport(False, str(error))
        yield await shown_settings(assistant, "models", report, profile=filled_in)
        return
    yield chat.whole(click.loaded, click.tab) | await shown_settings(assistant, "models", report)


async def ask_remove_profile(_chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """Ask before a profile and its key are removed."""
    yield await shown_settings(click.loaded.assistant, "models", leaving=click.target)


async def remove_profile(chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """Take a profile out, with its key."""
    assistant = click.loaded.assistant
    try:
        _refuse_in_turn(assistant)
        await assistant.own_profiles.remove(click.target)
        await assistant.take_profiles()
        report = ConnectionReport(True, say("page_setup", "profile_removed", name=click.target))
    except (PalimpsestError, OSError) as error:
        report = ConnectionReport(False, str(error))
    yield chat.whole(click.loaded, click.tab) | await shown_settings(assistant, "models", report)


async def begin_with_profile(chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """Let a profile answer in new conversations."""
    assistant = click.loaded.assistant
    try:
        await assistant.own_profiles.begin_with(click.target)
        report = ConnectionReport(True, say("page_setup", "saved"))
    except (PalimpsestError, OSError) as error:
        report = ConnectionReport(False, str(error))
    yield chat.whole(click.loaded, click.tab) | await shown_settings(assistant, "models", report)


async def _keep(assistant: Assistant, form: Form) -> ConnectionReport:
    """What came of the trial; raises `PalimpsestError` where nothing is kept, and says why."""
    _refuse_in_turn(assistant)
    own, choice = assistant.own_profiles, profile_choice(assistant, form)
    replaced = assistant.profiles.named(form.target)
    profile = own.made_of(choice, replaced)
    report = ConnectionReport(True, say("page_setup", "saved"))
    if profile.provider != "offline":
        trial = await own.try_out(assistant.settings, profile, choice.model.key)
        if not trial.is_usable:
            raise PalimpsestError(trial.report.text)
        report = trial.report
    _refuse_in_turn(assistant)
    await own.keep(profile, choice.model.key, replaced)
    await assistant.take_profiles()
    return report


def _refuse_in_turn(assistant: Assistant) -> None:
    if is_turn_running(assistant):
        raise PalimpsestError(say("page", "turn_is_running"))
