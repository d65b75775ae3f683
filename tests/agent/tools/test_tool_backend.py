"""Commands that really end, an environment without secrets, and capped output, with real processes."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import psutil
import pytest
from agentscope.tool import Glob, Grep

from assistant.agent.tools.tool_backend import (
    FILE_MAX_BYTES,
    OUTPUT_MAX_BYTES,
    TEXT_MAX_BYTES,
    ToolBackend,
    shell_environment,
)
from assistant.errors import PalimpsestError
from assistant.messages.blocks import TextBlock, ToolResultState

pytestmark = pytest.mark.page_loop


@pytest.fixture
def written() -> list[tuple[Path, str]]:
    return []


@pytest.fixture
def backend(tmp_path: Path, written: list[tuple[Path, str]]) -> ToolBackend:
    return ToolBackend(
        tmp_path, tmp_path, lambda path: path.name == "USER.md", lambda path, text: written.append((path, text))
    )


def children_that_run(marker: str) -> list[str]:
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or [])
        if marker in line and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(line)
    return found


def seconds(whole: int) -> str:
    """A time to sleep that only this run of the tests uses, so that its processes are told from others."""
    return f"{whole}.{os.getpid()}"


async def all_gone(marker: str) -> bool:
    """Waits until the killed processes have left the table; a leak runs into the test's time limit."""
    while children_that_run(marker):
        await asyncio.sleep(0.01)
    return True


async def test_a_command_starts_in_the_files_folder(backend: ToolBackend, tmp_path: Path) -> None:
    result = await backend.exec_shell(["/bin/sh", "-c", "pwd"])
    assert result.stdout.decode().strip() == str(tmp_path.resolve())


async def test_a_timeout_ends_the_whole_process_group(backend: ToolBackend) -> None:
    result = await backend.exec_shell(["/bin/sh", "-c", f"sleep {seconds(4711)} & sleep {seconds(4711)}"], timeout=0.3)
    assert (result.exit_code, result.stderr) == (-1, b"timed out")
    assert await all_gone(seconds(4711))


async def test_a_cancel_ends_the_whole_process_group(backend: ToolBackend) -> None:
    task = asyncio.create_task(backend.exec_shell(["/bin/sh", "-c", f"sleep {seconds(4712)} | sleep {seconds(4712)}"]))
    while not children_that_run(seconds(4712)):
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await all_gone(seconds(4712))


async def test_a_child_left_in_the_background_ends_with_the_command(backend: ToolBackend) -> None:
    await backend.exec_shell(["/bin/sh", "-c", f"sleep {seconds(4713)} >/dev/null 2>&1 &"])
    assert await all_gone(seconds(4713))


async def test_a_child_that_holds_the_pipe_is_not_waited_for(backend: ToolBackend) -> None:
    result = await backend.exec_shell(["/bin/sh", "-c", f"echo first; sleep {seconds(4714)} & echo last"])
    assert (result.exit_code, result.stdout) == (0, b"first\nlast\n")
    assert await all_gone(seconds(4714))


@pytest.mark.skipif(not shutil.which("setsid"), reason="needs setsid")
@pytest.mark.parametrize("is_left", [True, False], ids=["left behind", "waited for"])
async def test_a_child_in_a_session_of_its_own_delays_neither_the_end_nor_a_stop(
    backend: ToolBackend, is_left: bool
) -> None:
    marker = seconds(4715)
    child = f"setsid sh -c 'touch ready; exec sleep {marker}' & while [ ! -e ready ]; do :; done; echo told"
    task = asyncio.create_task(backend.exec_shell(["/bin/sh", "-c", child if is_left else f"{child}; wait"]))
    if is_left:
        assert (await task).stdout == b"told\n"
    else:
        while not children_that_run(f"sleep {marker}"):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert await all_gone(f"sleep {marker}")


DETACHED = {
    "nohup": "nohup sleep {} >/dev/null 2>&1 &",
    "setsid": "setsid sleep {} >/dev/null 2>&1 &",
    "setsid twice": "setsid sh -c 'setsid sleep {} & exit' >/dev/null 2>&1 & sleep 0.2",
    "disowned": "(trap '' HUP; sleep {} &) >/dev/null 2>&1",
}


@pytest.mark.skipif(not shutil.which("setsid"), reason="needs setsid")
@pytest.mark.parametrize("command", DETACHED.values(), ids=DETACHED)
async def test_a_child_that_detaches_ends_with_the_command(backend: ToolBackend, command: str) -> None:
    marker = seconds(4716)
    await backend.exec_shell(["/bin/sh", "-c", command.format(marker)])
    assert await all_gone(f"sleep {marker}")


