"""Every setting, its unit and its default. No other module reads the environment."""

from __future__ import annotations

import difflib
import ipaddress
import os
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dotenv import dotenv_values
from pydantic import AliasChoices, Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from assistant.config.accounts import Account, read_accounts
from assistant.config.plain_reasons import plain_reason
from assistant.config.variables import environment, names_a_key, take_keys
from assistant.config.words import Language, say
from assistant.errors import SettingsError

PREFIX = "PALIMPSEST_"
PROFILE_KEY_PREFIX = f"{PREFIX}PROFILE_KEY_"
"""How the variables begin that hold the keys of profiles, a number behind it."""
PROVIDER_KEYS = (
    "dashscope_api_key",
    "openai_api_key",
    "anthropic_api_key",
    "ollama_api_key",
    "gemini_api_key",
    "deepseek_api_key",
    "moonshot_api_key",
)
"""The fields with the keys under the providers' usual names."""
# Read by the benchmarks, not by the product.
_FOREIGN_NAMES = {"PALIMPSEST_BENCH_DATA"}

Provider = Literal[
    "auto",
    "dashscope",
    "openai",
    "anthropic",
    "ollama",
    "gemini",
    "deepseek",
    "moonshot",
    "responses",
    "local",
    "offline",
]
Switch = Literal["on", "off"]
StoreBackend = Literal["auto", "chroma", "chroma-server", "elasticsearch", "local", "pgvector", "qdrant"]

# How the address of each server begins that keeps vectors, and an example.
_STORE_SCHEMES: dict[StoreBackend, tuple[tuple[str, ...], str]] = {
    "chroma-server": (("http", "https"), "http://127.0.0.1:8000"),
    "pgvector": (("postgresql", "postgres"), "postgresql://name:password@127.0.0.1:5432/database"),
    "elasticsearch": (("http", "https"), "https://name:password@127.0.0.1:9200"),
    "qdrant": (("http", "https"), "http://127.0.0.1:6333"),
}


# Blanks of every kind, quotes, and the marks of a byte order or of no width.
_PASTED = " \t\r\n\f\v\u00a0\u2009\u202f\u3000\ufeff\u200b\u200c\u200d\u2060\"'\u201c\u201d\u2018\u2019`"


