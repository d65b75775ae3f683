"""How much of each request a prompt cache has from the one before: a conversation of forty turns with tools and memory.

The same messages are sent to the same scripted server twice: as the program does it, and with what begins the requests
made anew before every message. The program ends and starts again on the way, and one compaction is made. Bytes are
those of the requests as sent: tools, system prompt, messages. The texts are in tests/data.
Run: python -m benchmarks.prefix [--json]
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from assistant.assembly.assistant import Assistant, open_assistant
from assistant.config.settings import Settings
from assistant.conversation.conversation import Conversation
from assistant.messages.hints import without_hints
from assistant.messages.tokens import TokenCounter
from assistant.text.json_values import is_list
from benchmarks.figures import Figure, report, table
from benchmarks.remembered import changed_facts, write_notes
from tests.fakes.players import RuleBasedPlayer, newest_said
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import ChatRequest, Reply, ReplyCall

TURNS = 40
COMPACTED_AT = 24
"""The turn before which the conversation is compacted."""
RESTARTED_AT = 12
"""The turn before which the program ends and starts again."""
WINDOW_TOKENS = 128_000
LEAST_SHARE = 0.97
_KEPT_SHARE = 0.03
"""Of the window, what the compaction leaves: the conversation is short for a window in which so much is recalled."""
_SAVE = "Please remember: "
_REPORT = "report.txt"


@dataclass(frozen=True, slots=True)
class SentRequest:
    """One request of the conversation as it was sent: in which turn, and its bytes."""

    turn: int
    content: bytes


@dataclass(frozen=True, slots=True)
class Step:
    """A request beside the one before it: the share of that which it begins with, and the tokens that are new."""

    turn: int
    share: float
    new_tokens: int
    is_after_compaction: bool


class SavingPlayer(RuleBasedPlayer):
    """Saves what the person asks to be remembered; all else is as the rules say."""

    def __call__(self, request: ChatRequest) -> Reply:
        """A call of memory_save, once a turn, or what the rules say."""
        said = newest_said(request)
        if not said.startswith(_SAVE) or "memory_save" not in request.tools:
            return super().__call__(request)
        if request.results_since_user():
            return Reply(text="It is noted.")
        arguments: dict[str, object] = {"content": said.removeprefix(_SAVE), "category": "lasting_fact"}
        return Reply(calls=(ReplyCall("memory_save", arguments),))


def talk() -> Iterator[str]:
    """What the person says: a question to memory, something to save, two tools, something else, and again."""
    facts = changed_facts()
    for number in range(TURNS // 4):
        yield facts[number].question
        yield f"{_SAVE}{facts[-1 - number].new}"
        yield f"Please read `files/{_REPORT}` and run `ls -l`, part {number}."
        yield f"On walk {number} along the canal I counted {number + 3} barges, and none of them was moored."


async def sent_requests(folder: Path, is_kept: bool = True) -> list[SentRequest]:
    """The requests of the conversation, oldest first; not `is_kept`: prompt and hints as if nothing kept them."""
    with StrictProvider(SavingPlayer(), window_tokens=WINDOW_TOKENS, chunk_chars=2_000) as provider:
        settings = Settings.model_validate(
            {
                "home": folder,
                "provider": "openai",
                "base_url": provider.base_url,
                "max_input_length": WINDOW_TOKENS,
                "memory_reserve_ratio": _KEPT_SHARE,
                "embedder": "none",
                "timezone": "UTC",
                "language": "auto",
            }
        )
        starts = await _talk(settings, provider, is_kept)
        return [
            SentRequest(sum(start <= number for start in starts), serialised(entry.body))
            for number, entry in enumerate(provider.log)
            if _is_of_the_conversation(entry.body)
        ]


async def _talk(settings: Settings, provider: StrictProvider, is_kept: bool) -> list[int]:
    """Say everything, the program started twice; for each turn the number of requests before it."""
    turns = [*enumerate(talk(), 1)]
    starts: list[int] = []
    session_id = ""
    for part in (turns[: RESTARTED_AT - 1], turns[RESTARTED_AT - 1 :]):
        async with open_assistant(settings) as assistant:
            if not session_id:
                _write_home(assistant.workspace.root)
            await assistant.index.sync()
            conversations = assistant.conversations
            conversation = conversations.open(session_id) if session_id else conversations.create()
            session_id = conversation.session_id
            for turn, message in part:
                if turn == COMPACTED_AT:
                    await _compact(assistant, conversation)
                if not is_kept:
                    _let_go(conversation)
                starts.append(len(provider.log))
                await _say(assistant, conversation, message)
    return starts


def _let_go(conversation: Conversation) -> None:
    """Make the prompt anew, in the language of what was said lately, and take out what was recalled."""
    state = conversation._state  # pyright: ignore[reportPrivateUsage] - nobody else undoes what it keeps
    state.agent_state.context = without_hints(state.context)
    state.frozen_prompt.renew(state.next_language)


async def _compact(assistant: Assistant, conversation: Conversation) -> None:
    before = conversation.compaction_id
    await _say(assistant, conversation, "/compact")
    assert conversation.compaction_id != before


def serialised(body: Mapping[str, object]) -> bytes:
    """A request as a prompt cache sees it: the tools, then the messages, of which the system prompt is the first."""
    messages = body["messages"]
    assert is_list(messages)
    parts = [body.get("tools"), *messages]
    return "\n".join(json.dumps(part, ensure_ascii=False) for part in parts).encode()


def steps_of(requests: Sequence[SentRequest]) -> list[Step]:
    """Each request but the first beside the one before it."""
    counter = TokenCounter("qwen")
    return [
        Step(
            later.turn,
            (same := len(os.path.commonprefix([earlier.content, later.content]))) / len(earlier.content),
            counter.text(later.content[same:].decode("utf-8", "replace")),
            earlier.turn < COMPACTED_AT <= later.turn,
        )
        for earlier, later in pairwise(requests)
    ]


def _write_home(home: Path) -> None:
    write_notes(home)
    report_lines = (f"{number:03} the lock was opened, the gauge was read, the lock was closed" for number in range(30))
    (home / "files" / _REPORT).write_text("\n".join(report_lines), encoding="utf-8")


async def _say(assistant: Assistant, conversation: Conversation, text: str) -> None:
    submitted = await assistant.submit(conversation, text)
    async with aclosing(submitted.events) as told:
        async for _ in told:
            pass


def _is_of_the_conversation(body: Mapping[str, object]) -> bool:
    tools = body.get("tools")
    return is_list(tools) and '"Bash"' in json.dumps(tools)


def figures_of(name: str, steps: Sequence[Step], goal: float | None = None) -> list[Figure]:
    """What a conversation cost; `goal` is the least share of a request that the next one begins with."""
    shares = [step.share for step in steps if not step.is_after_compaction]
    return [
        Figure(f"{name}: least share that is the same", min(shares), at_least=goal),
        Figure(f"{name}: tokens processed anew", sum(step.new_tokens for step in steps), "tokens"),
        Figure(f"{name}: tokens anew a turn", sum(step.new_tokens for step in steps) / TURNS, "tokens"),
    ]


def turn_rows(kept: Sequence[Step], made_anew: Sequence[Step]) -> list[tuple[str, ...]]:
    """For each turn the least share that is the same and the tokens processed anew, of both."""
    rows: list[tuple[str, ...]] = [("turn", "the same", "tokens anew", "not kept: the same", "tokens anew")]
    for turn in range(1, TURNS + 1):
        cells: list[str] = []
        for steps in (kept, made_anew):
            own = [step for step in steps if step.turn == turn]
            cells += [f"{min((step.share for step in own), default=1.0):.3f}"]
            cells += [f"{sum(step.new_tokens for step in own):,}"]
        rows.append((str(turn), *cells))
    return rows


def main() -> int:
    """Measure both; 1 when the goal is missed."""
    with tempfile.TemporaryDirectory() as folder:
        kept, made_anew = (
            steps_of(asyncio.run(sent_requests(Path(folder) / name, name == "kept"))) for name in ("kept", "not kept")
        )
    if "--json" not in sys.argv[1:]:
        print(table(turn_rows(kept, made_anew)))
    return report([*figures_of("kept", kept, LEAST_SHARE), *figures_of("not kept", made_anew)])


if __name__ == "__main__":
    sys.exit(main())
