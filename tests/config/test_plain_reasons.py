"""What failed is told in plain words, whatever library it came from."""

from __future__ import annotations

import errno
import json
import logging
import socket
import sqlite3
import ssl
from pathlib import Path
from typing import get_args

import httpx
import openai
import pytest
from pydantic import BaseModel

from assistant.config.plain_reasons import Kind, kind_of, plain_reason
from assistant.config.words import LANGUAGES, read_table, speak
from assistant.errors import CompactionError

_REQUEST = httpx.Request("POST", "http://127.0.0.1:9/v1")


class _Row(BaseModel):
    number: int


def wrapped(error: BaseException, cause: BaseException) -> BaseException:
    """The error as a library raises it: with what really happened below it."""
    error.__cause__ = cause
    return error


def raised_by(work: str) -> Exception:
    """What Python itself raises."""
    connection = sqlite3.connect(":memory:")
    try:
        match work:
            case "json":
                json.loads("{")
            case "sql":
                connection.execute("SELECT nothing FROM nowhere")
            case "schema":
                _Row.model_validate({"number": "many"})
            case "decode":
                b"\xff".decode("utf-8")
            case _:
                raise AssertionError(work)
    except (ValueError, sqlite3.Error) as error:
        return error
    finally:
        connection.close()
    raise AssertionError(work)


def of_status(status: int) -> openai.APIStatusError:
    """The answer of a server that refuses."""
    return openai.APIStatusError("Error code", response=httpx.Response(status, request=_REQUEST), body=None)


def damaged_database(folder: Path) -> sqlite3.Error:
    """What SQLite says of a file that is no database."""
    path = folder / "index.sqlite"
    path.write_bytes(b"no database" * 100)
    connection = sqlite3.connect(path)
    try:
        connection.execute("SELECT * FROM sqlite_master")
    except sqlite3.Error as error:
        return error
    finally:
        connection.close()
    raise AssertionError


CASES: list[tuple[BaseException, Kind]] = [
    (OSError(errno.ENOSPC, "No space left on device", "MEMORY.md"), "disk_full"),
    (OSError(errno.EDQUOT, "Disk quota exceeded"), "disk_full"),
    (PermissionError(errno.EACCES, "Permission denied"), "no_permission"),
    (PermissionError("denied"), "no_permission"),
    (OSError(errno.EROFS, "Read-only file system"), "read_only"),
    (FileNotFoundError(errno.ENOENT, "No such file or directory", "a.md"), "not_there"),
    (FileExistsError(errno.EEXIST, "File exists"), "is_there"),
    (IsADirectoryError(errno.EISDIR, "Is a directory"), "is_a_folder"),
    (NotADirectoryError(errno.ENOTDIR, "Not a directory"), "is_no_folder"),
    (OSError(errno.ENAMETOOLONG, "File name too long"), "name_too_long"),
    (OSError(errno.EBUSY, "Device or resource busy"), "in_use"),
    (OSError(errno.EMFILE, "Too many open files"), "too_many_files"),
    (OSError(errno.EIO, "Input/output error"), "disk_error"),
    (OSError(errno.ELOOP, "Too many levels of symbolic links"), "link_circle"),
    (OSError(errno.ENOLCK, "No locks available"), "no_locks"),
    (OSError(errno.ENOSYS, "Function not implemented"), "no_locks"),
    (TimeoutError(), "time_out"),
    (TimeoutError(errno.ETIMEDOUT, "Connection timed out"), "time_out"),
    (httpx.ReadTimeout("", request=_REQUEST), "time_out"),
    (openai.APITimeoutError(_REQUEST), "time_out"),
    (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), "refused"),
    (wrapped(httpx.ConnectError("All connection attempts failed"), ConnectionRefusedError(111, "no")), "refused"),
    (wrapped(openai.APIConnectionError(request=_REQUEST), httpx.ConnectError("failed")), "no_connection"),
    (httpx.ProxyError("403 Forbidden"), "no_connection"),
    (ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"), "broke_off"),
    (BrokenPipeError(errno.EPIPE, "Broken pipe"), "broke_off"),
    (EOFError(), "broke_off"),
    (httpx.RemoteProtocolError("Server disconnected without sending a response."), "broke_off"),
    (OSError(errno.ENETUNREACH, "Network is unreachable"), "no_way"),
    (OSError(errno.EHOSTUNREACH, "No route to host"), "no_way"),
    (socket.gaierror(-2, "Name or service not known"), "unknown_machine"),
    (ssl.SSLCertVerificationError(1, "certificate verify failed"), "not_trusted"),
    (ssl.SSLError(1, "wrong version number"), "broke_off"),
    (OSError(errno.EADDRINUSE, "Address already in use"), "address_taken"),
    (of_status(401), "key_refused"),
    (of_status(403), "not_allowed"),
    (of_status(404), "not_known"),
    (of_status(429), "too_often"),
    (of_status(503), "server_trouble"),
    (of_status(418), "server_refused"),
    (OSError("no space left"), "system_refused"),
    (raised_by("json"), "malformed"),
    (raised_by("schema"), "malformed"),
    (raised_by("decode"), "unreadable_text"),
    (RecursionError("maximum recursion depth exceeded"), "too_deep"),
    (MemoryError(), "no_memory"),
    (ModuleNotFoundError("No module named 'onnxruntime'"), "part_missing"),
    (ExceptionGroup("unhandled errors in a TaskGroup (1 sub-exception)", [ConnectionRefusedError(111, "")]), "refused"),
    (raised_by("sql"), "unforeseen"),
    (RuntimeError("the turn failed"), "unforeseen"),
    (KeyError("answer"), "unforeseen"),
    (AttributeError("'NoneType' object has no attribute 'text'"), "unforeseen"),
]


@pytest.mark.parametrize(("error", "kind"), CASES, ids=[f"{type(error).__name__}-{kind}" for error, kind in CASES])
def test_a_failure_is_told_in_the_words_of_its_kind(error: BaseException, kind: Kind) -> None:
    assert (kind_of(error), plain_reason(error)) == (kind, read_table("plain_reasons", "en")[kind])


def test_a_damaged_database_is_told(tmp_path: Path) -> None:
    assert plain_reason(damaged_database(tmp_path)) == "the file is damaged"


def test_an_error_of_ours_keeps_its_own_words() -> None:
    assert plain_reason(CompactionError("Nothing to undo.")) == "Nothing to undo"


def test_what_the_library_said_goes_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    plain_reason(OSError(errno.ENOSPC, "No space left on device"))
    plain_reason(KeyError("answer"))
    assert "No space left on device" in caplog.messages[0]
    assert caplog.records[1].exc_info is not None


def test_a_cause_that_was_hidden_says_nothing() -> None:
    hidden = RuntimeError("words")
    hidden.__context__, hidden.__suppress_context__ = PermissionError(), True
    assert kind_of(hidden) == "unforeseen"


def test_what_the_system_says_of_a_second_try_is_the_reason() -> None:
    second = PermissionError(errno.EACCES, "Permission denied")
    second.__context__ = FileNotFoundError(errno.ENOENT, "No such file or directory")
    assert kind_of(second) == "no_permission"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_has_its_words(language: str) -> None:
    assert set(read_table("plain_reasons", "zh" if language == "zh" else "en")) == set(get_args(Kind))


def test_the_words_are_in_the_language_of_the_program() -> None:
    speak("zh")
    assert plain_reason(MemoryError()) == "内存不足"
