"""Which secrets this process knows by their value: from settings, `.env` files, mcp.json and the environment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from dotenv import dotenv_values
from pydantic import SecretStr

from assistant.config.settings import Settings
from assistant.config.variables import environment, names_a_key
from assistant.storage.text_files import read_any_text
from assistant.storage.workspace import SECRET_FILES
from assistant.text.json_parsing import parse_json
from assistant.text.json_texts import texts_of
from assistant.text.json_values import is_object

_BEARER = re.compile(r"(?:bearer|basic|token)\s+", re.IGNORECASE)
_PLAIN = re.compile(r"https?://[^@]*|[a-z./-]+")
"""A name, a path or an address among the texts of mcp.json is no secret."""

Signature = tuple[tuple[int, int] | None, ...]


class KeySource:
    """The values of all keys of one home; a key that comes into a file while the program runs is known from then on."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        env_name, mcp_name, _ = SECRET_FILES
        self._env_paths = [folder / env_name for folder in dict.fromkeys((settings.home, *_current_folder()))]
        self._mcp_path = settings.home / mcp_name
        self._signature: Signature | None = None
        self._values: frozenset[str] = frozenset()

    def values(self) -> frozenset[str]:
        """The values as they are now; the same object while no file has changed."""
        signature = tuple(_state_of(path) for path in (*self._env_paths, self._mcp_path))
        if signature != self._signature:
            self._values = frozenset([*self._set(), *self._in_files(), *_named(dict(environment()))])
            self._signature = signature
        return self._values

    def _set(self) -> Iterator[str]:
        for name in type(self._settings).model_fields:
            value: object = getattr(self._settings, name)
            if name == "users":
                yield from (account.password_hash for account in self._settings.accounts)
            elif name == "memory_store_url":
                yield from _passwords(self._settings.memory_store_url.get_secret_value())
            elif isinstance(value, SecretStr):
                yield value.get_secret_value()

    def _in_files(self) -> Iterator[str]:
        for path in self._env_paths:
            yield from _named(_env_values(path))
        try:
            listed = parse_json(read_any_text(self._mcp_path))
        except ValueError:
            return
        servers = listed.get("mcpServers") if is_object(listed) else None
        for server in servers.values() if is_object(servers) else ():
            for part in (server.get("env"), server.get("headers")) if is_object(server) else ():
                yield from (_BEARER.sub("", text) for text in texts_of(part) if not _PLAIN.fullmatch(text))


def _state_of(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _env_values(path: Path) -> dict[str, str]:
    try:
        return {name: value or "" for name, value in dotenv_values(path, encoding="utf-8").items()}
    except (OSError, UnicodeDecodeError):
        return {}


def _named(values: dict[str, str]) -> Iterator[str]:
    for name, value in values.items():
        if names_a_key(name):
            yield value
        elif "://" in value and "@" in value:
            yield from _passwords(value)


def _passwords(address: str) -> Iterator[str]:
    """The password in an address, such as that of a proxy or, among its parameters, of a database."""
    try:
        parts = urlsplit(address)
        password = parts.password
    except ValueError:
        return
    yield from {password, unquote(password)} if password else ()
    yield from (value for name, value in parse_qsl(parts.query) if names_a_key(name))


def _current_folder() -> list[Path]:
    """The folder that the program was started in; none where it was removed since."""
    try:
        return [Path.cwd()]
    except OSError:
        return []
