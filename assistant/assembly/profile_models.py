"""The models of the profiles: each is connected when a conversation first needs it, and shared from then on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from assistant.assembly.answering_models import Models
from assistant.config.profiles import Profile, Profiles
from assistant.storage.profile_file import read_profiles

ConnectModels = Callable[[Profile], Awaitable[Models]]


class ProfileModels:
    """What answers under each name. The file is read at each question, so that a change counts at once."""

    def __init__(self, path: Path | None, connect: ConnectModels) -> None:
        """Without a path there are no profiles; `connect` raises `ModelError` or `SettingsError`."""
        self._path = path
        self._connect = connect
        self._models: dict[Profile, Models] = {}
        self._turn = asyncio.Lock()

    @property
    def profiles(self) -> Profiles:
        """The profiles as the file has them now."""
        return read_profiles(self._path) if self._path else Profiles()

    def connected(self, profile: Profile) -> Models | None:
        """What answers by this profile where that is connected already."""
        return self._models.get(profile)

    async def of(self, profile: Profile) -> Models:
        """What answers by this profile; raises `ModelError` or `SettingsError` where it cannot be had now."""
        async with self._turn:
            if profile not in self._models:
                self._models[profile] = await self._connect(profile)
            return self._models[profile]

    async def close(self) -> None:
        """Let go of all of them; one that is wanted again is connected anew."""
        models, self._models = self._models, {}
        for one in models.values():
            await one.close()
