"""The profiles as the settings list them and edit one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.config.profiles import MAIN, Profile, shown_name
from assistant.config.settings import Settings, fixing_variable
from assistant.config.words import say
from assistant.models.known_providers import ProfileChoice
from assistant.models.profile_settings import settings_with
from assistant.ui.form import Form
from assistant.ui.setup.choices import WhoAnswers, model_choice, who_answers_by

if TYPE_CHECKING:
    # They bring the agent library with them, which the page does not wait for.
    from assistant.assembly.assistant import Assistant

NEW = ""
"""What the form of a profile that is being made is opened with."""


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """A profile in the list: its name, what answers by it, whether in new conversations, whether it is to go."""

    name: str
    label: str
    model: str
    is_default: bool
    is_leaving: bool = False


@dataclass(frozen=True, slots=True)
class ProfileFields:
    """The form of one profile; `name` is empty while it is made, `window_fixed_by` a variable of the environment."""

    name: str
    typed_name: str
    who: WhoAnswers
    window: str
    window_fixed_by: str
    compactor_model: str


def profile_rows(assistant: Assistant, leaving: str = "") -> list[ProfileRow]:
    """Main first, then the profiles in the order in which they were made; it is asked whether one is `leaving`."""
    profiles, main = assistant.profiles, assistant.model
    rows = [ProfileRow(MAIN, shown_name(MAIN), main.name, profiles.named(profiles.default) is None)]
    return rows + [
        ProfileRow(one.name, one.name, model_of(one), one.name == profiles.default, one.name == leaving)
        for one in profiles
    ]


def model_of(profile: Profile) -> str:
    """What answers by a profile, as far as it says."""
    if profile.provider == "offline":
        return say("page_setup", "nobody")
    model = profile.model or profile.model_file.replace("\\", "/").rpartition("/")[2]
    return " · ".join(filter(None, (model, profile.base_url or profile.provider)))


def profile_fields(assistant: Assistant, name: str, form: Form | None = None) -> ProfileFields:
    """The form of a profile, filled in as it is kept or as it was sent; an unknown name makes a new one."""
    kept = assistant.profiles.named(name)
    who = who_answers_by(_settings_of(assistant, kept), assistant.own_settings, form)
    window = str(kept.max_input_length or "") if kept else ""
    return ProfileFields(
        name=kept.name if kept else NEW,
        typed_name=form.said("profile-name") if form else "",
        who=who,
        window=form.said("window") if form else window,
        window_fixed_by=fixing_variable("max_input_length"),
        compactor_model=form.said("compactor") if form else kept.compactor_model if kept else "",
    )


def profile_choice(assistant: Assistant, form: Form) -> ProfileChoice:
    """The profile that a form asks for; raises `SettingsError` that says what is missing."""
    settings = _settings_of(assistant, assistant.profiles.named(form.target))
    return ProfileChoice(
        form.said("profile-name"), model_choice(form, settings), form.said("window"), form.said("compactor")
    )


def _settings_of(assistant: Assistant, kept: Profile | None) -> Settings:
    """The settings of a profile; of one that is being made, those in which nothing is chosen yet."""
    return settings_with(assistant.settings, kept or Profile(name="-", provider="offline"))
