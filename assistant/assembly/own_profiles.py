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
from assistant.text.redaction import mask_secrets


class OwnProfiles:
    """The profiles of one home. Who is no owner of it sees them and changes none."""

    def __init__(self, own: OwnSettings) -> None:
        self._own = own
        self._path = Workspace(own.path.parent).profiles_path
        self._changing = asyncio.Lock()

    @property
    def all(self) -> Profiles:
        """The profiles as they are now."""
        return read_profiles(self._path)

    def made_of(self, choice: ProfileChoice, replaced: Profile | None) -> Profile:
        """The profile of a choice, which takes the place of another or of none.

        Raises `SettingsError`, also where the home is somebody else's or the file of the profiles cannot be read.
        """
        model, profiles = choice.model, self._changeable()
        if replaced is None and profiles.named(choice.name) is not None:
            raise SettingsError(choice.name, say("settings", "profile_taken"))
        if replaced is None and mask_secrets(choice.name).kinds:
            raise SettingsError(say("page_setup", "profile_name"), say("settings", "key_in_name"))
        kept_key = replaced.key if replaced else ""
        key = kept_key if model.key is None else profiles.free_key() if model.key else ""
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

    async def keep(self, profile: Profile, key: str | None, replaced: Profile | None) -> None:
        """Keep a profile in place of another, or as the last; a key goes into `.env` first, under a new variable.

        So whatever is cut, no key is under the address of another server. Raises `SettingsError` where the profiles
        cannot be changed, or this one was changed meanwhile.
        """
        async with self._changing:
            profiles = self._changeable()
            if profiles.named(profile.name) != replaced:
                raise SettingsError(profile.name, say("page_setup", "profile_changed"))
            if key:
                profile = profile.model_copy(update={"key": profiles.free_key()})
                await self._keep_keys({profile.key: key})
            listed = [profile if one == replaced else one for one in profiles]
            await self._write(replace(profiles, listed=tuple(listed if replaced else [*listed, profile])))
            await self._let_go(replaced)

    async def remove(self, name: str) -> None:
        """Take a profile out, and its key out of `.env`; conversations that chose it say so and go on with *Main*."""
        async with self._changing:
            profiles, gone = self._changeable(), self._known(name)
            default = MAIN if profiles.default == gone.name else profiles.default
            await self._write(Profiles(tuple(one for one in profiles if one != gone), default))
            await self._let_go(gone)

    async def begin_with(self, name: str) -> None:
        """Let this profile answer in new conversations; the empty name is the settings' own."""
        async with self._changing:
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

    async def _let_go(self, before: Profile | None) -> None:
        """Take the key of a profile out of `.env` where it was made here and no profile names it any more."""
        if before and before.key.startswith(PROFILE_KEY_PREFIX) and before.key not in {one.key for one in self.all}:
            await self._keep_keys({before.key: ""})

    async def _keep_keys(self, changes: dict[str, str]) -> None:
        await asyncio.to_thread(keep_variables, self._own.path, changes)

    async def _write(self, profiles: Profiles) -> None:
        await asyncio.to_thread(keep_profiles, self._path, profiles)
