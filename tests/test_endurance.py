"""A turn of hundreds of steps and a conversation of many compactions end as they should, whatever was folded."""

from __future__ import annotations

import json
import os
import random
import re
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.assembly import Assistant, open_assistant
from assistant.conversation import Conversation
from assistant.events import ContextCompressed, Event, Notice, TextDelta, ToolFinished, TurnFailed, TurnFinished
from assistant.journal_rows import BlockRow
from assistant.messages import ToolResultBlock
from assistant.settings import Settings
from tests.fakes.players import RuleBasedPlayer
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import ChatRequest, Reply, ReplyCall

# A turn of 300 steps at each window takes minutes: ENDURANCE_STEPS=300 runs it.
STEPS = int(os.environ.get("ENDURANCE_STEPS", "24"))
RESULT_BYTES = 50_000
TASK = "Read all the parts one by one. When you are through, tell me the password at the door, which is {password}."


class PartReader(RuleBasedPlayer):
    """Reads one part after another by the tools in turn; then answers with the password of the task, if it still
    stands in what the person said."""

    def __init__(self, parts: Sequence[Path]) -> None:
        super().__init__()
        self._parts = parts
        self._read = 0

    def __call__(self, request: ChatRequest) -> Reply:
        if "Bash" not in request.tools:
            reply = super().__call__(request)
            seen = ", ".join(sorted(set(re.findall(r"part-\d+", request.last_user))))
            return replace(reply, text=f"{reply.text}\n- The parts {seen} were read with care, and nothing was odd.")
        if self._read == len(self._parts):
            said = " ".join(message.text for message in request.messages if message.role == "user")
            found = re.search(r"password at the door, which is ([\w-]+)", said)
            return Reply(text=f"The password is {found[1]}." if found else "What was I to do?")
        path = self._parts[self._read]
        self._read += 1
        if self._read % 3:
            call = ReplyCall("Bash", {"command": f"cat {path.name}"})
        else:
            call = ReplyCall("Read", {"file_path": str(path)})
        return Reply(text=f"Part {self._read} next.", calls=(call,))


def part_text(number: int) -> str:
    """About `RESULT_BYTES` bytes of Chinese, English, JSON or code, by the number; no two lines are the same."""
    chosen = random.Random(number)
    lines: list[str] = []
    size = 0
    while size < RESULT_BYTES:
        line = _LINES[number % len(_LINES)](chosen, len(lines))
        lines.append(line)
        size += len(line.encode()) + 1
    return "\n".join(lines)


def _chinese(chosen: random.Random, index: int) -> str:
    words = "仓库 记录 温度 检查 昨天 北门 值班 数据 完成 之后 继续 设备 报告 需要 确认".split()
    return f"第{index}条：" + "，".join(chosen.choices(words, k=8)) + "。"


def _english(chosen: random.Random, index: int) -> str:
    words = "the harbour report says that every crate near pier seven was weighed again after noon".split()
    return f"{index}. " + " ".join(chosen.choices(words, k=12)) + "."


def _json(chosen: random.Random, index: int) -> str:
    row = {"id": chosen.getrandbits(64), "index": index, "at": f"2026-03-{1 + index % 28:02d}", "名称": "传感器"}
    return json.dumps({**row, "values": [round(chosen.random(), 6) for _ in range(6)]}, ensure_ascii=False)


def _code(chosen: random.Random, index: int) -> str:
    return (
        f"    if reading[{index}] > {chosen.random():.4f}: totals['{chosen.getrandbits(32):x}'] += weigh(item, {index})"
    )


_LINES = (_chinese, _english, _json, _code)


@asynccontextmanager
async def opened(home: Path, provider: StrictProvider, **values: object) -> AsyncGenerator[Assistant]:
    """The assistant of a home, answered by the provider."""
    chosen = {"home": home, "provider": "openai", "base_url": provider.base_url, "api_key": "k", **values}
    async with open_assistant(Settings.model_validate(chosen)) as assistant:
        yield assistant


async def said_in_turn(conversation: Conversation, text: str) -> list[Event]:
    """Ask, wait for the end, and hand back what the turn told."""
    start = conversation.attach().start
    conversation.ask(text)
    await conversation.wait()
    return conversation.events_since(start)


def text_of(events: Sequence[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


@pytest.mark.parametrize("window_tokens", [32_000, 128_000])
@pytest.mark.timeout(3_000)
async def test_a_loop_of_large_results_ends_with_the_first_request_answered(home: Path, window_tokens: int):
    files = home / "files"
    files.mkdir(parents=True)
    parts = [files / f"part-{number:03d}.txt" for number in range(STEPS)]
    for number, path in enumerate(parts):
        path.write_text(part_text(number), encoding="utf-8")
    player = PartReader(parts)

    with StrictProvider(player, window_tokens=window_tokens, usage_factor=1.8) as provider:
        async with opened(home, provider, max_steps=400) as assistant:
            conversation = assistant.conversations.create()
            events = await said_in_turn(conversation, TASK.format(password="heron-4417"))
            rows = assistant.store.journal.rows(conversation.session_id)

    finished = [event for event in events if isinstance(event, ToolFinished)]
    if os.environ.get("ENDURANCE_SHOW"):
        comp = [e for e in events if isinstance(e, ContextCompressed)]
        print(
            "overflows",
            provider.overflows,
            "requests",
            len(provider.log),
            "compactions",
            len(comp),
            [(c.reason, c.previous_tokens, c.after_tokens, c.fallback) for c in comp][:12],
        )
        print([e.text for e in events if isinstance(e, Notice)])
        print([e for e in events if isinstance(e, TurnFailed)], max(l.tokens for l in provider.log))
    assert provider.malformed == []
    assert [event for event in events if isinstance(event, TurnFailed)] == []
    assert [event.reason for event in events if isinstance(event, TurnFinished)] == ["completed"]
    assert text_of(events).endswith("The password is heron-4417.")
    assert [event.state for event in finished] == ["success"] * STEPS
    assert sum(isinstance(event, ContextCompressed) for event in events) > 0
    keys = Counter(row.key for row in rows if isinstance(row, BlockRow))
    assert set(keys.values()) == {1}
    assert sum(isinstance(row, BlockRow) and isinstance(row.block, ToolResultBlock) for row in rows) == STEPS
