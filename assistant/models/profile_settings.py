"""The settings with a profile's model in place of their own."""

from __future__ import annotations

from pydantic import SecretStr

from assistant.config.profiles import Profile
from assistant.config.settings import PROVIDER_KEYS, Settings, fixing_variable, variables_of
from assistant.models.provider_choice import is_openai


def settings_with(settings: Settings, profile: Profile, key: str | None = None) -> Settings:
    """These settings, answered by the profile: what they say of who answers is left out, their key above all.

    `key` None is the one that the profile names. Without one, the key under a provider's usual name goes to that
    provider and to no other address. A window that the environment sets holds for every profile.
    """
    if key is None:
        key = variables_of(settings.home).get(profile.key, "") if profile.key else ""
    is_at_provider = not profile.base_url or is_openai(profile.base_url)
    others = {} if is_at_provider else dict.fromkeys(PROVIDER_KEYS, SecretStr(""))
    window = settings.max_input_length if fixing_variable("max_input_length") else profile.max_input_length
    update: dict[str, object] = {
        "provider": profile.provider,
        "base_url": profile.base_url,
        "model": profile.model,
        "model_file": profile.model_file,
        "api_key": SecretStr(key),
        "max_input_length": window,
        "compactor_model": profile.compactor_model,
    }
    return settings.model_copy(update=update | others)
