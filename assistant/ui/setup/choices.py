"""What can be chosen of the settings, as a card shows it and as a form gives it back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from assistant.config.settings import Settings, fixing_variable
from assistant.config.words import say
from assistant.errors import SettingsError
from assistant.models.known_providers import KNOWN_PROVIDERS, OPENAI_URL, KnownProvider, ModelChoice
from assistant.ui.form import Form

if TYPE_CHECKING:
    # They bring the agent library with them, which the page does not wait for.
    from assistant.assembly.assistant import Assistant
    from assistant.assembly.own_settings import OwnSettings
    from assistant.models.detect import LocalServer
    from assistant.models.local.gguf_file import GgufFile

Kind = Literal["", "found", "file", "provider", "server", "nobody"]


@dataclass(frozen=True, slots=True)
class Option:
    """One value of a setting, and its name for the person."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Row:
    """A setting with few values; `fixed_by` is the variable of the environment that sets it, else empty."""

    field: str
    label: str
    value: str
    options: tuple[Option, ...]
    fixed_by: str


@dataclass(frozen=True, slots=True)
class WhoAnswers:
    """Who can answer, and who does; `place` says where the card is."""

    place: str
    fixed_by: str
    model_name: str
    servers: tuple[LocalServer, ...]
    files: tuple[GgufFile, ...]
    chosen: Kind
    file: str
    address: str
    model: str
    provider_name: str
    has_key: bool
    known: tuple[KnownProvider, ...] = KNOWN_PROVIDERS

    @property
    def is_unset(self) -> bool:
        """True while nobody has said who answers."""
        return not self.chosen


def who_answers(assistant: Assistant, place: str, form: Form | None = None) -> WhoAnswers:
    """Who can answer here, and who does, or who was chosen in a form; a key of the form is not among it."""
    own = assistant.own_settings
    told = _who_answers(own, assistant.settings, place)
    return _as_chosen(replace(told, fixed_by=own.fixes_model, model_name=assistant.model.name), form)


def who_answers_by(settings: Settings, own: OwnSettings, form: Form | None = None) -> WhoAnswers:
    """The same for the settings of a profile, which no variable fixes."""
    return _as_chosen(_who_answers(own, settings, "profile"), form)


def _as_chosen(told: WhoAnswers, form: Form | None) -> WhoAnswers:
    kind, *found = form.said("who").split(" ", 3) if form else [""]
    if form is None or kind not in ("found", "file", "provider", "server", "nobody"):
        return told
    address, model = {
        "found": found[1:],
        "file": ("", ""),
        "provider": (told.address, form.said("provider-model")),
        "server": (form.said("address"), form.said("server-model")),
        "nobody": ("", ""),
    }[kind]
    file = _file_in(form) if kind == "file" else ""
    return replace(told, chosen=kind, file=file, address=address, model=model, provider_name=form.said("provider"))


def _who_answers(own: OwnSettings, settings: Settings, place: str) -> WhoAnswers:
    provider = _known(settings)
    return WhoAnswers(
        place=place,
        fixed_by="",
        model_name="",
        servers=own.found,
        files=own.files,
        file=settings.model_file,
        chosen=_chosen(settings, provider, own.found),
        address=settings.base_url,
        model=settings.model,
        provider_name=provider.name if provider else "",
        has_key=bool(settings.api_key.get_secret_value()),
    )


def chosen_row(settings: Settings, field: Literal["language", "tools"]) -> Row:
    """One of the settings that the first run asks for."""
    match field:
        case "language":
            values, label = ("auto", "en", "zh"), say("page_setup", "language")
        case "tools":
            values, label = ("ask", "read-only", "memory"), say("page_setup", "machine")
    options = tuple(Option(value, say("page_setup", f"{field}_{value.replace('-', '_')}")) for value in values)
    value: str = settings.language if field == "language" else settings.tools
    return Row(field, label, value, options, fixing_variable(field))


def model_choice(form: Form, settings: Settings) -> ModelChoice:
    """Who is to answer by a form; a key that is kept goes on with its server, and goes to no other.

    Raises `SettingsError` that says what is missing.
    """
    kind, *found = form.said("who").split(" ", 3)
    match kind:
        case "found" if len(found) == 3:
            return ModelChoice("ollama" if found[0] == "ollama" else "openai", *found[1:], key="")
        case "file" if file := _file_in(form):
            return ModelChoice("local", key="", model_file=file)
        case "provider":
            known = next((one for one in KNOWN_PROVIDERS if one.name == form.said("provider")), KNOWN_PROVIDERS[0])
            key = form.said("provider-key")
            if not key and not _has_key_of(settings, known):
                raise SettingsError(known.name, say("page_setup", "key_missing"))
            kept = None if known == _known(settings) or not settings.api_key.get_secret_value() else ""
            return ModelChoice(known.provider, known.base_url, form.said("provider-model") or known.model, key or kept)
        case "server":
            address, key = form.said("address"), form.said("server-key")
            if not address:
                raise SettingsError(say("page_setup", "own_server"), say("page_setup", "address_missing"))
            is_same = address.rstrip("/") == settings.base_url
            provider = "ollama" if is_same and settings.provider == "ollama" else "openai"
            return ModelChoice(provider, address, form.said("server-model"), key or (None if is_same else ""))
        case "nobody":
            return ModelChoice("offline", key="")
        case _:
            raise SettingsError(say("page_setup", "who"), say("page_setup", "choose_first"))


def _file_in(form: Form) -> str:
    """The path of the chosen file, which may have blanks."""
    return form.said("who").partition(" ")[2]


def _has_key_of(settings: Settings, provider: KnownProvider) -> bool:
    """True where a key of this provider is there already."""
    # OpenAI's key is for OpenAI, and not for the others that speak its protocol.
    is_named = provider.provider != "openai" or provider.base_url == OPENAI_URL
    if is_named and settings.own_key_of(provider.provider):
        return True
    return bool(settings.api_key.get_secret_value()) and provider == _known(settings)


def _known(settings: Settings) -> KnownProvider | None:
    if settings.provider not in ("auto", "openai", "local", "offline"):
        return next((one for one in KNOWN_PROVIDERS if one.provider == settings.provider), None)
    return next((one for one in KNOWN_PROVIDERS if one.base_url and one.base_url == settings.base_url), None)


def _chosen(settings: Settings, known: KnownProvider | None, found: tuple[LocalServer, ...]) -> Kind:
    if settings.provider == "offline":
        return "nobody"
    if settings.provider == "local" or settings.model_file:
        return "file"
    if known:
        return "provider"
    if any(settings.base_url == server.base_url for server in found):
        return "found"
    return "server" if settings.base_url else ""
