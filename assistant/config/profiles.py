"""Profiles: who else can answer beside what the settings say, each under a name of its own."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from assistant.config.settings import PROFILE_KEY_PREFIX, checked_address
from assistant.config.variables import environment, names_a_key
from assistant.config.words import LANGUAGES, say, sentence
from assistant.errors import SettingsError

MAIN = ""
"""What answers by the settings themselves; it is listed first and in no file."""
NAME_CHARS = 40

ProfileProvider = Literal[
    "dashscope", "openai", "anthropic", "ollama", "gemini", "deepseek", "moonshot", "responses", "local", "offline"
]


class Profile(BaseModel):
    """One way to be answered. `key` names the variable of the home's `.env`, or of the environment, with its key."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    provider: ProfileProvider
    base_url: str = ""
    model: str = ""
    model_file: str = ""
    key: str = ""
    max_input_length: int | None = Field(default=None, ge=2_000)
    compactor_model: str = ""

    @field_validator("name")
    @classmethod
    def _must_name_it(cls, name: str) -> str:
        shown = _spelled(name)
        if not 1 <= len(shown) <= NAME_CHARS or not shown.isprintable():
            raise ValueError(say("settings", "profile_name", most=NAME_CHARS))
        if is_main(shown):
            raise ValueError(say("settings", "profile_main", name=shown))
        return shown

    @field_validator("base_url")
    @classmethod
    def _must_be_an_address(cls, address: str) -> str:
        return checked_address(address)

    @field_validator("key")
    @classmethod
    def _must_name_a_key(cls, variable: str) -> str:
        if variable and not (variable.isidentifier() and variable.isascii() and names_a_key(variable)):
            raise ValueError(say("settings", "profile_key", prefix=PROFILE_KEY_PREFIX))
        return variable


@dataclass(frozen=True, slots=True)
class Profiles:
    """The profiles of a home, in the order in which they were made, and who answers in a new conversation.

    The default may be the name of none, which a conversation that begins with it says. `problem` says why they cannot
    be read; then there are none.
    """

    listed: tuple[Profile, ...] = ()
    default: str = MAIN
    problem: str = ""

    def __iter__(self) -> Iterator[Profile]:
        return iter(self.listed)

    @property
    def names(self) -> tuple[str, ...]:
        """How they are called, without the first, which is the settings."""
        return tuple(profile.name for profile in self.listed)

    def named(self, name: str) -> Profile | None:
        """The profile of that name, whatever its letters' case; None for none."""
        wanted = _spelled(name).casefold()
        return next((profile for profile in self.listed if profile.name.casefold() == wanted), None)

    def free_key(self) -> str:
        """A variable for the key of one more profile; not one that the environment sets, which would win over it."""
        taken = {*(profile.key for profile in self.listed), *environment()}
        return next(key for number in range(1, 10_000) if (key := f"{PROFILE_KEY_PREFIX}{number}") not in taken)


def no_profile(name: str, profiles: Profiles) -> SettingsError:
    """What is wrong with a name that no profile has."""
    names = ", ".join(map(shown_name, (MAIN, *profiles.names)))
    return SettingsError(name, profiles.problem or say("settings", "no_profile", names=names))


def is_main(name: str) -> bool:
    """True for what the settings' own profile is called, in any language."""
    names = {"main", *(sentence("settings", language, "main_profile").casefold() for language in LANGUAGES)}
    return not name or _spelled(name).casefold() in names


def shown_name(name: str) -> str:
    """What a profile is called for the person."""
    return name or say("settings", "main_profile")


def _spelled(name: str) -> str:
    """The name with single blanks, and with one sign for a letter and its accent, however it was typed."""
    return unicodedata.normalize("NFC", " ".join(name.split()))
