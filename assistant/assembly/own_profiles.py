"""The profiles that the owner makes from the page: tried first, then kept, their keys in the home's `.env`."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from pydantic import ValidationError

from assistant.assembly.own_settings import OwnSettings, Trial
from assistant.config.profiles import MAIN, Profile, Profiles, no_profile
from assistant.config.settings import PROFILE_KEY_PREFIX, Settings, fault_in_words
from assistant.config.words import say
from assistant.errors import SettingsError
from assistant.models.known_providers import ProfileChoice
from assistant.models.profile_settings import settings_with
from assistant.storage.env_file import keep_variables
from assistant.storage.profile_file import keep_profiles, read_profiles
from assistant.storage.workspace import Workspace


class OwnProfiles:
    """The profiles of one home. Who is no owner of it sees them and changes none."""

    def __init__(self, own: OwnSettings) -> None:
        self._own = own
        self._path = Workspace(own.path.parent).profiles_path

    @property
    def all(self) -> Profiles:
        """The profiles as they are now."""
        return read_profiles(self._path)

    def made_of(self, choice: ProfileChoice, replaced: Profile | None) -> Profile:
        """The profile of a choice, which takes the place of another or of none; raises `SettingsError`."""
        model, profiles = choice.model, self.all
        if replaced is None and profiles.named(choice.name) is not None:
            raise SettingsError(choice.name, say("settings", "profile_taken"))
        kept_key = replaced.key if replaced else ""
        own_key = kept_key if kept_key.startswith(PROFILE_KEY_PREFIX) else profiles.free_key()
        key = kept_key if model.key is None else own_key if model.key else ""
        values: dict[str, object] = {
            "name": replaced.name if replaced else choice.name,
            "provider": model.provider,
            "base_url": model.base_url,
            "model": model.model,
            "model_file": model.model_file,
            "key": key,
            "max_input_length": choice.window or None,
            "compactor_model": choice.compactor_model,
        }
        try:
            return Profile.model_validate(values)
        except ValidationError as error:
            fault = error.errors()[0]
            raise SettingsError(say("page_setup", f"profile_{fault['loc'][0]}"), fault_in_words(fault)) from None

    async def try_out(self, settings: Settings, profile: Profile, key: str | None) -> Trial:
        """Connect to the model of a profile and ask it for a word and a tool call; nothing is kept.

        `key` None is the one that is kept for it.
        """
        return await self._own.try_settings(settings_with(settings, profile, key))

    async def keep(self, profile: Profile, key: str | None) -> None:
        """Keep a profile in place of that of its name, or as the last; its key goes into `.env` first.

        Raises `SettingsError` where the file of the profiles cannot be read, or the home is somebody else's.
        """
        profiles = self._changeable()
        before = profiles.named(profile.name)
        listed = [profile if one == before else one for one in profiles] if before else [*profiles, profile]
        await self._keep_key(profile.key, before.key if before else "", key)
        await self._write(replace(profiles, listed=tuple(listed)))

    async def remove(self, name: str) -> None:
        """Take a profile out, and its key out of `.env`; conversations that chose it say so and go on with *Main*."""
        profiles, gone = self._changeable(), self._known(name)
        default = MAIN if profiles.default == gone.name else profiles.default
        await self._write(Profiles(tuple(one for one in profiles if one != gone), default))
        await self._keep_key("", gone.key, "")

    async def begin_with(self, name: str) -> None:
        """Let this profile answer in new conversations; the empty name is the settings' own."""
        default = self._known(name).name if name else MAIN
        await self._write(replace(self._changeable(), default=default))

    def _known(self, name: str) -> Profile:
        profiles = self.all
        if (profile := profiles.named(name)) is None:
            raise no_profile(name, profiles)
        return profile

    def _changeable(self) -> Profiles:
        if not self._own.is_owner:
            raise SettingsError(self._path.name, say("page_setup", "not_yours"))
        profiles = self.all
        if profiles.problem:
            raise SettingsError(self._path.name, profiles.problem)
        return profiles

    async def _keep_key(self, variable: str, before: str, key: str | None) -> None:
        """Write a key under its variable, and let go of one that the profile names no more; another's is left alone."""
        changes = {variable: key} if variable and key else {}
        if before != variable and before.startswith(PROFILE_KEY_PREFIX):
            changes[before] = ""
        if changes:
            await asyncio.to_thread(keep_variables, self._own.path, changes)

    async def _write(self, profiles: Profiles) -> None:
        await asyncio.to_thread(keep_profiles, self._path, profiles)
