"""profiles.json: the profiles of a home. No key stands in it; each names the variable of `.env` that holds its key."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from assistant.config.plain_reasons import plain_reason
from assistant.config.profiles import MAIN, Profile, Profiles, is_main
from assistant.config.settings import fault_in_words
from assistant.config.words import say
from assistant.errors import SettingsError
from assistant.storage.atomic_io import read_plain_file, replace_text
from assistant.text.encoding import decode_text, encode
from assistant.text.redaction import mask_secrets

MAX_BYTES = 1_000_000
"""The file is read at each question, so one that is larger is no file of profiles."""


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    default: str = MAIN
    profiles: tuple[Profile, ...] = ()


def read_profiles(path: Path) -> Profiles:
    """The profiles in a file, none where there is no file; where it cannot be read, why."""
    try:
        read = _File.model_validate_json(encode(decode_text(read_plain_file(path, MAX_BYTES)).text))
    except FileNotFoundError:
        return Profiles()
    except OSError as error:
        # What is no plain file, or too large, is told by its own words.
        return _unreadable(path, plain_reason(error) if error.errno else str(error))
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(str(part) for part in fault["loc"]) or path.name
        return _unreadable(path, f"{place}: {fault_in_words(fault)}")
    if any(mask_secrets(profile.name).kinds for profile in read.profiles):
        return _unreadable(path, f"name: {say('settings', 'key_in_name')}")
    names = Counter(profile.name.casefold() for profile in read.profiles)
    if twice := next((profile.name for profile in read.profiles if names[profile.name.casefold()] > 1), None):
        return _unreadable(path, f"{twice}: {say('settings', 'profile_taken')}")
    if is_main(read.default):
        return Profiles(read.profiles)
    default = Profiles(read.profiles).named(read.default)
    return Profiles(read.profiles, default.name if default else read.default)


def keep_profiles(path: Path, profiles: Profiles) -> None:
    """Write the profiles; raises `SettingsError` where a file is there that cannot be read, and leaves it as it is."""
    if problem := read_profiles(path).problem:
        raise SettingsError(path.name, say("settings", "profiles_not_written", reason=problem))
    written = _File(default=profiles.default, profiles=profiles.listed)
    replace_text(path, f"{written.model_dump_json(indent=1, exclude_defaults=True)}\n")


def _unreadable(path: Path, reason: str) -> Profiles:
    return Profiles(problem=say("settings", "profiles_unreadable", name=path.name, reason=reason.rstrip(".。")))
