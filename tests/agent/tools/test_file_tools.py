"""The file tools leave the event loop to the page, and take what small models fill in."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path

import pytest
from agentscope.state import AgentState
from agentscope.tool import ToolChunk

from assistant.agent.tools.file_tools import AsideEdit, AsideWrite, DescribedRead, PatientBash
from assistant.agent.tools.tool_backend import ToolBackend
from assistant.messages.blocks import TextBlock, ToolResultState

# Lines that come again and again make the comparison of two texts slow.
LINES = "".join(f"line {number % 300} of a long file\n" for number in range(6_000))


async def ticks_during(work: Coroutine[object, object, ToolChunk]) -> tuple[ToolChunk, int]:
    """What the work gave, and how often the loop went round meanwhile.

    The real tools give the loop up a few times around their reads and writes, never while they split or compare.
    """
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0)
            ticks += 1

    ticking = asyncio.create_task(tick())
    done = await work
    ticking.cancel()
    return done, ticks


@pytest.mark.parametrize("tool_name", ["Write", "Edit"])
async def test_the_loop_goes_on_while_a_large_file_is_compared(tmp_path: Path, tool_name: str) -> None:
    backend = ToolBackend(tmp_path, tmp_path, lambda path: False, lambda path, text: None)
    path, state = str(tmp_path / "large.txt"), AgentState()
    await AsideWrite(backend=backend).call(path, LINES, state)
    if tool_name == "Write":
        work = AsideWrite(backend=backend).call(path, LINES.replace("line 7 ", "line 8 "), state)
    else:
        work = AsideEdit(backend=backend).call(path, "line 7 ", "line 8 ", True, state)
    done, ticks = await ticks_during(work)

    assert done.state == ToolResultState.RUNNING
    assert "line 7 " not in Path(path).read_text(encoding="utf-8")
    assert "+line 8 of a long file" in str(done.metadata["diff"])
    assert ticks > 200


async def test_the_loop_goes_on_while_a_text_of_short_lines_is_read(tmp_path: Path) -> None:
    backend = ToolBackend(tmp_path, tmp_path, lambda path: False, lambda path, text: None)
    path = tmp_path / "log.txt"
    path.write_text("a\n" * 500_000, encoding="utf-8")
    done, ticks = await ticks_during(DescribedRead(backend=backend).call(str(path), limit=1, _agent_state=AgentState()))

    assert [block.text for block in done.content if isinstance(block, TextBlock)] == ["     1\ta"]
    assert ticks > 200


async def test_nothing_filled_in_means_what_is_usual(tmp_path: Path) -> None:
    backend = ToolBackend(tmp_path, tmp_path, lambda path: False, lambda path, text: None)
    path = tmp_path / "two.txt"
    path.write_text("one\ntwo\n", encoding="utf-8")
    read = await DescribedRead(backend=backend).call(str(path), offset=0, limit=0, pages="")
    (ran,) = [chunk async for chunk in PatientBash(cwd=tmp_path, backend=backend).call("cat two.txt", timeout=0)]
    said = [block.text for chunk in (read, ran) for block in chunk.content if isinstance(block, TextBlock)]
    assert said == ["     1\tone\n     2\ttwo", "one\ntwo\n"]
