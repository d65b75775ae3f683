"""Every knob, its unit and its default. Nobody else reads the environment."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from assistant.errors import SettingsError

PREFIX = "PALIMPSEST_"
# Read by the benchmarks, not by the product.
_FOREIGN_NAMES = {"PALIMPSEST_BENCH_DATA"}

Provider = Literal["auto", "dashscope", "openai", "offline"]
Switch = Literal["on", "off"]


class Settings(BaseSettings):
    """Where values come from, first wins: the environment, `.env` in the home, the default here."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", populate_by_name=True, env_ignore_empty=True)

    home: Path = Field(default_factory=lambda: default_home())
    """The workspace: memory, conversations and index of one owner."""
    provider: Provider = "auto"
    """Who answers. `auto`: a key, else a server on loopback, else the built-in offline assistant."""
    model: str = ""
    """The chat model's name; empty: the provider's default, or the first model a loopback server lists."""
    base_url: str = Field("", validation_alias=AliasChoices("PALIMPSEST_BASE_URL", "OPENAI_BASE_URL"))
    """Address of an OpenAI-compatible server, with its `/v1`."""
    api_key: SecretStr = SecretStr("")
    """Key for `provider`; when empty, DASHSCOPE_API_KEY or OPENAI_API_KEY counts."""
    dashscope_api_key: SecretStr = Field(SecretStr(""), validation_alias="DASHSCOPE_API_KEY")
    openai_api_key: SecretStr = Field(SecretStr(""), validation_alias="OPENAI_API_KEY")
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
    embedder: Literal["default", "openai", "dashscope", "none"] = "default"
    """Who turns text into vectors; `none`: full-text search alone."""
    embedding_model: str = ""
    embedding_base_url: str = Field(
        "", validation_alias=AliasChoices("PALIMPSEST_EMBEDDING_BASE_URL", "EMBEDDING_BASE_URL")
    )
    embedding_api_key: SecretStr = Field(
        SecretStr(""), validation_alias=AliasChoices("PALIMPSEST_EMBEDDING_API_KEY", "EMBEDDING_API_KEY")
    )
    embedding_dimensions: int | None = Field(None, ge=1)
    memory_store_backend: Literal["auto", "chroma", "chroma-server", "local"] = Field(
        "auto", validation_alias="MEMORY_STORE_BACKEND"
    )
    """Where vectors live; `auto`: local on Windows, else chroma."""
    memory_store_url: str = Field("", validation_alias="MEMORY_STORE_URL")
    """Address of the server for `chroma-server`."""

    language: Literal["auto", "en", "zh"] = "auto"
    """Language of prompts; `auto`: that of the conversation."""
    timezone: str = ""
    """IANA name for dates, such as Asia/Shanghai; empty: the machine's, or what the browser hands over."""
    users: str = ""
    """`name:hash` pairs separated by commas (`palimpsest hash-password`): sign-in on."""
    tools: Literal["ask", "read-only", "off"] = "ask"
    """Shell and file tools: ask before anything risky, only read, or none."""
    max_steps: int = Field(200, ge=1)
    """Model calls a turn; at the limit the page offers Continue."""
    host: str = ""
    """Address the page listens on; empty: 127.0.0.1, on a Space what the platform sets."""
    port: int | None = Field(None, ge=0, le=65535)
    """Port of the page; None: the first free one from 7860."""

    space_id: str = Field("", validation_alias="SPACE_ID")
    space_host: str = Field("", validation_alias="SPACE_HOST")

    @field_validator("timezone")
    @classmethod
    def _must_be_known(cls, name: str) -> str:
        try:
            return ZoneInfo(name).key if name else name
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError("not an IANA time zone such as Europe/Berlin") from None

    @property
    def is_space(self) -> bool:
        """True on a Hugging Face Space."""
        return bool(self.space_id)


def load_settings(home: Path | None = None) -> Settings:
    """The settings of this process; `home` (a command-line flag) wins over PALIMPSEST_HOME.

    Raises `SettingsError` that names the variable, its value and what is possible; keys are never in the text.
    """
    _refuse_unknown_names()
    folder = (home or Path(os.environ.get(f"{PREFIX}HOME") or default_home())).expanduser()
    values: dict[str, object] = {"home": folder.absolute()}
    try:
        return Settings(_env_file=folder / ".env", _env_file_encoding="utf-8", **values)  # type: ignore[arg-type]
    except ValidationError as error:
        raise _first_error(error) from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(".env", f"cannot be read: {error}") from None


def default_home() -> Path:
    """`~/.palimpsest`; on a Space `/data/palimpsest` where `/data` is writable."""
    data = Path("/data")
    if os.environ.get("SPACE_ID") and data.is_dir() and os.access(data, os.W_OK):
        return data / "palimpsest"
    return Path.home() / ".palimpsest"


def _refuse_unknown_names() -> None:
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields} | _FOREIGN_NAMES
    for name in os.environ:
        if name.startswith(PREFIX) and name not in known:
            nearest = difflib.get_close_matches(name, known, n=1)
            hint = f"Did you mean {nearest[0]}?" if nearest else "The README lists the variables."
            raise SettingsError(name, f"is not a setting. {hint}")


def _first_error(error: ValidationError) -> SettingsError:
    first = error.errors()[0]
    field = str(first["loc"][0])
    alias = Settings.model_fields[field].validation_alias if field in Settings.model_fields else None
    variable = field if field.isupper() else f"{PREFIX}{field.upper()}"
    if isinstance(alias, str):
        variable = alias
    shown = "(hidden)" if "KEY" in variable else repr(first["input"])
    return SettingsError(variable, f"{shown} is not possible: {first['msg']}.")
