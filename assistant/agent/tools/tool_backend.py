"""Where the agent's tools run: its folder, an environment without secrets, and processes that end when stopped."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from agentscope.tool import ExecResult, LocalBackend

from assistant.agent.tools.file_texts import as_utf8, like_before
from assistant.agent.tools.left_processes import MARK_NAME, end_marked
from assistant.agent.tools.other_homes import HomesBeside, status_of
from assistant.config.plain_reasons import plain_reason
from assistant.config.words import say
from assistant.errors import PalimpsestError
from assistant.storage.atomic_io import read_plain_file, replace_file
from assistant.storage.workspace import OTHER_HOMES, SECRET_FILES

# What a shell needs to work; anything else of our environment (keys above all) stays out of it.
_ENVIRONMENT_NAMES = {
    "COLORTERM", "HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TEMP", "TERM", "TMP", "TMPDIR", "TZ", "USER",
    "APPDATA", "COMSPEC", "LOCALAPPDATA", "PATHEXT", "PROGRAMDATA", "SYSTEMROOT", "USERPROFILE", "WINDIR",
}  # fmt: skip
OUTPUT_MAX_BYTES = 1_000_000
"""Bytes kept of each stream of a command, half from its start and half from its end."""
LIST_MAX_BYTES = 10_000_000
"""Of what the helper of Glob found, which is of use as a whole only."""
FILE_MAX_BYTES = 50_000_000
"""Larger files are not taken into memory; a command can look at parts of them."""
TEXT_MAX_BYTES = 10_000_000
"""The same for texts, which take thirty times their size where their lines are short."""
_BINARY_TYPES = {".pdf"}
_DRAIN_SECONDS = 0.5
_DRAIN_STEP_SECONDS = 0.01

WriteMemory = Callable[[Path, str], None]

log = logging.getLogger(__name__)


class ToolBackend(LocalBackend):
    """AgentScope's local backend; kills the whole process group on timeout and cancel, and caps what it collects."""

    def __init__(
        self, home: Path, start_folder: Path, is_memory_file: Callable[[Path], bool], write_memory: WriteMemory
    ) -> None:
        """Nothing opens the secret files of `home`, whatever name they have, nor the homes of others beside it."""
        self._secrets = [home / name for name in SECRET_FILES]
        self._others = HomesBeside(home)
        self._start_folder = start_folder
        self._is_memory_file = is_memory_file
        self._write_memory = write_memory

    async def getcwd(self) -> str:
        """Where relative searches start."""
        return str(self._start_folder)

    async def read_file(self, path: str) -> bytes:
        """A file's bytes, text in UTF-8. Raises `OSError` for what is no plain file, holds secrets or is too large."""
        is_binary = Path(path).suffix.lower() in _BINARY_TYPES
        most = FILE_MAX_BYTES if is_binary else TEXT_MAX_BYTES
        content = await asyncio.to_thread(_read_plain, Path(path), self._secrets, self._others, most)
        return content if is_binary else as_utf8(content)

    async def write_file(self, path: str, data: bytes) -> None:
        """Write a file, whole or not at all, in the encoding and with the line ends it had; links are followed.

        A memory file goes through its one writer, so that the change is logged and shown.
        """
        target, text = Path(path), data.decode("utf-8")
        if self._is_memory_file(target):
            await asyncio.to_thread(self._write_memory, target, text)
            return
        await asyncio.to_thread(_write_plain, target, text, self._secrets, self._others)

    async def exec_shell(
        self,
        command: list[str],
        *,
        cwd: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> ExecResult:
        """Run a program to its end, its time limit or the cancellation of the turn; no child outlives the call.

        Raises `PalimpsestError` with words for the model where the program cannot be started.
        """
        try:
            prepared = await asyncio.to_thread(_prepared, command, self._secrets, self._others)
            most = LIST_MAX_BYTES if _is_glob(command) else OUTPUT_MAX_BYTES
            program = await _start(prepared, cwd or str(self._start_folder), most)
        except (OSError, ValueError) as error:
            name = Path(command[0]).name
            raise PalimpsestError(say("agent", "not_started", program=name, reason=plain_reason(error))) from error
        try:
            async with asyncio.timeout(timeout):
                await program.exited.wait()
                # Children left in the background would hold the pipes, and outlive the turn.
                program.kill_group()
                await program.drain()
        except TimeoutError:
            return ExecResult(exit_code=-1, stdout=b"", stderr=b"timed out")
        finally:
            await program.end()
        output = program.stdout.content()
        if _is_glob(command):
            if program.exit_code:
                log.error("the helper of Glob failed: %s", program.stderr.content().decode("utf-8", "replace"))
                raise PalimpsestError(
                    say("agent", "tool_failed", tool="Glob", reason=say("plain_reasons", "unforeseen"))
                )
            if program.stdout.is_cut:
                raise PalimpsestError(say("agent", "too_many_found"))
            output = await asyncio.to_thread(self._without_others, output)
        return ExecResult(exit_code=program.exit_code, stdout=output, stderr=program.stderr.content())

    def _without_others(self, found: bytes) -> bytes:
        """What the helper of the Glob tool found, without what is in other homes."""
        try:
            paths = json.loads(found)
        except ValueError:
            return found
        kept = [path for path in paths if not self._others.has(Path(os.path.realpath(self._start_folder / path)))]
        return json.dumps(kept).encode()


def shell_environment() -> dict[str, str]:
    """The environment of every command: no variable that is not needed, so no key can leak through it."""
    kept = {name: value for name, value in os.environ.items() if _is_harmless(name)}
    # ripgrep is beside this interpreter when it was installed as a package.
    scripts = str(Path(sys.executable).parent)
    kept["PATH"] = os.pathsep.join(filter(None, [kept.get("PATH", ""), scripts]))
    return kept


def _is_harmless(name: str) -> bool:
    return name.upper() in _ENVIRONMENT_NAMES or name.startswith("LC_")


def _is_glob(command: list[str]) -> bool:
    return any(part.startswith("--base-dir=") for part in command) and command[0] == sys.executable


def _prepared(command: list[str], secrets: Sequence[Path], others: HomesBeside) -> list[str]:
    if Path(command[0]).name not in {"rg", "rg.exe"}:
        return command
    program = shutil.which(command[0], path=shell_environment()["PATH"]) or command[0]
    # The last glob wins, so these cannot be lifted by one the model gave.
    names = [*SECRET_FILES, *(_as_glob(name) for name in _other_names(secrets, command[-1]))]
    names += [_as_glob(name) for name in others.linked_names(Path(command[-1]))]
    names += [f"**/{OTHER_HOMES}/{_as_glob(name)}/**" for name in _other_homes(secrets)]
    hidden = [part for name in names for part in ("--iglob", f"!{name}")]
    # Behind the `--` before the path, options would be taken for paths.
    end = len(command) - 2 if command[-2:-1] == ["--"] else len(command)
    return [program, *command[1:end], *hidden, *command[end:]]


def _as_glob(name: str) -> str:
    return "".join(f"[{character}]" if character in "*?[{}" else character for character in name)


def _other_names(secrets: Sequence[Path], folder: str) -> list[str]:
    """The names under `folder` that hard links give a secret file; looked for only where there is such a link."""
    files = {(status.st_dev, status.st_ino) for path in secrets if (status := status_of(path)) and status.st_nlink > 1}
    if not files:
        return []
    paths = (Path(place, name) for place, _, names in os.walk(folder) for name in names)
    return sorted({path.name for path in paths if (one := status_of(path)) and (one.st_dev, one.st_ino) in files})


def _other_homes(secrets: Sequence[Path]) -> list[str]:
    """The names of the folders with other people's homes, which are beside the secret files of this one."""
    return sorted({folder.name for path in secrets for folder in path.parent.glob(f"{OTHER_HOMES}/*")})


def _read_plain(path: Path, secrets: Sequence[Path], others: HomesBeside, max_bytes: int) -> bytes:
    # Asked again here: the judgement on the call may be hours old, and what a name leads to can change.
    real = path.resolve()
    _refuse_secret(real, secrets, others)
    return read_plain_file(real, max_bytes)


def _write_plain(path: Path, text: str, secrets: Sequence[Path], others: HomesBeside) -> None:
    real = path.resolve()
    _refuse_secret(real, secrets, others)
    before = read_plain_file(real) if real.exists() else b""
    replace_file(real, like_before(before, text))


def _refuse_secret(path: Path, secrets: Sequence[Path], others: HomesBeside) -> None:
    if others.has(path):
        raise OSError(say("agent", "home_of_another", name=path.name))
    is_other_name = path.exists() and any(secret.exists() and path.samefile(secret) for secret in secrets)
    if path.name.lower() in SECRET_FILES or is_other_name:
        raise OSError(say("agent", "secret_file", name=path.name))


class _Program(asyncio.SubprocessProtocol):
    """A running program and what it has written so far.

    asyncio's own `Process.wait` waits for the pipes too, and a child that went into a session of its own can hold them
    for ever; here the end of the program is an event of its own.
    """

    def __init__(self, mark: str, max_bytes: int) -> None:
        """`mark` is in the environment of whatever it starts; `max_bytes` are kept of what it says."""
        self.exited = asyncio.Event()
        self._mark = mark
        self.stdout = _Output(max_bytes)
        self.stderr = _Output(max_bytes)
        self._open_pipes = {1, 2}
        self._transport: asyncio.SubprocessTransport | None = None

    @property
    def exit_code(self) -> int:
        """0 while it runs."""
        return (self._transport.get_returncode() if self._transport else None) or 0

    def connection_made(self, transport: asyncio.SubprocessTransport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        # Not asked for its class: uvloop, in which the page is served, has one that is no `SubprocessTransport`.
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        (self.stdout if fd == 1 else self.stderr).add(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open_pipes.discard(fd)

    def process_exited(self) -> None:
        self.exited.set()

    def kill_group(self) -> None:
        """End it and every child that did not leave its group."""
        if self._transport is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            if os.name == "nt":
                self._transport.kill()
            else:
                os.killpg(self._transport.get_pid(), signal.SIGKILL)

    async def drain(self) -> None:
        """Take what is still in the pipes; a pipe that stays open and silent is given up."""
        silent_seconds, total = 0.0, -1
        while self._open_pipes and silent_seconds < _DRAIN_SECONDS:
            await asyncio.sleep(_DRAIN_STEP_SECONDS)
            written = self.stdout.total + self.stderr.total
            silent_seconds = silent_seconds + _DRAIN_STEP_SECONDS if written == total else 0.0
            total = written

    async def end(self) -> None:
        """Leave nothing of it: no process that it started, no open pipe."""
        self.kill_group()
        number = 0
        if self._transport is not None:
            # Only a killed process is waited for, and that is over at once.
            await self.exited.wait()
            number = self._transport.get_pid() or 0
            self._transport.close()
        # A child in a session of its own is in no group of ours.
        await asyncio.shield(end_marked(self._mark, number))


class _Output:
    """What a stream brought: all of it while it is small; of much the start and the end, and how much lies between."""

    def __init__(self, max_bytes: int) -> None:
        self.total = 0
        self._half = max_bytes // 2
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, piece: bytes) -> None:
        """Take the next bytes."""
        self.total += len(piece)
        room = self._half - len(self._head)
        self._head += piece[:room]
        self._tail += piece[max(room, 0) :]
        del self._tail[: max(0, len(self._tail) - self._half)]

    @property
    def is_cut(self) -> bool:
        """True where something is missing between start and end."""
        return self.total > len(self._head) + len(self._tail)

    def content(self) -> bytes:
        """What was kept, with a line between start and end that says what is missing."""
        omitted = self.total - len(self._head) - len(self._tail)
        if not omitted:
            return bytes(self._head + self._tail)
        return bytes(self._head) + say("agent", "output_left_out", count=omitted).encode() + bytes(self._tail)


async def _start(command: list[str], folder: str, max_bytes: int) -> _Program:
    """The started program; a cancellation while it starts ends it too."""
    if any("\0" in part for part in command):
        # The loop of the page would start what stands before it, which is another command than the one allowed.
        raise ValueError("embedded null byte")
    mark = secrets.token_hex(16)
    starting = asyncio.ensure_future(
        asyncio.get_running_loop().subprocess_exec(
            lambda: _Program(mark, max_bytes),
            *command,
            cwd=folder,
            env={**shell_environment(), MARK_NAME: mark},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=os.name != "nt",
        )
    )
    try:
        return (await asyncio.shield(starting))[1]
    except asyncio.CancelledError:
        _, program = await starting
        await program.end()
        raise