async def test_all_that_was_written_before_the_end_is_there(backend: ToolBackend) -> None:
    for _ in range(20):
        result = await backend.exec_shell(["/bin/sh", "-c", "head -c 300000 /dev/zero; head -c 70000 /dev/zero >&2"])
        assert (len(result.stdout), len(result.stderr)) == (300_000, 70_000)


async def test_keys_do_not_reach_a_command(backend: ToolBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    monkeypatch.setenv("PALIMPSEST_API_KEY", "not-a-key")
    monkeypatch.setenv("AWS_PROFILE", "not-a-key")
    result = await backend.exec_shell(["/bin/sh", "-c", "env"])
    assert b"not-a-key" not in result.stdout
    assert "PATH" in shell_environment()


async def test_huge_output_keeps_its_start_and_end_and_says_what_is_missing(backend: ToolBackend) -> None:
    result = await backend.exec_shell(
        ["/bin/sh", "-c", "echo first; head -c 5000000 /dev/zero | tr '\\0' x; echo; echo last"]
    )
    assert len(result.stdout) < OUTPUT_MAX_BYTES + 100
    assert result.stdout.startswith(b"first\n")
    assert result.stdout.endswith(b"last\n")
    assert b"bytes of output left out here" in result.stdout


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["/nowhere/no-such-program"], "no-such-program could not be started: it does not exist."),
        (["{folder}/plain.txt"], "plain.txt could not be started: permission is missing."),
        (["echo", "a\0b"], "echo could not be started: something unforeseen happened; the log has the details."),
    ],
    ids=["missing", "no program", "no argument"],
)
async def test_a_program_that_cannot_start_is_told_in_plain_words(
    backend: ToolBackend, tmp_path: Path, command: list[str], told: str
) -> None:
    (tmp_path / "plain.txt").write_text("not a program", encoding="utf-8")
    with pytest.raises(PalimpsestError) as failure:
        await backend.exec_shell([part.format(folder=tmp_path) for part in command])
    assert str(failure.value) == told


async def test_ripgrep_never_searches_secret_files(backend: ToolBackend, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("needle", encoding="utf-8")
    (tmp_path / "mcp.json").write_text("needle", encoding="utf-8")
    (tmp_path / "MCP.json").write_text("needle", encoding="utf-8")
    (tmp_path / "open.txt").write_text("needle", encoding="utf-8")
    found = await Grep(backend=backend).call("needle", str(tmp_path), glob=".env mcp.json MCP.json *.txt")
    assert [block.text for block in found.content if isinstance(block, TextBlock)] == [str(tmp_path / "open.txt")]
    assert found.state == ToolResultState.SUCCESS


@pytest.mark.parametrize("name", ["copy.txt", "{a}[b]*.txt", "!odd.txt"])
async def test_ripgrep_does_not_find_a_secret_file_by_another_name(
    backend: ToolBackend, tmp_path: Path, name: str
) -> None:
    (tmp_path / ".env").write_text("needle", encoding="utf-8")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / name).hardlink_to(tmp_path / ".env")
    (tmp_path / "deep" / "link.txt").symlink_to(tmp_path / ".env")
    (tmp_path / "open.txt").write_text("needle", encoding="utf-8")
    found = await Grep(backend=backend).call("needle", str(tmp_path), glob="*.txt")
    assert [block.text for block in found.content if isinstance(block, TextBlock)] == [str(tmp_path / "open.txt")]
    with pytest.raises(OSError, match="holds secrets"):
        await backend.read_file(str(tmp_path / "deep" / name))