class Settings(BaseSettings):
    """Where values come from, first wins: the environment, `.env` in the home, the default here."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", populate_by_name=True, env_ignore_empty=True)

    home: Path = Field(default_factory=lambda: default_home())
    """The workspace: memory, conversations and index of one owner."""
    provider: Provider = "auto"
    """Who answers. `auto`: a key, else a server on loopback, else the built-in offline assistant."""
    model: str = ""
    """The chat model's name; empty: the provider's default, or the first model a loopback server lists."""
    model_file: str = ""
    """A GGUF file on this machine, for `local`; empty: the newest in the folders where programs keep them."""
    base_url: str = Field("", validation_alias=AliasChoices("PALIMPSEST_BASE_URL", "OPENAI_BASE_URL"))
    """Address of an OpenAI-compatible server, with its `/v1`, or of a server that speaks the provider's protocol."""
    api_key: SecretStr = SecretStr("")
    """Key for `provider`; when empty, the one under the provider's usual name counts."""
    dashscope_api_key: SecretStr = Field(SecretStr(""), validation_alias="DASHSCOPE_API_KEY")
    """Key for DashScope."""
    openai_api_key: SecretStr = Field(SecretStr(""), validation_alias="OPENAI_API_KEY")
    """Key for an OpenAI-compatible server."""
    anthropic_api_key: SecretStr = Field(SecretStr(""), validation_alias="ANTHROPIC_API_KEY")
    """Key for Anthropic."""
    ollama_api_key: SecretStr = Field(SecretStr(""), validation_alias="OLLAMA_API_KEY")
    """Key for a server of Ollama that asks for one."""
    gemini_api_key: SecretStr = Field(SecretStr(""), validation_alias=AliasChoices("GEMINI_API_KEY", "GOOGLE_API_KEY"))
    """Key for Gemini."""
    deepseek_api_key: SecretStr = Field(SecretStr(""), validation_alias="DEEPSEEK_API_KEY")
    """Key for DeepSeek."""
    moonshot_api_key: SecretStr = Field(SecretStr(""), validation_alias="MOONSHOT_API_KEY")
    """Key for Moonshot."""
    ollama_host: str = Field("", validation_alias="OLLAMA_HOST")
    """Where Ollama is, as Ollama itself reads it: a host, with a port or without."""
    compactor_model: str = ""
    """Model for summaries and the flush; empty: the chat model."""

    policy: Literal["copaw", "skill_compose"] = "copaw"
    """Preset of the compaction numbers; the fields below override single ones, None leaves the preset's value."""
    max_input_length: int | None = Field(None, ge=2_000)
    """The window in tokens."""
    memory_compact_ratio: float | None = Field(None, gt=0.0, le=0.95)
    """Share of the window at which compaction starts."""
    compact_threshold: int | None = Field(None, ge=1_000)
    """Tokens at which compaction starts; wins over the ratio."""
    memory_reserve_ratio: float | None = Field(None, gt=0.0, le=0.5)
    """Share of the window that recent messages may keep."""
    max_recent_turns: int | None = Field(None, ge=1)
    """Newest turns kept at most."""
    recent_n: int | None = Field(None, ge=0)
    """Newest tool results that keep `recent_max_bytes`."""
    recent_max_bytes: int | None = Field(None, ge=200)
    """Bytes a recent tool result keeps."""
    old_max_bytes: int | None = Field(None, ge=200)
    """Bytes an older tool result keeps."""
    retention_days: int | None = Field(None, ge=0)
    """Days the full text of a shortened tool result stays on disk; 0: for ever."""
    tool_result_max_chars: int | None = Field(None, ge=200)
    """Characters any tool result keeps, head and tail."""
    safety_factor: float | None = Field(None, gt=0.0, le=1.0)
    """Multiplies the threshold."""
    keep_recent_messages: int | None = Field(None, ge=1)
    """Newest messages kept whatever the reserve says."""
    summary_max_tokens: int | None = Field(None, ge=200)
    """Tokens a summary may have."""

    memory: Switch = "on"
    """Long-term memory: flush, memory tools and recall."""
    recall: Switch = "on"
    """Hand over memory hits before each turn."""
    consolidate: Literal["auto", "on", "off"] = "auto"
    """Each night what the notes have for USER.md and MEMORY.md: `auto` asks no model that costs money, `on` any."""
    flush_idle_minutes: int = Field(30, ge=0)
    """Minutes without a word after which a conversation counts as left, and is written to memory; 0: never."""
    embedder: Literal["default", "openai", "dashscope", "none"] = "default"
    """Who turns text into vectors; `none`: full-text search alone."""
    embedding_model: str = ""
    """Name of the embedding model; empty: the embedder's default."""
    embedding_base_url: str = Field(
        "", validation_alias=AliasChoices("PALIMPSEST_EMBEDDING_BASE_URL", "EMBEDDING_BASE_URL")
    )
    """Address of the embedding server; empty: that of the provider."""
    embedding_api_key: SecretStr = Field(
        SecretStr(""), validation_alias=AliasChoices("PALIMPSEST_EMBEDDING_API_KEY", "EMBEDDING_API_KEY")
    )
    """Key for the embedding server; empty: that of the provider."""
    embedding_dimensions: int | None = Field(None, ge=1)
    """Length of a vector; None: what the embedding model gives."""
    memory_store_backend: StoreBackend = Field("auto", validation_alias="MEMORY_STORE_BACKEND")
    """Where vectors live; `auto`: local on Windows, else chroma."""
    memory_store_url: SecretStr = Field(SecretStr(""), validation_alias="MEMORY_STORE_URL", validate_default=True)
    """Address of the server that keeps vectors; it may hold a password."""

    language: Literal["auto", "en", "zh"] = "auto"
    """Language of prompts and of the program; `auto`: prompts in that of the conversation, the program in English."""
    timezone: str = ""
    """IANA name for dates, such as Asia/Shanghai; empty: the machine's."""
    tools: Literal["ask", "read-only", "memory", "off"] = "ask"
    """Shell and file tools: ask before anything risky, only read, none but those on memory, or none that writes."""
    max_steps: int = Field(200, ge=1)
    """Model calls a turn; at the limit the page offers Continue."""
    max_reply_tokens: int = Field(131_072, ge=100)
    """Tokens of one answer, thinking and calls included; a longer one is ended."""
    host: str = ""
    """Address the page listens on; empty: 127.0.0.1, on a Space what the platform sets."""
    port: int | None = Field(None, ge=1, le=65535)
    """Port of the page; None: the first free one from 7860."""

    users: SecretStr = SecretStr("")
    """Who may sign in: `name:hash` pairs with commas between them, the owner first; empty: nobody has to."""

    space_id: str = Field("", validation_alias="SPACE_ID")
    """Name of the Hugging Face Space; set by the platform."""
    space_host: str = Field("", validation_alias="SPACE_HOST")
    """Public host name of the Space; set by the platform."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The usual sources; the environment is read with the keys that were taken out of it."""
        return init_settings, _Environment(settings_cls), dotenv_settings

    @field_validator("*", mode="before")
    @classmethod
    def _without_what_was_pasted_with_it(cls, value: object) -> object:
        """Blanks, line ends, quotes and invisible marks around a value come from a copy and belong to no value."""
        return value.strip(_PASTED) if isinstance(value, str) else value

    @field_validator("api_key", *PROVIDER_KEYS, "embedding_api_key")
    @classmethod
    def _must_be_a_key(cls, key: SecretStr) -> SecretStr:
        text = key.get_secret_value()
        text = text[len("bearer ") :].strip() if text.lower().startswith("bearer ") else text
        for place, letter in enumerate(text, 1):
            if not "!" <= letter <= "~":
                name = unicodedata.name(letter, f"U+{ord(letter):04X}").lower()
                raise ValueError(say("settings", "letter_in_key", place=place, name=name))
        return SecretStr(text)

    @field_validator("base_url", "embedding_base_url")
    @classmethod
    def _must_be_an_address(cls, address: str) -> str:
        return checked_address(address)

    @field_validator("memory_store_url")
    @classmethod
    def _must_fit_the_store(cls, address: SecretStr, info: ValidationInfo) -> SecretStr:
        backend: StoreBackend = info.data.get("memory_store_backend", "auto")
        if backend not in _STORE_SCHEMES:
            return address
        schemes, example = _STORE_SCHEMES[backend]
        text = address.get_secret_value()
        if not text:
            raise ValueError(say("settings", "store_address_needed", backend=backend, example=example))
        try:
            parts = urlsplit(text)
            # The port is read on demand, and raises only then.
            is_possible = parts.scheme in schemes and (parts.port is None or bool(parts.hostname))
        except ValueError:
            is_possible = False
        if not is_possible or any(letter.isspace() or not letter.isprintable() for letter in text):
            raise ValueError(say("settings", "no_store_address", backend=backend, example=example))
        return SecretStr(text.rstrip("/"))

    @field_validator("timezone")
    @classmethod
    def _must_be_known(cls, name: str) -> str:
        try:
            return ZoneInfo(name).key if name else name
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError(say("settings", "no_time_zone")) from None

    @field_validator("users")
    @classmethod
    def _must_be_pairs(cls, pairs: SecretStr) -> SecretStr:
        read_accounts(pairs.get_secret_value())
        return pairs

    def key_of(self, provider: Provider) -> str:
        """The key for a provider: the one for whoever answers, else that under its usual name; empty where none is."""
        return self.api_key.get_secret_value() or self.own_key_of(provider)

    def own_key_of(self, provider: Provider) -> str:
        """The key under the provider's usual name; empty where none is set."""
        match provider:
            case "dashscope":
                return self.dashscope_api_key.get_secret_value()
            case "openai" | "responses":
                return self.openai_api_key.get_secret_value()
            case "anthropic":
                return self.anthropic_api_key.get_secret_value()
            case "ollama":
                return self.ollama_api_key.get_secret_value()
            case "gemini":
                return self.gemini_api_key.get_secret_value()
            case "deepseek":
                return self.deepseek_api_key.get_secret_value()
            case "moonshot":
                return self.moonshot_api_key.get_secret_value()
            case "auto" | "local" | "offline":
                return ""

    @property
    def program_language(self) -> Language:
        """The language of the page, the terminal, notices and errors."""
        return _program_language(self.language)

    @property
    def may_write_memory(self) -> bool:
        """False where the model may only read."""
        return self.memory == "on" and self.tools in ("ask", "memory")

    @property
    def has_machine_tools(self) -> bool:
        """True where the model may work on this machine, if only by reading."""
        return self.tools in ("ask", "read-only")

    @property
    def accounts(self) -> tuple[Account, ...]:
        """Who may sign in, the owner first; empty where nobody has to."""
        return read_accounts(self.users.get_secret_value())

    @property
    def has_guests(self) -> bool:
        """True where others reach the page and nobody signs in: each visitor gets a home that is thrown away."""
        return self.is_public and not self.accounts

    @property
    def is_public(self) -> bool:
        """True when others than this machine's user may reach the page: on a Space, or on any address but loopback."""
        return self.is_space or not _is_loopback(self.host)

    @property
    def is_space(self) -> bool:
        """True on a Hugging Face Space."""
        return bool(self.space_id)


