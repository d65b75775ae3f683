"""Our check and split against AgentScope's own on the same state: half past turns, half one running tool loop.

CPU seconds of one process. Our check is timed as it happens before each step: after the first count of a session,
with one new step since the last check.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agentscope.agent import Agent
from agentscope.state import AgentState

from assistant.compaction.policy import policy_for
from assistant.compaction.shorten.result_limits import ArtifactPlace, shorten_results
from assistant.compaction.split import split
from assistant.messages.blocks import AssistantMsg, Block, Msg, TextBlock, ToolCallBlock, ToolResultBlock, UserMsg
from assistant.messages.tokens import TokenCounter
from assistant.models.scripted import ScriptedModel
from benchmarks.figures import Figure, report

SIZES = (500, 2_000, 8_000, 32_000)
STEPS_A_TURN = 9
WINDOW_TOKENS = 128_000
RUNS = 50


@dataclass(frozen=True, slots=True)
class Measured:
    """CPU seconds at one size."""

    blocks: int
    our_check: float
    their_check: float
    our_split: float
    their_split: float
    shorten_and_split: float


def conversation(blocks: int) -> list[Msg]:
    """Turns of one question, nine tool steps and an answer; then one turn whose tool loop is as long as all of them."""
    messages: list[Msg] = []
    for turn in range(blocks // 2 // (2 * STEPS_A_TURN + 2)):
        answer = TextBlock(text=f"Part {turn} is built, 第 {turn} 部分已完成。")
        content = [*tool_steps(f"{turn}.", STEPS_A_TURN), answer]
        messages += [UserMsg("user", f"Build part {turn}, please."), AssistantMsg("assistant", content)]
    running = tool_steps("running.", (blocks - blocks // 2) // 2)
    return [*messages, UserMsg("user", "Now build all of it again."), AssistantMsg("assistant", running)]


def tool_steps(prefix: str, steps: int) -> list[Block]:
    """Steps of one call and its result of about 600 characters."""
    blocks: list[Block] = []
    for number in range(steps):
        name = f"{prefix}{number}"
        blocks.append(ToolCallBlock(id=name, name="Bash", input=f'{{"command": "make part-{name}"}}'))
        blocks.append(ToolResultBlock(id=name, name="Bash", output=f"built {name}\n" * 50))
    return blocks


async def measure(blocks: int) -> Measured:
    """One size."""
    messages = conversation(blocks)
    policy = policy_for("copaw", WINDOW_TOKENS)
    counter = TokenCounter("bytes")
    agent = Agent("assistant", "You help.", ScriptedModel([]), state=AgentState(context=messages))

    async def their_check() -> None:
        await agent.model.count_tokens(**await agent._prepare_model_input())

    async def their_split() -> None:
        await agent._split_context_for_compression(0.1 * WINDOW_TOKENS, [])

    def shorten_and_split() -> None:
        fresh = TokenCounter("bytes")
        place = ArtifactPlace(lambda: "id")
        short = shorten_results(messages, policy, policy.threshold, fresh, place)
        split(short.messages, policy.reserve, fresh, policy)

    their_check_seconds = await cpu_seconds_of(their_check, 3)
    their_split_seconds = await cpu_seconds_of(their_split, 1)
    both = cpu_seconds(shorten_and_split, 3)
    our_split = cpu_seconds(lambda: split(messages, policy.reserve, counter, policy), 3)
    return Measured(
        blocks=blocks,
        our_check=check_seconds(messages, counter),
        their_check=their_check_seconds,
        our_split=our_split,
        their_split=their_split_seconds,
        shorten_and_split=both,
    )


def check_seconds(messages: list[Msg], counter: TokenCounter) -> float:
    """CPU seconds of one check after one more step."""
    counter.messages(messages)
    spent = 0.0
    for number in range(RUNS):
        messages[-1].content.extend(tool_steps(f"new.{number}.", 1))
        spent += cpu_seconds(lambda: counter.messages(messages), 1)
    return spent / RUNS


def cpu_seconds(run: Callable[[], object], times: int) -> float:
    """CPU seconds of one run, the mean of several."""
    start = time.process_time()
    for _ in range(times):
        run()
    return (time.process_time() - start) / times


async def cpu_seconds_of(run: Callable[[], Awaitable[None]], times: int) -> float:
    """CPU seconds of one awaited run, the mean of several."""
    start = time.process_time()
    for _ in range(times):
        await run()
    return (time.process_time() - start) / times


def figures_of(measured: list[Measured]) -> list[Figure]:
    """The figures and their goals."""
    figures: list[Figure] = []
    for row in measured:
        size = f"at {row.blocks:,} blocks"
        ratio_goal = 50 if row.blocks == 8_000 else None
        both_goal = 0.5 if row.blocks == 32_000 else None
        figures += [
            Figure(f"our check {size}", row.our_check, "s CPU"),
            Figure(f"AgentScope's check {size}", row.their_check, "s CPU"),
            Figure(f"times faster, check {size}", row.their_check / row.our_check, at_least=ratio_goal),
            Figure(f"our split {size}", row.our_split, "s CPU"),
            Figure(f"AgentScope's split {size}", row.their_split, "s CPU"),
            Figure(f"times faster, split {size}", row.their_split / row.our_split),
            Figure(f"shorten + split, nothing counted yet, {size}", row.shorten_and_split, "s CPU", at_most=both_goal),
        ]
    growth = measured[-1].our_check / measured[0].our_check
    return [*figures, Figure("our check, largest size against smallest", growth, "times", at_most=3)]


def main() -> int:
    """Measure every size; 1 when a goal is missed."""
    return report(figures_of([asyncio.run(measure(size)) for size in SIZES]))


if __name__ == "__main__":
    raise SystemExit(main())
