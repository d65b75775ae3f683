"""Which secrets this process knows by their value: from settings, `.env` files, mcp.json and the environment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from dotenv import dotenv_values
from pydantic import SecretStr

from assistant.config.settings import Settings
from assistant.storage.text_files import read_any_text
from assistant.storage.workspace import SECRET_FILES
from assistant.text.json_parsing import parse_json
from assistant.text.json_texts import texts_of
from assistant.text.known_secrets import KnownSecrets

_KEY_NAME = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)
_BEARER = re.compile(r"(?:bearer|basic|token)\s+", re.IGNORECASE)
_PLAIN = re.compile(r"https?://[^@]*|[a-z./-]+")
"""A name, a path or an address among the texts of mcp.json is no secret."""


def known_secrets(settings: Settings, environment: Mapping[str, str]) -> KnownSecrets:
    """The secrets of one home, with those of the environment."""
    return KnownSecrets([*_set(settings), *_in_files(settings.home), *_named(environment)])


def _set(settings: Settings) -> Iterator[str]:
    for name in type(settings).model_fields:
        value: object = getattr(settings, name)
        if isinstance(value, SecretStr):
            yield value.get_secret_value()


def _in_files(home: Path) -> Iterator[str]:
    env_name, mcp_name = SECRET_FILES
    for folder in (home, Path.cwd()):
        if (folder / env_name).is_file():
            yield from _named({name: value or "" for name, value in dotenv_values(folder / env_name).items()})
    try:
        listed = parse_json(read_any_text(home / mcp_name))
    except ValueError:
        return
    servers = listed.get("mcpServers") if isinstance(listed, dict) else None
    for server in servers.values() if isinstance(servers, dict) else ():
        for part in (server.get("env"), server.get("headers")) if isinstance(server, dict) else ():
            yield from (_BEARER.sub("", text) for text in texts_of(part) if not _PLAIN.fullmatch(text))


def _named(values: Mapping[str, str]) -> Iterator[str]:
    yield from (value for name, value in values.items() if _KEY_NAME.search(name))
