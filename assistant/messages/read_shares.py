"""Whether a server reads all that it is sent: it does not when its own count stays the same while ours grows (pure)."""

from __future__ import annotations

from dataclasses import dataclass, field

_READINGS = 3
# A server that cuts at a token stands still to a percent; one that leaves out whole messages, to a tenth.
_STEADY, _GROWTH = 0.01, 1.05
_NEARLY_STEADY, _GREAT_GROWTH = 0.1, 1.25
# Below this a count may be that of what was new to the server's cache.
_LEAST_TOKENS = 500


@dataclass(slots=True)
class ReadShares:
    """The newest requests of one conversation: tokens by our count, uncorrected, and by the server's."""

    _readings: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])

    def note(self, sent_tokens: float, read_tokens: int) -> bool:
        """Take one more request; True where the server's count stays the same though more and more is sent."""
        if read_tokens <= 0:
            return False
        if self._readings and sent_tokens <= self._readings[-1][0]:
            self._readings.clear()
        self._readings = [*self._readings, (sent_tokens, read_tokens)][-_READINGS:]
        if len(self._readings) < _READINGS:
            return False
        growth = self._readings[-1][0] / self._readings[0][0]
        counts = [read for _, read in self._readings]
        spread = (max(counts) - min(counts)) / max(counts)
        is_still = (spread <= _STEADY and growth >= _GROWTH) or (spread <= _NEARLY_STEADY and growth >= _GREAT_GROWTH)
        return is_still and min(counts) >= _LEAST_TOKENS
