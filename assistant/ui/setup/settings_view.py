"""The settings view over the page: its sections, what is saved in each, and what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.config.words import say
from assistant.errors import PalimpsestError
from assistant.models.connection_report import ConnectionReport
from assistant.ui.cards import card
from assistant.ui.chat.click import Click
from assistant.ui.components import PageUpdate
from assistant.ui.form import Form, read_form
from assistant.ui.setup.allowed_rows import allowed_rows, damaged_name
from assistant.ui.setup.choices import model_choice, who_answers
from assistant.ui.setup.profile_rows import ProfileFields, profile_rows
from assistant.ui.setup.setting_rows import SECTIONS, Section, changed_settings, section_of, setting_rows

if TYPE_CHECKING:
    # They bring the agent library with them, which the page does not wait for.
    from assistant.assembly.assistant import Assistant
    from assistant.ui.chat.chat_controller import ChatController


@dataclass(frozen=True, slots=True)
class HomeSize:
    """Where a home is, and how much is in it."""

    path: Path
    megabytes: float
    conversations: int
    trashed: int


async def open_settings(_chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """Show a section of the settings."""
    section = section_of(click.target)
    assistant = click.loaded.assistant
    if section == "models" and assistant.own_settings.is_owner and not assistant.own_settings.fixes_model:
        await assistant.own_settings.look_around()
    yield await shown_settings(assistant, section)


async def save_settings(chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """Keep what was changed in a section; it counts at once where it can."""
    assistant, form = click.loaded.assistant, read_form(click.target)
    section = section_of(form.target)
    try:
        changes = changed_settings(form, assistant.settings, section)
        report = await _save(assistant, section, changes)
        if report.is_ok and "language" in changes:
            yield PageUpdate(dialog=str(card("load_again")))
            return
    except (PalimpsestError, OSError) as error:
        report = ConnectionReport(False, str(error))
    yield chat.whole(click.loaded, click.tab) | await shown_settings(assistant, section, report)


async def revoke_call(_chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """Ask again about what was allowed for longer; the target is the conversation, if it is one's, and the id."""
    assistant = click.loaded.assistant
    session_id, _, allowance_id = click.target.rpartition(" ")
    try:
        if session_id:
            conversation = assistant.conversations.opened(session_id)
            is_revoked = conversation is not None and conversation.allowances.revoke(allowance_id)
        else:
            is_revoked = assistant.store.allowed_calls.revoke(allowance_id)
        report = ConnectionReport(is_revoked, say("page_setup", "revoked" if is_revoked else "nothing_revoked"))
    except (PalimpsestError, OSError) as error:
        report = ConnectionReport(False, str(error))
    yield await shown_settings(assistant, "tools", report)


async def choose_model(chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """Try the chosen model, and go on with it where it answers."""
    assistant, form = click.loaded.assistant, read_form(click.target)
    yield await shown_settings(assistant, "models", is_trying=True, form=form)
    try:
        report = await _choose(assistant, form)
    except (PalimpsestError, OSError) as error:
        report = ConnectionReport(False, str(error))
    yield chat.whole(click.loaded, click.tab) | await shown_settings(assistant, "models", report, form=form)


async def _choose(assistant: Assistant, form: Form) -> ConnectionReport:
    own, choice = assistant.own_settings, model_choice(form, assistant.settings)
    report = None
    if choice.provider != "offline":
        trial = await own.try_model(choice)
        if not trial.is_usable:
            return trial.report
        report = trial.report
    kept = await _save(assistant, "models", choice.changes())
    return report if report and kept.is_ok else kept


async def _save(assistant: Assistant, section: Section, changes: dict[str, str]) -> ConnectionReport:
    """Write and use the changes; a turn that runs is not cut for them."""
    if is_turn_running(assistant):
        return ConnectionReport(False, say("page", "turn_is_running"))
    own = assistant.own_settings
    if changes:
        await own.keep(changes)
        await assistant.take_settings()
        if "recall" in changes:
            assistant.is_recall_on = assistant.settings.recall == "on"
    needs_restart = own.needs_restart(changes)
    return ConnectionReport(True, say("page_setup", "saved_for_restart" if needs_restart else "saved"))


def is_turn_running(assistant: Assistant) -> bool:
    """True while a conversation that is open is at work."""
    return any(one.is_running for one in assistant.conversations.all_open())


async def shown_settings(
    assistant: Assistant,
    section: Section,
    report: ConnectionReport | None = None,
    *,
    is_trying: bool = False,
    form: Form | None = None,
    profile: ProfileFields | None = None,
    leaving: str = "",
) -> PageUpdate:
    """A section of the settings, with what came of the last click; among the models the form of one `profile`.

    It is asked whether the profile `leaving` is to be removed.
    """
    size = await asyncio.to_thread(_size_of, assistant) if section == "data" else None
    view = card(
        "settings_view",
        sections=[(name, say("page_setup", f"section_{name}")) for name in SECTIONS],
        section=section,
        title=say("page_setup", f"section_{section}"),
        rows=setting_rows(assistant.settings, section),
        who=who_answers(assistant, "settings", form) if section == "models" else None,
        model=assistant.model,
        profiles=profile_rows(assistant, leaving) if section == "models" else [],
        profiles_problem=assistant.profiles.problem,
        profile=profile,
        policy=assistant.policy,
        size=size,
        allowed=allowed_rows(assistant) if section == "tools" else [],
        damaged=damaged_name(assistant) if section == "tools" else "",
        path=assistant.own_settings.path,
        may_change=assistant.own_settings.is_owner,
        report=report,
        is_trying=is_trying,
    )
    return PageUpdate(dialog=str(view))


def _size_of(assistant: Assistant) -> HomeSize:
    root = assistant.workspace.root
    found = [path.stat().st_size for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    conversations = assistant.conversations
    return HomeSize(root, sum(found) / 1e6, len(conversations.summaries()), len(conversations.trashed()))
