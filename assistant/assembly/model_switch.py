"""Which profile answers in one conversation: chosen, kept with its session, taken before its next turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from assistant.agent.session_state import SessionState, Usage
from assistant.assembly.answering_models import Models
from assistant.assembly.profile_models import ProfileModels
from assistant.config.profiles import MAIN, Profiles, is_main, no_profile, shown_name
from assistant.config.words import say
from assistant.conversation.answering import Answering
from assistant.conversation.event_log import EventLog
from assistant.errors import ModelError, SettingsError
from assistant.messages.attached_blocks import picture_name
from assistant.messages.blocks import ThinkingBlock
from assistant.messages.events import Notice
from assistant.models.chat_model import connect_offline


@dataclass(frozen=True, slots=True)
class ModelSources:
    """What answers by the settings now, what answers by each profile, and what makes a conversation work with one."""

    main: Callable[[], Models]
    profiles: ProfileModels
    build: Callable[[SessionState, EventLog, Models], Answering]


class SessionModel:
    """The models of one conversation. A profile is connected before the first thing that needs its model."""

    def __init__(self, state: SessionState, events: EventLog, sources: ModelSources) -> None:
        self._state = state
        self._events = events
        self._sources = sources
        self._told_gone = ""
        self._left: Models | None = None
        self._models = self._ready()

    @property
    def profiles(self) -> Profiles:
        """What can be chosen beside the settings' own."""
        return self._sources.profiles.profiles

    @property
    def chosen(self) -> str:
        """The profile that is to answer; the settings' own, too, where the chosen one is known to be gone."""
        name, profiles = self._state.profile, self.profiles
        if profiles.problem:
            return name
        profile = profiles.named(name)
        return profile.name if profile else MAIN

    def choose(self, name: str) -> None:
        """Let this profile answer from the next turn on; raises `SettingsError` where there is none of that name."""
        profiles = self.profiles
        profile = profiles.named(name)
        if profile is None and not is_main(name):
            raise no_profile(name, profiles)
        self._state.choose_profile(profile.name if profile else MAIN)
        self._left = self._models

    def first(self) -> Answering:
        """What the conversation begins with: its profile's model where that is connected, else the settings' own."""
        self._tell_gone()
        return self._built()

    async def renewed(self) -> Answering | None:
        """What to go on with where another model is to answer than does now; None where all stays as it is."""
        models = await self._wanted()
        left, self._left = self._left, None
        if models is self._models:
            return None
        if self._models.answering.is_stand_in:
            left = left or self._models
        self._models = models
        # It was counted by another model.
        self._state.usage = Usage()
        if left is not None and self._state.context and not models.answering.is_stand_in:
            self._events.emit(Notice(self._told_change(left, models), "info"))
        return self._built()

    def _built(self) -> Answering:
        self._state.sees_pictures = self._models.answering.sees_pictures
        return self._sources.build(self._state, self._events, self._models)

    def _ready(self) -> Models:
        profile = self.profiles.named(self._state.profile)
        return (profile and self._sources.profiles.connected(profile)) or self._sources.main()

    async def _wanted(self) -> Models:
        self._tell_gone()
        name, profiles = self._state.profile, self.profiles
        if name and profiles.problem:
            return self._stand_in(name, profiles.problem)
        if (profile := profiles.named(name)) is None:
            return self._sources.main()
        try:
            return await self._sources.profiles.of(profile)
        except (ModelError, SettingsError) as error:
            return self._stand_in(profile.name, str(error))

    def _stand_in(self, name: str, reason: str) -> Models:
        """The built-in assistant: what was chosen may be chosen so that no other server reads along."""
        told = say("models", "profile_away", profile=name, reason=reason)
        if self._models.answering.is_stand_in and self._models.answering.how == told:
            return self._models
        self._events.emit(Notice(told))
        main = self._sources.main()
        stand_in = replace(connect_offline(main.settings, told), is_stand_in=True)
        return replace(main, answering=stand_in, compacting=None)

    def _tell_gone(self) -> None:
        """Once, that the chosen profile is gone, or that nobody knows what was to answer in a new conversation."""
        name, profiles = self._state.profile, self.profiles
        if name and not profiles.problem and profiles.named(name) is None:
            told = say("models", "profile_gone", profile=name, name=self._sources.main().answering.name)
        else:
            told = "" if name else profiles.problem
        if told and told != self._told_gone:
            self._told_gone = told
            self._events.emit_kept(Notice(told))

    def _told_change(self, left: Models, now: Models) -> str:
        """Who answers from here on, and what that changes in this conversation."""
        before, after = left.answering, now.answering
        blocks = [block for message in self._state.context for block in message.content]
        figures = {"window": now.policy.max_input_length, "before": left.policy.max_input_length}
        is_foreign = (before.provider, before.address, before.name) != (after.provider, after.address, after.name)
        found = {
            "switched_window": figures["window"] < figures["before"],
            "switched_pictures": not after.sees_pictures and any(map(picture_name, blocks)),
            "switched_thoughts": is_foreign and any(isinstance(block, ThinkingBlock) for block in blocks),
            "switched_tools": left.has_file_tools and not now.has_file_tools,
        }
        told = say("models", "switched", profile=shown_name(self.chosen), name=after.name)
        return " ".join([told, *(say("models", key, **figures) for key, holds in found.items() if holds)])
