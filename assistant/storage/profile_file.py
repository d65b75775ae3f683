"""profiles.json: the profiles of a home. No key stands in it; each names the variable of `.env` that holds its key."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from assistant.config.plain_reasons import plain_reason
from assistant.config.profiles import MAIN, Profile, Profiles
from assistant.config.settings import fault_in_words
from assistant.config.words import say
from assistant.errors import SettingsError
from assistant.storage.atomic_io import read_plain_file, replace_text


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    default: str = MAIN
    profiles: tuple[Profile, ...] = ()


def read_profiles(path: Path) -> Profiles:
    """The profiles in a file, none where there is no file; where it cannot be read, why."""
    try:
        read = _File.model_validate_json(read_plain_file(path))
    except FileNotFoundError:
        return Profiles()
    except OSError as error:
        return _unreadable(path, plain_reason(error))
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(str(part) for part in fault["loc"]) or path.name
        return _unreadable(path, f"{place}: {fault_in_words(fault)}")
    names = [profile.name.casefold() for profile in read.profiles]
    if twice := next((profile.name for profile in read.profiles if names.count(profile.name.casefold()) > 1), None):
        return _unreadable(path, f"{twice}: {say('settings', 'profile_taken')}")
    default = next((name.name for name in read.profiles if name.name.casefold() == read.default.casefold()), MAIN)
    return Profiles(read.profiles, default)


def keep_profiles(path: Path, profiles: Profiles) -> None:
    """Write the profiles; raises `SettingsError` where a file is there that cannot be read, and leaves it as it is."""
    if problem := read_profiles(path).problem:
        raise SettingsError(path.name, say("settings", "profiles_not_written", reason=problem))
    written = _File(default=profiles.default, profiles=profiles.listed)
    replace_text(path, f"{written.model_dump_json(indent=1, exclude_defaults=True)}\n")


def _unreadable(path: Path, reason: str) -> Profiles:
    return Profiles(problem=say("settings", "profiles_unreadable", name=path.name, reason=reason.rstrip(".。")))