def checked_address(address: str) -> str:
    """The address of a model server, as it is asked at; raises `ValueError` for what is none."""
    try:
        parts = urlsplit(address)
        # The port is read on demand, and raises only then.
        _ = parts.port
    except ValueError:
        raise ValueError(say("settings", "no_address")) from None
    if any(letter.isspace() or not letter.isprintable() for letter in address):
        raise ValueError(say("settings", "blank_in_address"))
    if address and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise ValueError(say("settings", "no_address"))
    if parts.username or parts.password or any(names_a_key(name) for name, _ in parse_qsl(parts.query)):
        raise ValueError(say("settings", "key_in_address"))
    return address.rstrip("/").removesuffix("/chat/completions").rstrip("/")


class _Environment(EnvSettingsSource):
    """The variables of this process, those with keys too."""

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return {name.lower(): value for name, value in environment().items() if value}


def load_settings(home: Path | None = None, changes: Mapping[str, str] | None = None) -> Settings:
    """The settings of this process; `home` (a command-line flag) wins over PALIMPSEST_HOME.

    `changes` count above all else, each by its field; an empty one is as if the setting stood nowhere.
    Raises `SettingsError` that names the variable, its value and what is possible; keys are never in the text.
    """
    try:
        folder = (home or Path(os.environ.get(f"{PREFIX}HOME") or default_home())).expanduser().absolute()
    except (RuntimeError, OSError):
        # A user without a home, or a folder that was removed while the program starts in it.
        raise SettingsError(f"{PREFIX}HOME", say("settings", "no_home")) from None
    file = folder / ".env"
    values: dict[str, object] = {"home": folder, **_as_set(changes or {})}
    in_file: dict[str, str | None] = {}
    try:
        if file.is_file():
            in_file = dotenv_values(file, encoding="utf-8")
        _refuse_unknown_names([*environment(), *in_file])
        return Settings(_env_file=file, _env_file_encoding="utf-8", **values)  # type: ignore[arg-type]
    except ValidationError as error:
        raise _first_error(error, {name.upper() for name in (*environment(), *in_file)}) from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(str(file), say("settings", "unreadable_settings", reason=plain_reason(error))) from None