async def test_the_home_of_somebody_else_is_neither_searched_nor_opened(backend: ToolBackend, tmp_path: Path) -> None:
    for name in ("users/ben/MEMORY.md", "users/ben/memory/2026-11-30.md", "files/users/notes.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("needle", encoding="utf-8")
    found = await Grep(backend=backend).call("needle", str(tmp_path), glob="**/*.md")
    texts = [block.text for block in found.content if isinstance(block, TextBlock)]
    assert texts == [str(tmp_path / "files" / "users" / "notes.md")]
    with pytest.raises(OSError, match="somebody else"):
        await backend.read_file(str(tmp_path / "users" / "ben" / "MEMORY.md"))
    with pytest.raises(OSError, match="somebody else"):
        await backend.write_file(str(tmp_path / "users" / "ben" / "MEMORY.md"), b"x")
    (tmp_path / "files" / "linked.md").hardlink_to(tmp_path / "users" / "ben" / "MEMORY.md")
    found = await Grep(backend=backend).call("needle", str(tmp_path), glob="**/*.md")
    assert [block.text for block in found.content if isinstance(block, TextBlock)] == texts
    with pytest.raises(OSError, match="somebody else"):
        await backend.read_file(str(tmp_path / "files" / "linked.md"))


@pytest.mark.parametrize(
    ("pattern", "base"),
    [("**", "."), ("**/*.md", "."), ("users/**", "."), ("../users/**/*", "files"), ("users/*", ".")],
)
async def test_glob_lists_nothing_of_the_home_of_somebody_else(
    backend: ToolBackend, tmp_path: Path, pattern: str, base: str
) -> None:
    for name in ("users/ben/MEMORY.md", "files/notes.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("needle", encoding="utf-8")
    found = await Glob(backend=backend).call(pattern, str(tmp_path / base))
    texts = " ".join(block.text for block in found.content if isinstance(block, TextBlock))
    assert "ben" not in texts
    assert ("notes.md" in texts) is (pattern in ("**", "**/*.md"))


async def test_glob_finds_all_that_matches_or_says_that_it_is_too_much(
    backend: ToolBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(40):
        (tmp_path / f"{number:02}-of-many-notes.md").touch()
    monkeypatch.setattr("assistant.agent.tools.tool_backend.OUTPUT_MAX_BYTES", 500)
    found = await Glob(backend=backend).call("*.md", str(tmp_path))
    (text,) = [block.text for block in found.content if isinstance(block, TextBlock)]
    assert text.count("-of-many-notes.md") == 40
    monkeypatch.setattr("assistant.agent.tools.tool_backend.LIST_MAX_BYTES", 500)
    with pytest.raises(PalimpsestError, match="More files match than can be listed"):
        await Glob(backend=backend).call("*.md", str(tmp_path))


async def test_a_memory_file_is_written_by_its_one_writer(
    backend: ToolBackend, tmp_path: Path, written: list[tuple[Path, str]]
) -> None:
    await backend.write_file(str(tmp_path / "USER.md"), b"likes tea")
    await backend.write_file(str(tmp_path / "other.md"), b"plain")
    assert written == [(tmp_path / "USER.md", "likes tea")]
    assert not (tmp_path / "USER.md").exists()
    assert (tmp_path / "other.md").read_bytes() == b"plain"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes in folders")
async def test_a_pipe_or_device_is_refused_instead_of_waited_for(backend: ToolBackend, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (str(tmp_path / "pipe"), "/dev/zero"):
        with pytest.raises(OSError, match="not a plain file"):
            await backend.read_file(path)
    with pytest.raises(OSError, match="not a plain file"):
        await backend.write_file(str(tmp_path / "pipe"), b"x")


@pytest.mark.parametrize(("name", "most"), [("long.log", TEXT_MAX_BYTES), ("book.pdf", FILE_MAX_BYTES)])
async def test_a_file_too_large_for_memory_is_refused(
    backend: ToolBackend, tmp_path: Path, name: str, most: int
) -> None:
    path = tmp_path / name
    for size in (most * 100, most + 1):
        with path.open("wb") as file:
            file.truncate(size)
        with pytest.raises(OSError, match=f"only files up to {most:,} are read whole"):
            await backend.read_file(str(path))
    os.truncate(path, most)
    assert len(await backend.read_file(str(path))) == most


async def test_a_link_that_leads_to_a_secret_since_it_was_judged_is_refused(
    backend: ToolBackend, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("KEY=1", encoding="utf-8")
    (tmp_path / "harmless").symlink_to(tmp_path / ".env")
    with pytest.raises(OSError, match="holds secrets"):
        await backend.read_file(str(tmp_path / "harmless"))
    with pytest.raises(OSError, match="holds secrets"):
        await backend.write_file(str(tmp_path / "harmless"), b"x")
    assert (tmp_path / ".env").read_text("utf-8") == "KEY=1"


async def test_a_file_written_through_a_link_keeps_the_link_its_mode_and_its_form(
    backend: ToolBackend, tmp_path: Path
) -> None:
    target = tmp_path / "target.txt"
    target.write_bytes("第一行内容\r\n".encode("gbk"))
    target.chmod(0o640)
    (tmp_path / "link").symlink_to(target)
    assert await backend.read_file(str(tmp_path / "link")) == "第一行内容\r\n".encode()
    await backend.write_file(str(tmp_path / "link"), "第二行内容\n".encode())
    assert (target.read_bytes(), target.stat().st_mode & 0o777) == ("第二行内容\r\n".encode("gbk"), 0o640)
    assert (tmp_path / "link").is_symlink()
