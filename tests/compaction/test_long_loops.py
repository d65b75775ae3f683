"""A turn of hundreds of steps and a conversation of hundreds of turns stay inside the provider's true window."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from assistant.compaction.budget import Guards
from assistant.compaction.pins import write_summary_message
from assistant.compaction.pipeline import Outcome
from assistant.compaction.policy import CompactionPolicy
from assistant.messages.blocks import BlockKey, Msg, block_keys
from assistant.messages.events import CompactionReason
from assistant.messages.tokens import TokenCounter
from tests.compaction.conversations import CHINESE, call, policy, reply, request, result, said, summary_text, user
from tests.compaction.scripted_ask import ScriptedAsk
from tests.compaction.test_pipeline import TURN_NOTES, run

TRUE_FACTOR = 1.8
SYSTEM = "You help. " * 200
OUTPUTS = (
    CHINESE * 700,
    "The quick brown fox jumps over the lazy dog. " * 1_100,
    '{"id": 12345, "values": [1, 2, 3], "name": "条目"}\n' * 1_000,
    "def run(self) -> None:\n    self.count += 1\n" * 1_200,
)


@dataclass
class Session:
    """A conversation as the agent runs it, with a provider that counts 1.8 × and refuses what is over its window."""

    rules: CompactionPolicy
    messages: list[Msg] = field(default_factory=list)
    summary: str = ""
    counter: TokenCounter = field(default_factory=TokenCounter)
    guards: Guards = Guards()
    folded: list[BlockKey] = field(default_factory=list)
    refused: int = 0
    compactions: int = 0

    def call_model(self) -> None:
        """One check and one request; a refused one is compacted once and must then pass."""
        self._check("automatic")
        if self._true_tokens() > self.rules.max_input_length:
            self.refused += 1
            self.counter.calibrate(self._counted(), self.rules.max_input_length * 2)
            self._check("overflow")
        true_tokens = self._true_tokens()
        assert true_tokens <= self.rules.max_input_length
        self.counter.calibrate(self._counted(), true_tokens)

    def _check(self, reason: CompactionReason) -> None:
        asked = request(
            self.messages,
            self.rules,
            previous_summary=self.summary,
            counter=self.counter,
            system_tokens=self.counter.text(SYSTEM),
            guards=self.guards,
            reason=reason,
        )
        self._take(run(asked, ScriptedAsk([lambda text: TURN_NOTES if "# request" in text else summary_text()])))

    def _take(self, outcome: Outcome) -> None:
        assert not outcome.is_over
        self.messages, self.summary = outcome.messages, outcome.summary
        if outcome.record is not None:
            self.compactions += 1
            self.folded.extend(outcome.record.keys)
            self.guards = Guards(after_last_compaction=outcome.after_tokens)
        elif outcome.failure is not None:
            self.guards = replace(self.guards, at_last_failure=outcome.after_tokens)

    def _counted(self) -> int:
        told = write_summary_message(self.summary, (), "en")
        return self.counter.text(SYSTEM) + self.counter.text(told) + self.counter.messages(self.messages)

    def _true_tokens(self) -> int:
        plain = TokenCounter()
        told = write_summary_message(self.summary, (), "en")
        return round(TRUE_FACTOR * (plain.text(SYSTEM) + plain.text(told) + plain.messages(self.messages)))


@pytest.mark.parametrize("window", [32_000, 128_000])
@pytest.mark.parametrize("preset", ["copaw", "skill_compose"])
def test_three_hundred_steps_with_large_results_stay_in_the_window(preset: str, window: int) -> None:
    session = Session(policy(window, preset))
    session.messages = [user("the first request"), reply(id_="running")]
    for step in range(300):
        session.call_model()
        blocks = [call(f"c{step}", input_=f'{{"command": "run {step}"}}'), result(f"c{step}", OUTPUTS[step % 4])]
        session.messages[-1].content.extend(blocks)
    session.call_model()
    assert session.messages[0].content[0].id == "u1.t"
    assert session.messages[-1].id == "running"
    kept = block_keys(session.messages)
    assert len({*session.folded, *kept}) == len(session.folded) + len(kept) == 601
    assert session.refused <= 2
    assert 1 <= session.compactions < 150


def test_five_hundred_turns_stay_in_the_window() -> None:
    session = Session(policy(16_000))
    for turn in range(500):
        session.messages.append(user(f"question {turn} {CHINESE * 3}", f"u{turn}"))
        session.messages.append(reply(id_=f"a{turn}"))
        session.call_model()
        session.messages[-1].content.append(said(f"answer {turn} {CHINESE * 5}", f"s{turn}"))
    kept = block_keys(session.messages)
    assert [*session.folded, *kept] == [
        key
        for turn in range(500)
        for key in (BlockKey(f"u{turn}", "text", f"u{turn}.t"), BlockKey(f"a{turn}", "text", f"s{turn}"))
    ]
    assert session.refused <= 1
    assert session.compactions > 5