def _as_set(changes: Mapping[str, str]) -> dict[str, object]:
    fields = Settings.model_fields
    return {
        name: value.strip() or fields[name].get_default(call_default_factory=True) for name, value in changes.items()
    }


def set_language() -> Language:
    """The language of the program by the environment alone, for what is said before the settings are read."""
    return _program_language(os.environ.get(f"{PREFIX}LANGUAGE", "").strip(_PASTED).lower())


def variables_of(home: Path) -> dict[str, str]:
    """The environment, and below it what the home's `.env` sets; the file counts as empty where it cannot be read."""
    try:
        in_file = dotenv_values(home / ".env", encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        in_file = {}
    return {**{name: value for name, value in in_file.items() if value is not None}, **environment()}


def variable_names(field: str) -> tuple[str, ...]:
    """The variables that set a field, the one that wins first."""
    match Settings.model_fields[field].validation_alias:
        case AliasChoices(choices=choices):
            return tuple(str(choice) for choice in choices)
        case str() as name:
            return (name,)
        case _:
            return (f"{PREFIX}{field.upper()}",)


def fixing_variable(field: str) -> str:
    """The variable of the environment that sets a field, above the home's `.env`; empty where none does."""
    set_names = {name.upper(): name for name, value in environment().items() if value}
    return next((name for name in variable_names(field) if name in set_names), "")


def hide_keys() -> None:
    """Take all keys out of the environment of this process; settings are read with them as before."""
    secret = [name for name, field in Settings.model_fields.items() if field.annotation is SecretStr]
    take_keys(frozenset(variable for name in secret for variable in variable_names(name)))


def default_home() -> Path:
    """`~/.palimpsest`; on a Space `/data/palimpsest` where `/data` is writable."""
    data = Path("/data")
    if os.environ.get("SPACE_ID") and data.is_dir() and os.access(data, os.W_OK):
        return data / "palimpsest"
    return Path.home() / ".palimpsest"


def _program_language(language: str) -> Language:
    return "zh" if language == "zh" else "en"


def _is_loopback(host: str) -> bool:
    if not host or host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _refuse_unknown_names(names: Iterable[str]) -> None:
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields} | _FOREIGN_NAMES
    for name in names:
        is_ours = name.upper().startswith(PREFIX) and not name.upper().startswith(PROFILE_KEY_PREFIX)
        if is_ours and name.upper() not in known:
            # The prefix is alike in all of them, so the rest alone tells what was meant.
            endings = [other.removeprefix(PREFIX) for other in known]
            nearest = difflib.get_close_matches(name.upper().removeprefix(PREFIX), endings, n=1, cutoff=0.7)
            hint = (
                say("settings", "did_you_mean", prefix=PREFIX, nearest=nearest[0])
                if nearest
                else say("settings", "settings_page")
            )
            raise SettingsError(name, say("settings", "no_setting", hint=hint))


