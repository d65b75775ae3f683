"""Conversations for the tests of compaction: built by hand, or grown from a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

from assistant.compaction.budget import Guards
from assistant.compaction.pipeline import CompactionRequest
from assistant.compaction.policy import CompactionPolicy, policy_for
from assistant.compaction.shorten.result_limits import ArtifactPlace
from assistant.messages.blocks import (
    AssistantMsg,
    Block,
    HintBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from assistant.messages.tokens import TokenCounter

AT = "2026-11-30T09:15:00+08:00"
COPAW = policy_for("copaw", 128_000)
CHINESE = "项目使用蟒蛇语言编写，日志放在硬盘上，每天晚上备份一次。"


def user(text: str, id_: str = "u1") -> Msg:
    """A message of the person."""
    return UserMsg("user", [TextBlock(id=f"{id_}.t", text=text, created_at=AT)], id=id_, created_at=AT)


def reply(*blocks: Block, id_: str = "a1") -> Msg:
    """A reply made of blocks."""
    return AssistantMsg("assistant", list(blocks), id=id_, created_at=AT)


def said(text: str, id_: str = "s1") -> TextBlock:
    """Text of the assistant."""
    return TextBlock(id=id_, text=text, created_at=AT)


def thought(text: str, id_: str = "th1") -> ThinkingBlock:
    """Thinking of the assistant."""
    return ThinkingBlock(id=id_, thinking=text, created_at=AT)


def call(
    id_: str, name: str = "Bash", input_: str = "{}", state: ToolCallState = ToolCallState.FINISHED
) -> ToolCallBlock:
    """A tool call."""
    return ToolCallBlock(id=id_, name=name, input=input_, state=state, created_at=AT)


def result(
    id_: str, output: str = "ok", name: str = "Bash", state: ToolResultState = ToolResultState.SUCCESS
) -> ToolResultBlock:
    """A tool result."""
    return ToolResultBlock(id=id_, name=name, output=output, state=state, created_at=AT)


def tool_steps(steps: int, output: str = "ok", first: int = 0) -> list[Block]:
    """So many steps of one call and its result each."""
    numbers = range(first, first + steps)
    return [
        block for n in numbers for block in (call(f"c{n}", input_=f'{{"command": "run {n}"}}'), result(f"c{n}", output))
    ]


def chat(turns: int, text: str = "word " * 40) -> list[Msg]:
    """So many turns of one question and one answer each."""
    return [
        message
        for n in range(turns)
        for message in (user(f"question {n} {text}", f"u{n}"), reply(said(f"answer {n} {text}", f"s{n}"), id_=f"a{n}"))
    ]


def new_ids(prefix: str = "0000") -> Callable[[], str]:
    """Artifact ids in order: …0001, …0002."""
    numbers = count(1)
    return lambda: f"{prefix}0000-0000-0000-0000-{next(numbers):012d}"


def place(folder: str = "tool_result") -> ArtifactPlace:
    """Where the artifacts of a test go."""
    return ArtifactPlace(new_ids(), folder)


def request(messages: list[Msg], policy: CompactionPolicy = COPAW, **changes: object) -> CompactionRequest:
    """A request with nothing but messages in the window, and what the test changes."""
    plain = CompactionRequest(
        messages=messages,
        previous_summary="",
        policy=policy,
        counter=TokenCounter("bytes"),
        system_tokens=0,
        tool_tokens=0,
        language="en",
        place=place(),
        session_id="s1",
        compaction_id="k1",
        parent_id=None,
        at=AT,
        guards=Guards(),
    )
    return replace(plain, **changes)


def policy(window: int, preset: str = "copaw", **changes: object) -> CompactionPolicy:
    """A preset on a small window."""
    return replace(policy_for("skill_compose" if preset == "skill_compose" else "copaw", window), **changes)


def summary_text(filling: str = "kept facts", titles: tuple[str, ...] = ()) -> str:
    """An answer with every section of the default preset."""
    names = titles or ("Goal", "Constraints and preferences", "Progress", "Key decisions", "Next steps", "Key context")
    return "\n\n".join(
        f"## {name}\n{filling} of {name.lower()}, told at enough length to be a summary." for name in names
    )


def grown_history(seed: int, blocks: int) -> list[Msg]:
    """A random history of about so many blocks: turns, tool loops, parallel calls, parked calls, long results."""
    chance = random.Random(seed)
    numbers = count()
    messages: list[Msg] = []
    grown = 0
    while grown < blocks:
        messages.append(user(_words(chance), f"u{next(numbers)}"))
        content: list[Block] = []
        for _ in range(chance.choice((0, 1, 1, 2, 5, 40))):
            content.extend(_random_step(chance, numbers))
        if chance.random() < 0.8:
            content.append(said(_words(chance), f"s{next(numbers)}"))
        if content:
            messages.append(reply(*content, id_=f"a{next(numbers)}"))
        grown += 1 + len(content)
    if chance.random() < 0.3 and messages[-1].role == "assistant":
        messages[-1].content.extend(_parked_step(chance, numbers))
    return messages


def _random_step(chance: random.Random, numbers: Iterator[int]) -> list[Block]:
    blocks: list[Block] = []
    if chance.random() < 0.1:
        blocks.append(HintBlock(id=f"h{next(numbers)}", hint=_words(chance), created_at=AT))
    if chance.random() < 0.3:
        blocks.append(thought(_words(chance), f"th{next(numbers)}"))
    if chance.random() < 0.5:
        blocks.append(said(_words(chance), f"s{next(numbers)}"))
    ids = [f"c{next(numbers)}" for _ in range(chance.choice((1, 1, 1, 2, 3)))]
    name = chance.choice(("Bash", "Read", "Grep", "browser_open", "mcp__notes__search"))
    blocks.extend(call(id_, name) for id_ in ids)
    chance.shuffle(ids)
    # Once in a while a call of an old step has no result, as after a crash.
    answered = ids[1:] if chance.random() < 0.02 else ids
    blocks.extend(result(id_, _words(chance) * chance.choice((1, 1, 20, 400)), name) for id_ in answered)
    return blocks


def _parked_step(chance: random.Random, numbers: Iterator[int]) -> list[Block]:
    parked, sibling = f"c{next(numbers)}", f"c{next(numbers)}"
    return [call(parked, state=ToolCallState.ASKING), call(sibling), result(sibling, _words(chance))]


def _words(chance: random.Random) -> str:
    kind = chance.choice(("word {} ", CHINESE + "{} ", '{{"key": {}}}\n', "x{}"))
    return "".join(map(kind.format, chance.choices(range(1_000), k=chance.randrange(1, 30))))
