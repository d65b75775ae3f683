"""A compression being planned: which lines go, which change, and what the session weighs by now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assistant.openclaw.contents import content_chars, read_content
from assistant.openclaw.entries import read_line
from assistant.openclaw.estimate import Weigh
from assistant.openclaw.lines import Line
from assistant.openclaw.options import MeasureBy
from assistant.openclaw.rewriting import Change, rewrite
from assistant.openclaw.survey import Survey


class Draft:
    """Keeps the running total while lines are removed and shortened.

    A change may be put off: it is then weighed only when the exact total matters, since most lines of a large
    session are removed before it does.
    """

    def __init__(self, survey: Survey, weigh: Weigh, measure_by: MeasureBy, max_iterations: int) -> None:
        self._lines = survey.lines
        self._weigh = weigh
        self._measure_by: MeasureBy = measure_by
        self._context = frozenset(survey.walk.context)
        self._sizes: dict[int, float] = {}
        self._pending: dict[int, Change] = {}
        self._max_iterations = max_iterations
        self.iterations = 0
        self.hit_limit = False
        self.removed: set[int] = set()
        self.changes: dict[int, Change] = {}
        self.rewritten: dict[int, bytes] = {}
        self.total_tokens = sum(self.size(at) for at in range(len(survey.lines)))

    def size(self, at: int) -> float:
        """Tokens a line costs as it stands in the draft."""
        if at in self.removed:
            return 0.0
        known = self._sizes.get(at)
        return self._size_of(self._lines[at], at) if known is None else known

    def add(self, tokens: float) -> None:
        """Count something that will be written besides the lines."""
        self.total_tokens += tokens

    def drop(self, at: int) -> None:
        """Take out a line that is written anew elsewhere; no iteration is counted."""
        self.total_tokens -= self.size(at)
        self.removed.add(at)

    def remove(self, lines: Sequence[int]) -> bool:
        """Delete lines that belong together; False, and nothing done, when that is over the iteration limit."""
        if self.iterations + len(lines) > self._max_iterations:
            self.hit_limit = True
            return False
        self.iterations += len(lines)
        for at in lines:
            self._pending.pop(at, None)
            self.drop(at)
        return True

    def change(self, at: int, change: Change) -> None:
        """Change a line now and weigh what comes out."""
        self._pending.pop(at, None)
        line = self._lines[at]
        raw = rewrite(line.raw, at == 0, change, None)
        if len(raw) >= len(line.raw):
            return
        before = self.size(at)
        self.changes[at] = change
        self.rewritten[at] = raw
        self._sizes[at] = self._weigh_raw(raw, at)
        self.total_tokens += self._sizes[at] - before

    def put_off(self, changes: Iterable[tuple[int, Change]]) -> None:
        """Change these lines later, those of them that are still there."""
        self._pending.update(changes)

    def settle(self) -> None:
        """Make every change that was put off."""
        for at, change in sorted(self._pending.items()):
            self.change(at, change)
        self._pending.clear()

    def least_total(self, without: Iterable[int] = ()) -> float:
        """What the session weighs at the very least when `without` go and everything put off is done."""
        gone = set(without)
        total = self.total_tokens - sum(self.size(at) for at in gone)
        for at, change in self._pending.items():
            if at not in gone and at not in self.removed:
                total -= self.size(at) - self._least_size(at, change)
        return total

    def _least_size(self, at: int, change: Change) -> float:
        line = self._lines[at]
        left = line.content_chars - (line.thinking_chars if change.drops_thinking else 0)
        if change.output_limit_chars is not None:
            left = min(left, change.output_limit_chars)
        return self.size(at) * max(0, left) / line.chars

    def _size_of(self, line: Line, at: int) -> float:
        if self._measure_by == "raw":
            return line.tokens
        return line.content_tokens if at in self._context else 0.0

    def _weigh_raw(self, raw: bytes, at: int) -> float:
        text = raw.decode("utf-8", "surrogateescape")
        tokens = self._weigh(text)
        if self._measure_by == "raw":
            return tokens
        entry = read_line(raw, is_first=at == 0)
        return tokens * content_chars(entry, read_content(entry)) / len(text) if at in self._context else 0.0
