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

from assistant.assembly.assistant import Assistant, open_assistant
from assistant.config.settings import Settings
from assistant.conversation.conversation import Conversation
from assistant.messages.blocks import ToolResultBlock
from assistant.messages.events import ContextCompressed, Event, TextDelta, ToolFinished, TurnFailed, TurnFinished
from assistant.storage.journal.rows import BlockRow
from tests.fakes.players import RuleBasedPlayer
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import ChatRequest, Reply, ReplyCall

# A turn of 300 steps at each window takes minutes: ENDURANCE_STEPS=300 runs it.
STEPS = int(os.environ.get("ENDURANCE_STEPS", "24"))
RESULT_BYTES = 50_000
CHINESE_WORDS = "仓库 记录 温度 检查 昨天 北门 值班 数据 完成 之后 继续 设备 报告 需要 确认"
ENGLISH_WORDS = "the harbour report says that every crate near pier seven was weighed again after noon"
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
    return f"第{index}条：" + "，".join(chosen.choices(CHINESE_WORDS.split(), k=8)) + "。"


def _english(chosen: random.Random, index: int) -> str:
    return f"{index}. " + " ".join(chosen.choices(ENGLISH_WORDS.split(), k=12)) + "."


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
    return [numbered.event async for numbered in conversation.follow_until_idle(start)]


def text_of(events: Sequence[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


@pytest.mark.parametrize(
    ("claimed_tokens", "window_tokens"),
    [
        pytest.param(32_000, 32_000, id="32k"),
        pytest.param(128_000, 128_000, id="128k"),
        pytest.param(32_000, 20_000, id="32k that are 20k"),
    ],
)
@pytest.mark.timeout(3_000)
async def test_a_loop_of_large_results_ends_with_the_first_request_answered(
    home: Path, claimed_tokens: int, window_tokens: int
):
    files = home / "files"
    files.mkdir(parents=True)
    parts = [files / f"part-{number:03d}.txt" for number in range(STEPS)]
    for number, path in enumerate(parts):
        path.write_text(part_text(number), encoding="utf-8")
    player = PartReader(parts)

    with StrictProvider(player, window_tokens=window_tokens, usage_factor=1.8, chunk_chars=2_000) as provider:
        values = {"max_steps": 400, "max_input_length": claimed_tokens, "embedder": "none"}
        async with opened(home, provider, **values) as assistant:
            conversation = assistant.conversations.create()
            events = await said_in_turn(conversation, TASK.format(password="heron-4417"))
            rows = assistant.store.journal.rows(conversation.session_id)

    finished = [event for event in events if isinstance(event, ToolFinished)]
    assert provider.malformed == []
    assert [event for event in events if isinstance(event, TurnFailed)] == []
    assert [event.reason for event in events if isinstance(event, TurnFinished)] == ["completed"]
    assert text_of(events).endswith("The password is heron-4417.")
    assert [event.state for event in finished] == ["success"] * STEPS
    # In a large window two dozen old results, shortened as they are, are nothing yet.
    assert any(isinstance(event, ContextCompressed) for event in events) or (STEPS < 100 and window_tokens == 128_000)
    assert bool(provider.overflows) == (window_tokens < claimed_tokens)
    keys = Counter(row.key for row in rows if isinstance(row, BlockRow))
    assert set(keys.values()) == {1}
    assert sum(isinstance(row, BlockRow) and isinstance(row.block, ToolResultBlock) for row in rows) == STEPS


class ForgetfulSummariser(RuleBasedPlayer):
    """Reads the file it is told to, writes no memory, and knows nothing of what came before in its summaries."""

    def __call__(self, request: ChatRequest) -> Reply:
        if "add_lines" in request.tools:
            return Reply(text="NO_REPLY")
        if request.tools:
            return super().__call__(request)
        titles = re.findall(
            r"^#{2,3} .+$", re.sub(r"<(\S+)[^>]*>.*?</\1>", "", request.last_user, flags=re.DOTALL), re.M
        )
        return Reply(text="\n\n".join(f"{title}\n- {FORGETFUL_LINE}" for title in titles))


FORGETFUL_LINE = "There was a conversation, and it was about one thing and another, as far as anybody can tell now."


@pytest.mark.parametrize("policy", ["copaw", "skill_compose"])
async def test_pins_and_file_lists_outlast_five_forgetful_compactions(home: Path, policy: str):
    files = home / "files"
    files.mkdir(parents=True)
    for number in range(5):
        (files / f"part-{number}.txt").write_text(part_text(number)[:9_000], encoding="utf-8")

    values = {"language": "en", "embedder": "none", "memory_reserve_ratio": 0.02}
    with StrictProvider(ForgetfulSummariser(), window_tokens=32_000, chunk_chars=2_000) as provider:
        async with opened(home, provider, policy=policy, **values) as assistant:
            conversation = assistant.conversations.create()
            await said_in_turn(conversation, "The door code is 7-heron-31, and it is never written down.")
            conversation.pin(next(item.key for item in conversation.context_items() if item.is_user and item.key))
            for number in range(5):
                await said_in_turn(conversation, f"Read `{files}/part-{number}.txt` for request {number}, please.")
                await said_in_turn(conversation, "Thank you.")
                conversation.compact()
                await conversation.wait()
            cards = [event for event in conversation.attach().history if isinstance(event, ContextCompressed)]
            summary = next(item.text for item in conversation.context_items() if item.part == "summary")
            pins = [item.text for item in conversation.context_items() if item.part == "pins"]
        async with opened(home, provider, policy=policy, **values) as assistant:
            reopened = assistant.conversations.newest_or_new()
            assert next(item.text for item in reopened.context_items() if item.part == "summary") == summary

    assert provider.malformed == []
    assert len(cards) == 5
    assert [card.fallback for card in cards] == [False] * 5
    assert ["The door code is 7-heron-31, and it is never written down." in text for text in pins] == [True]
    thanked = [str(entry.body) for entry in provider.log if entry.body["messages"][-1]["content"] == "Thank you."]
    assert "The door code is 7-heron-31, and it is never written down." in thanked[-1]
    read = re.search(r"<read-files>\n(.*?)</read-files>", summary, re.DOTALL)
    assert read is not None
    assert read[1].split() == [f"{files}/part-{number}.txt" for number in range(5)]
    requests = [f"for request {number}, please." for number in range(5)]
    assert [text in summary for text in requests] == [policy == "skill_compose"] * 5
