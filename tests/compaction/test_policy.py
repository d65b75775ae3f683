"""The numbers of both presets, and how the owner's values change them."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from assistant.compaction.policy import CompactionPolicy, PolicyOverrides, overrides_of, policy_for
from assistant.config.settings import Settings


def test_copaw_has_the_numbers_of_the_decision_flow() -> None:
    policy = policy_for("copaw", 128_000)
    assert (policy.threshold, policy.reserve, policy.summary_cap_tokens) == (89_600, 12_800, 4_096)
    assert (policy.recent_n, policy.recent_max_bytes, policy.old_max_bytes, policy.retention_days) == (
        3,
        50_000,
        3_000,
        30,
    )


def test_skill_compose_has_the_numbers_of_its_article() -> None:
    policy = policy_for("skill_compose", 200_000)
    assert (policy.threshold, policy.reserve, policy.max_recent_turns) == (140_000, 50_000, 5)
    assert policy.fires_on_reported_usage


@pytest.mark.parametrize(
    ("preset", "window", "expected"),
    [
        pytest.param("copaw", 32_000, 32_000, id="copaw fits a small model"),
        pytest.param("copaw", 1_000_000, 128_000, id="copaw uses no more than 128,000"),
        pytest.param("copaw", None, 128_000, id="copaw on an unknown window"),
        pytest.param("skill_compose", 1_000_000, 1_000_000, id="skill_compose uses all"),
        pytest.param("skill_compose", None, 200_000, id="skill_compose on an unknown window"),
    ],
)
def test_the_window_is_the_models_within_the_presets_limit(preset: str, window: int | None, expected: int) -> None:
    assert policy_for(preset, window).max_input_length == expected  # type: ignore[arg-type]


def test_a_setting_may_raise_the_window_above_the_preset() -> None:
    policy = policy_for("copaw", 1_000_000, PolicyOverrides(max_input_length=500_000))
    assert (policy.max_input_length, policy.threshold, policy.reserve) == (500_000, 350_000, 12_800)


def test_a_threshold_in_tokens_wins_over_the_ratio_and_never_passes_the_point_of_overflow() -> None:
    assert policy_for("copaw", 128_000, PolicyOverrides(compact_threshold=50_000)).threshold == 50_000
    assert policy_for("copaw", 32_000, PolicyOverrides(compact_threshold=50_000)).threshold == 30_400


def test_the_early_copaw_of_the_analysis_can_be_set() -> None:
    early = PolicyOverrides(tool_result_max_chars=10_000, safety_factor=0.9, keep_recent_messages=10)
    policy = policy_for("copaw", 128_000, early)
    assert (policy.threshold, policy.tool_result_max_chars, policy.keep_recent_messages) == (80_640, 10_000, 10)


def test_a_summary_costs_at_most_a_tenth_of_a_small_window() -> None:
    assert policy_for("copaw", 8_192).summary_cap_tokens == 819


def test_every_field_an_owner_may_set_is_a_setting_of_the_same_name(tmp_path: Path) -> None:
    names = {field.name for field in fields(PolicyOverrides)}
    assert names <= set(Settings.model_fields) & {field.name for field in fields(CompactionPolicy)}
    chosen = overrides_of(Settings(home=tmp_path, recent_n=7, memory_compact_ratio=0.5))
    assert chosen == PolicyOverrides(recent_n=7, memory_compact_ratio=0.5)
