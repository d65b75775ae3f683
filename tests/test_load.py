"""The benchmark of many people finds nothing where nothing is wrong, and something where something is."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import load
from benchmarks.load import MarkedPlayer, quantile, talk
from tests.fakes.home import home_settings
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import ChatRequest, Reply


class CrossingPlayer(MarkedPlayer):
    """Answers one person with the words for another."""

    def __call__(self, request: ChatRequest) -> Reply:
        reply = super().__call__(request)
        return Reply(reply.text.replace("⟨1/", "⟨0/"))


@pytest.mark.parametrize("player", [MarkedPlayer(), CrossingPlayer()], ids=["right", "crossed"])
async def test_what_is_lost_or_crossed_is_found(
    home: Path, monkeypatch: pytest.MonkeyPatch, player: MarkedPlayer
) -> None:
    monkeypatch.setattr(load, "PEOPLE", 3)
    monkeypatch.setattr(load, "PAUSE_SECONDS", (0.0, 0.05))
    with StrictProvider(player, window_tokens=load.WINDOW_TOKENS) as provider:
        values = {"provider": "openai", "model": "strict-7b", "memory": "on", "max_input_length": load.WINDOW_TOKENS}
        seen, _ = await talk(home_settings(home, base_url=provider.base_url, **values), seconds=1.0)
    assert seen.turns >= 3
    assert {fault.partition(":")[0].partition("/")[0] for fault in seen.faults} == (
        {"1"} if isinstance(player, CrossingPlayer) else set()
    )


@pytest.mark.parametrize(
    ("values", "share", "found"), [([], 0.95, 0.0), ([3.0], 0.5, 3.0), ([1.0, 2.0, 3.0, 4.0], 0.5, 3.0)]
)
def test_a_quantile_is_one_of_the_values(values: list[float], share: float, found: float) -> None:
    assert quantile(values, share) == found
