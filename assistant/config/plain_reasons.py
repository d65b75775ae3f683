"""Why something failed, in plain words: no class name, no traceback and no sentence of a library."""

from __future__ import annotations

import errno
import logging
import sqlite3
import ssl
from collections.abc import Iterator
from socket import gaierror
from typing import Literal, TypeGuard

from assistant.config.words import say
from assistant.errors import PalimpsestError

log = logging.getLogger(__name__)

Kind = Literal[
    "disk_full",
    "no_permission",
    "read_only",
    "not_there",
    "is_there",
    "is_a_folder",
    "is_no_folder",
    "name_too_long",
    "in_use",
    "too_many_files",
    "disk_error",
    "link_circle",
    "no_locks",
    "time_out",
    "refused",
    "broke_off",
    "no_way",
    "unknown_machine",
    "not_trusted",
    "address_taken",
    "key_refused",
    "not_allowed",
    "not_known",
    "too_often",
    "server_trouble",
    "server_refused",
    "no_connection",
    "damaged",
    "unreadable_text",
    "malformed",
    "too_deep",
    "no_memory",
    "part_missing",
    "system_refused",
    "unforeseen",
]
"""The kinds of failure; each has its words in `plain_reasons.toml`."""

_BY_NUMBER: dict[str, Kind] = {
    "ENOSPC": "disk_full",
    "EDQUOT": "disk_full",
    "EFBIG": "disk_full",
    "EACCES": "no_permission",
    "EPERM": "no_permission",
    "EROFS": "read_only",
    "ENOENT": "not_there",
    "EEXIST": "is_there",
    "ENOTEMPTY": "is_there",
    "EISDIR": "is_a_folder",
    "ENOTDIR": "is_no_folder",
    "ENAMETOOLONG": "name_too_long",
    "EBUSY": "in_use",
    "ETXTBSY": "in_use",
    "EAGAIN": "in_use",
    "EDEADLK": "in_use",
    "EMFILE": "too_many_files",
    "ENFILE": "too_many_files",
    "EIO": "disk_error",
    "ENXIO": "disk_error",
    "ENODEV": "disk_error",
    "ESTALE": "disk_error",
    "ELOOP": "link_circle",
    "ENOLCK": "no_locks",
    "ENOSYS": "no_locks",
    "ETIMEDOUT": "time_out",
    "ECONNREFUSED": "refused",
    "ECONNRESET": "broke_off",
    "ECONNABORTED": "broke_off",
    "EPIPE": "broke_off",
    "ENETUNREACH": "no_way",
    "ENETDOWN": "no_way",
    "EHOSTUNREACH": "no_way",
    "EHOSTDOWN": "no_way",
    "EADDRINUSE": "address_taken",
    "EADDRNOTAVAIL": "no_way",
    "ENOMEM": "no_memory",
}
_OF_NUMBER: dict[int, Kind] = {getattr(errno, name): kind for name, kind in _BY_NUMBER.items() if hasattr(errno, name)}
_OF_WINDOWS: dict[int, Kind] = {32: "in_use", 33: "in_use", 112: "disk_full"}
_OF_SQLITE: dict[int, Kind] = {
    sqlite3.SQLITE_FULL: "disk_full",
    sqlite3.SQLITE_BUSY: "in_use",
    sqlite3.SQLITE_LOCKED: "in_use",
    sqlite3.SQLITE_READONLY: "no_permission",
    sqlite3.SQLITE_PERM: "no_permission",
    sqlite3.SQLITE_CANTOPEN: "no_permission",
    sqlite3.SQLITE_IOERR: "disk_error",
    sqlite3.SQLITE_NOMEM: "no_memory",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_NOTADB: "damaged",
}
_OF_STATUS: dict[int, Kind] = {401: "key_refused", 403: "not_allowed", 404: "not_known", 408: "time_out"}
_OF_TYPE: tuple[tuple[type[BaseException], Kind], ...] = (
    (gaierror, "unknown_machine"),
    (ssl.SSLCertVerificationError, "not_trusted"),
    (ssl.SSLError, "broke_off"),
    (TimeoutError, "time_out"),
    (ConnectionRefusedError, "refused"),
    (ConnectionError, "broke_off"),
    (EOFError, "broke_off"),
    (FileNotFoundError, "not_there"),
    (FileExistsError, "is_there"),
    (IsADirectoryError, "is_a_folder"),
    (NotADirectoryError, "is_no_folder"),
    (PermissionError, "no_permission"),
    (BlockingIOError, "in_use"),
    (OSError, "system_refused"),
    (UnicodeError, "unreadable_text"),
    (RecursionError, "too_deep"),
    (MemoryError, "no_memory"),
    (ImportError, "part_missing"),
)
# Errors of libraries that are not imported here, by the words their class is called with.
_OF_NAME: tuple[tuple[str, Kind], ...] = (
    ("timeout", "time_out"),
    ("connect", "no_connection"),
    ("network", "no_connection"),
    ("proxy", "no_connection"),
    ("remoteprotocol", "broke_off"),
    ("readerror", "broke_off"),
    ("writeerror", "broke_off"),
    ("decode", "malformed"),
    ("validation", "malformed"),
)


def plain_reason(error: BaseException) -> str:
    """Why it failed, as a part of a sentence without its full stop; what the library said goes to the log.

    An error of ours says it in its own words.
    """
    if isinstance(error, PalimpsestError):
        return str(error).removesuffix(".")
    kind = kind_of(error)
    if kind == "unforeseen":
        log.error("something failed that has no plain words", exc_info=error)
    else:
        log.info("%s: %s: %s", kind, type(error).__name__, error)
    return say("plain_reasons", kind)


def is_group(error: BaseException) -> TypeGuard[BaseExceptionGroup[BaseException]]:
    """True for what concurrent work raises: a group of errors."""
    return isinstance(error, BaseExceptionGroup)


def kind_of(error: BaseException) -> Kind:
    """The kind of a failure: that of the innermost error which has one, as libraries wrap what happened."""
    for cause in _causes(error):
        if (kind := _own_kind(cause)) is not None:
            return kind
    return "unforeseen"


def _own_kind(error: BaseException) -> Kind | None:
    if isinstance(error, sqlite3.Error):
        # The lowest byte is the kind, the others are its shades.
        return _OF_SQLITE.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    if isinstance(error, OSError):
        windows = _OF_WINDOWS.get(getattr(error, "winerror", None) or 0)
        # These two have numbers of their own.
        number = 0 if isinstance(error, gaierror | ssl.SSLError) else error.errno or 0
        if by_number := windows or _OF_NUMBER.get(number):
            return by_number
    for type_, kind in _OF_TYPE:
        if isinstance(error, type_):
            return kind
    status = getattr(error, "status_code", None) or getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(status, int):
        return _kind_of_status(status)
    name = type(error).__name__.lower()
    for words, kind in _OF_NAME:
        if words in name:
            return kind
    return None


def _kind_of_status(status: int) -> Kind:
    if status in _OF_STATUS:
        return _OF_STATUS[status]
    if status == 429:
        return "too_often"
    return "server_trouble" if status >= 500 else "server_refused"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The innermost first, and of a group its first."""
    chain: list[BaseException] = []
    seen: BaseException | None = error
    while seen is not None and seen not in chain:
        chain.append(seen)
        if is_group(seen):
            seen = seen.exceptions[0]
        else:
            # What is raised `from None` hides what came before; what the system says of a second try is the reason.
            is_own = isinstance(seen, OSError) and seen.errno is not None
            seen = seen.__cause__ or (None if seen.__suppress_context__ or is_own else seen.__context__)
    return reversed(chain)
