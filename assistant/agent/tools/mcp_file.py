"""mcp.json: the MCP servers the owner lists, with the variables of the environment put in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from assistant.config.plain_reasons import plain_reason
from assistant.config.words import say
from assistant.storage.atomic_io import read_plain_file
from assistant.text.json_values import is_list, is_object

_MAX_FILE_BYTES = 1_000_000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}\Z")
_POSITION = re.compile(r"line \d+ column \d+")
_REASONS = {
    "list_type": "a_list",
    "dict_type": "an_object",
    "model_type": "an_object",
    "model_attributes_type": "an_object",
    "string_type": "a_text",
    "bool_type": "a_truth",
    "bool_parsing": "a_truth",
}
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::?-([^{}]*))?\}")


def _as_text(value: object) -> object:
    """Other programs take figures and switches too where a text is meant."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


Text = Annotated[str, BeforeValidator(_as_text)]


class ServerSettings(BaseModel):
    """One entry of `mcpServers`, in the form that other programs use too: a command to start, or an address."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    command: str = ""
    args: list[Text] = []
    env: dict[str, Text] = {}
    cwd: str = ""
    url: Annotated[str, Field(validation_alias=AliasChoices("url", "serverUrl", "httpUrl"))] = ""
    headers: dict[str, Text] = {}
    disabled: bool = False

    @model_validator(mode="after")
    def _must_be_reachable_one_way(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError(say("mcp", "needs_command_or_url"))
        if self.url and not self.url.startswith(("http://", "https://")):
            raise ValueError(say("mcp", "url_start"))
        return self


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")

    servers: Annotated[dict[str, object], Field(validation_alias=AliasChoices("mcpServers", "servers"))] = {}


@dataclass(frozen=True, slots=True)
class ListedServers:
    """What mcp.json lists: the servers that can be tried, by name, and what is wrong with the rest, one line each."""

    servers: dict[str, ServerSettings]
    problems: tuple[str, ...]


NO_SERVERS = ListedServers({}, ())
"""What a home without mcp.json lists."""


def read_servers(path: Path, environment: Mapping[str, str] | None = None) -> ListedServers:
    """The servers in mcp.json that are not switched off; none where there is no such file.

    `${NAME}`, `${env:NAME}` and `${NAME:-default}` are the variables of `environment`.
    """
    try:
        content = read_plain_file(path, _MAX_FILE_BYTES).removeprefix(b"\xef\xbb\xbf") if path.exists() else b"{}"
        file = _File.model_validate_json(content)
    except OSError as error:
        reason = plain_reason(error)
        return ListedServers({}, (say("mcp", "file_unreadable", reason=reason),))
    except ValidationError as error:
        return ListedServers({}, (say("mcp", "file_unusable", reason=_first_reason(error)),))
    servers: dict[str, ServerSettings] = {}
    problems: list[str] = []
    for name, entry in file.servers.items():
        if _is_switched_off(entry):
            continue
        missing: list[str] = []
        try:
            settings = ServerSettings.model_validate(_with_variables(entry, environment or {}, missing))
        except ValidationError as error:
            problems.append(say("mcp", "entry_unusable", name=name, reason=_first_reason(error)))
            continue
        if missing:
            variables = ", ".join(dict.fromkeys(missing))
            problems.append(say("mcp", "variable_missing", name=name, variables=variables))
        elif not _NAME.match(name):
            problems.append(say("mcp", "bad_name", name=name))
        else:
            servers[name] = settings
    return ListedServers(servers, tuple(problems))


def _is_switched_off(entry: object) -> bool:
    return is_object(entry) and (entry.get("disabled") is True or entry.get("enabled") is False)


def _with_variables(value: object, environment: Mapping[str, str], missing: list[str]) -> object:
    """The value with every variable put in, all the way down; those that are not set are added to `missing`."""

    def found(match: re.Match[str]) -> str:
        name, default = match[1], match[2]
        if environment.get(name):
            return environment[name]
        if default is None and name not in environment:
            missing.append(name)
        return default or ""

    match value:
        case str():
            return _VARIABLE.sub(found, value)
        case _ if is_list(value):
            return [_with_variables(one, environment, missing) for one in value]
        case _ if is_object(value):
            return {name: _with_variables(one, environment, missing) for name, one in value.items()}
        case _:
            return value


def _first_reason(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    match first["type"]:
        case "json_invalid":
            position = _POSITION.search(first["msg"])
            reason = say("mcp", "no_json_at", place=position[0]) if position else say("mcp", "no_json")
        case "value_error":
            reason = first["msg"].removeprefix("Value error, ")
        case kind:
            reason = say("mcp", _REASONS.get(kind, "not_readable"))
    return f"{place}: {reason}" if place else reason