def _first_error(error: ValidationError, set_names: set[str]) -> SettingsError:
    first = error.errors()[0]
    variable = _variable(str(first["loc"][0]), set_names)
    # An address may hold a password.
    value: object = first["input"]
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    is_secret = "KEY" in variable or variable in (f"{PREFIX}USERS", "MEMORY_STORE_URL") or "@" in str(text)
    shown = say("settings", "hidden") if text and is_secret else repr(text)
    return SettingsError(variable, say("settings", "not_possible", shown=shown, reason=fault_in_words(first)))


_FAULT_WORDS = {
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), "a_whole_number"),
    **dict.fromkeys(("float_parsing", "float_type", "finite_number"), "a_number"),
    "string_type": "a_text",
    "json_invalid": "no_json",
    "missing": "is_missing",
    "extra_forbidden": "is_unknown",
}
"""The words for what is wrong with a value, by its kind, where these need no figure."""


def fault_in_words(fault: ErrorDetails) -> str:
    """What is wanted, in our own words; a check of ours has said it itself."""
    wanted: dict[str, object] = fault.get("ctx", {})
    match fault["type"]:
        case "value_error":
            return str(wanted["error"])
        case "literal_error":
            return say(
                "settings",
                "one_of",
                expected=str(wanted["expected"])
                .replace(" or ", say("settings", "or"))
                .replace(", ", say("settings", "comma")),
            )
        case "greater_than_equal":
            return say("settings", "at_least", limit=wanted["ge"])
        case "greater_than":
            return say("settings", "more_than", limit=wanted["gt"])
        case "less_than_equal":
            return say("settings", "at_most", limit=wanted["le"])
        case "less_than":
            return say("settings", "less_than", limit=wanted["lt"])
        case other:
            return say("settings", _FAULT_WORDS.get(other, "of_another_kind"))


def _variable(place: str, set_names: set[str]) -> str:
    """The variable behind the place of an error, which is a field or one of the names it is read from."""
    names = {name: variable_names(name) for name in Settings.model_fields}
    candidates = next((found for name, found in names.items() if place == name or place in found), (place,))
    return next((name for name in candidates if name in set_names), candidates[0])
