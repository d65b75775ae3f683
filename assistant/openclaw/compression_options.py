"""The options of a compression: the skill's nine parameters, and the few this tool adds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

# What a run is given besides: a token count of a text, a text with its secrets masked, a model that answers a prompt.
Weigh = Callable[[str], float]
Mask = Callable[[str], str]
AskModel = Callable[[str], str]

CompressionMode = Literal["light", "standard", "aggressive"]
MeasureBy = Literal["raw", "content"]
EstimatorName = Literal["mixed", "chinese", "english", "code", "auto"]
MarkerForm = Literal["system", "custom"]
KeepTail = int | Literal["auto"]

MODES: tuple[CompressionMode, ...] = ("light", "standard", "aggressive")
TARGET_TOKENS: dict[CompressionMode, int] = {"light": 6_000, "standard": 4_000, "aggressive": 2_500}
ESTIMATORS: tuple[EstimatorName, ...] = ("mixed", "chinese", "english", "code", "auto")

# A command may remove 5,000 lines; the skill lets a model that follows it by hand remove 100.
SCRIPT_MAX_ITERATIONS = 5_000
SECOND_CUT_CHARS = 200


@dataclass(frozen=True, slots=True)
class Options:
    """How to compress one session. Times are minutes, sizes characters, thresholds tokens unless named otherwise."""

    mode: CompressionMode = "standard"
    keep_tail: KeepTail = 60
    max_iterations: int = SCRIPT_MAX_ITERATIONS
    token_threshold: int = 8_000
    char_threshold: int = 32_000
    truncate_threshold_chars: int = 2_000
    truncate_size_chars: int = 500
    cooldown_minutes: float = 5
    auto_backup: bool = True
    recent_days: int = 1
    force: bool = False
    measure_by: MeasureBy = "raw"
    estimator: EstimatorName = "mixed"
    marker_form: MarkerForm = "system"
    drop_branches: bool = False

    @property
    def target_tokens(self) -> int:
        """The size the mode aims for."""
        return TARGET_TOKENS[self.mode]

    @property
    def second_cut_chars(self) -> int:
        """What is left of an output on the second rung: never more than on the first."""
        return min(SECOND_CUT_CHARS, self.truncate_size_chars)
