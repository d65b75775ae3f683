"""Which lines are removed or shortened, in which order, and what the session weighs after each step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assistant.openclaw.compression_options import CompressionMode, MeasureBy, Options, Weigh
from assistant.openclaw.entry_contents import content_chars, read_content
from assistant.openclaw.line_classes import CLASSES, Classified, LineClass, is_large
from assistant.openclaw.rewriting import CONDENSED_CHARS, LineChange, rewrite
from assistant.openclaw.session_entries import read_line
from assistant.openclaw.survey import SessionLine, Survey

# What each mode deletes after the ladder; `standard` condenses P4 where `aggressive` deletes it.
_DELETED: dict[CompressionMode, tuple[LineClass, ...]] = {
    "light": ("P2",),
    "standard": ("P2", "P3"),
    "aggressive": ("P2", "P3", "P4", "P5"),
}
_NEVER_IN_A_UNIT = frozenset({"P0", "P6", "P7", "P8", "P9", "P10"})


class CompressionDraft:
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
        self._pending: dict[int, LineChange] = {}
        self._max_iterations = max_iterations
        self.iterations = 0
        self.hit_limit = False
        self.removed: set[int] = set()
        self.changes: dict[int, LineChange] = {}
        self.rewritten: dict[int, bytes] = {}
        self.total_tokens = sum(self.size(at) for at in range(len(survey.lines)))

    def size(self, at: int) -> float:
        """Tokens of a line as it is in the draft."""
        if at in self.removed:
            return 0.0
        known = self._sizes.get(at)
        return self._size_of(self._lines[at], at) if known is None else known

    def add(self, tokens: float) -> None:
        """Count something that will be written besides the lines."""
        self.total_tokens += tokens

    def drop(self, at: int) -> None:
        """Take out a line that is written again elsewhere; no iteration is counted."""
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

    def change(self, at: int, change: LineChange) -> None:
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

    def put_off(self, changes: Iterable[tuple[int, LineChange]]) -> None:
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

    def _least_size(self, at: int, change: LineChange) -> float:
        line = self._lines[at]
        left = line.content_chars - (line.thinking_chars if change.drops_thinking else 0)
        if change.output_limit_chars is not None:
            left = min(left, change.output_limit_chars)
        return self.size(at) * max(0, left) / line.chars

    def _size_of(self, line: SessionLine, at: int) -> float:
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


@dataclass(frozen=True, slots=True)
class LineGroup:
    """Lines that go together, and the class whose turn is theirs."""

    lines: tuple[int, ...]
    level: LineClass
    has_large_output: bool
    goes_with_ladder: bool


def plan(
    survey: Survey, classified: Classified, options: Options, draft: CompressionDraft, gists: Mapping[int, str]
) -> frozenset[int]:
    """Shrink the draft until it fits the target or nothing is left that may go; the tail lines that were cut.

    `gists` are a model's own short forms of explanations, by line index.
    """
    planner = _Planner(survey, classified, options, draft, gists)
    planner.climb_down_the_ladder()
    for level in _DELETED[options.mode]:
        planner.delete(level)
    if options.mode == "standard":
        planner.condense()
        planner.delete("P5")
    draft.settle()
    return planner.cut_tail()


class _Planner:
    def __init__(
        self,
        survey: Survey,
        classified: Classified,
        options: Options,
        draft: CompressionDraft,
        gists: Mapping[int, str],
    ) -> None:
        self._survey = survey
        self._lines = survey.lines
        self._classes = classified.classes
        self._options = options
        self._draft = draft
        self._gists = gists
        self._tail_start = classified.tail_start
        self._labelled = _labelled_ids(survey, draft)
        self._open = _open_lines(survey, classified, self._labelled)
        self._groups = self._make_groups(classified)

    @property
    def _fits(self) -> bool:
        return self._draft.total_tokens <= self._options.target_tokens

    def climb_down_the_ladder(self) -> None:
        """Old pictures away, then large outputs to 500 characters, to 200, and away; stop where the target is met."""
        self._drop_pictures()
        for limit in (self._options.truncate_size_chars, self._options.second_cut_chars):
            if self._fits:
                return
            self._draft.put_off(self._cuts(limit))
            if self._draft.least_total() <= self._options.target_tokens:
                self._draft.settle()
        groups = [group for group in self._groups if group.has_large_output]
        self._delete_groups([group for group in groups if group.goes_with_ladder])
        for at in (at for group in groups if not group.goes_with_ladder for at in group.lines):
            if self._fits:
                return
            if any(result.chars > self._options.truncate_threshold_chars for result in self._lines[at].results):
                self._draft.change(
                    at,
                    LineChange(
                        argument_limit_chars=self._options.second_cut_chars,
                        drops_thinking=self._has_spare_thinking(at),
                        removes_output=True,
                    ),
                )

    def _drop_pictures(self) -> None:
        """A note in place of each picture that a person sent before the tail; their words stay."""
        for at in self._survey.walk.path:
            if self._fits:
                return
            line = self._lines[at]
            if line.has_pictures and self._classes[at] == "P6" and line.id not in self._labelled:
                self._draft.change(at, LineChange(drops_pictures=True))

    def delete(self, level: LineClass) -> None:
        """Delete what is of this class, the oldest first, until the target is met."""
        self._delete_groups([group for group in self._groups if group.level == level])

    def condense(self) -> None:
        """Shorten explanations to their first sentence and failed calls to 200 characters of output."""
        for group in self._groups:
            for at in group.lines if group.level == "P4" else ():
                if self._fits:
                    return
                if at in self._draft.removed:
                    continue
                self._draft.settle()
                self._condense_line(at)

    def cut_tail(self) -> frozenset[int]:
        """Cut large outputs inside the tail, but for the newest step; the lines that were cut."""
        newest = self._newest_step()
        large = [
            at
            for at in self._survey.walk.path
            if at >= self._tail_start
            and at not in newest
            and self._lines[at].id not in self._labelled
            and is_large(self._lines[at], self._options)
        ]
        cut: set[int] = set()
        for limit in (self._options.truncate_size_chars, self._options.second_cut_chars):
            if self._fits:
                break
            for at in large:
                self._draft.change(at, LineChange(output_limit_chars=limit, argument_limit_chars=limit))
                cut.add(at)
        return frozenset(at for at in cut if at in self._draft.rewritten)

    def _condense_line(self, at: int) -> None:
        line = self._lines[at]
        limit = self._options.second_cut_chars
        earlier = self._draft.changes.get(at, LineChange())
        change = LineChange(
            output_limit_chars=limit if line.results else earlier.output_limit_chars,
            argument_limit_chars=earlier.argument_limit_chars,
            drops_thinking=self._has_spare_thinking(at),
            condenses=line.kind == "assistant" and line.text_chars > CONDENSED_CHARS,
            removes_output=earlier.removes_output,
            condensed_text=self._gists.get(at),
        )
        self._draft.change(at, change)

    def _delete_groups(self, found: Sequence[LineGroup]) -> None:
        groups = [group for group in found if not self._draft.removed.issuperset(group.lines)]
        if self._fits or not groups:
            return
        if self._draft.least_total(_all_lines(groups)) <= self._options.target_tokens:
            self._draft.settle()
        for group in groups:
            if self._fits or not self._draft.remove(group.lines):
                return

    def _make_groups(self, classified: Classified) -> tuple[LineGroup, ...]:
        groups: list[LineGroup] = []
        seen: set[int] = set()
        for at in sorted(self._open):
            if at in seen:
                continue
            unit = classified.unit_of.get(at)
            lines = (at,) if unit is None else self._survey.units[unit].lines
            seen.update(lines)
            if all(member in self._open for member in lines):
                groups.append(self._make_group(lines))
        return tuple(groups)

    def _make_group(self, lines: tuple[int, ...]) -> LineGroup:
        is_unit = any(self._lines[at].calls or self._lines[at].results for at in lines)
        level = CLASSES[max(CLASSES.index(self._classes[at]) for at in lines)]
        if level == "P1" and not is_unit:
            # Its thinking was large; what it says is an explanation like any other.
            level = "P4"
        large = [at for at in lines if is_large(self._lines[at], self._options)]
        results = [at for at in lines if self._lines[at].results]
        calls_are_large = any(at in large and self._lines[at].calls for at in lines)
        results_are_large = bool(results) and all(at in large or self._classes[at] == "P2" for at in results)
        goes = level in ("P1", "P2", "P3") and bool(large) and (calls_are_large or results_are_large)
        return LineGroup(lines, level, bool(large), goes)

    def _cuts(self, limit_chars: int) -> Iterator[tuple[int, LineChange]]:
        both = LineChange(limit_chars, limit_chars, drops_thinking=True)
        output, thinking = LineChange(limit_chars, limit_chars), LineChange(drops_thinking=True)
        for at in sorted(self._open):
            is_wordy = self._has_spare_thinking(at)
            if is_large(self._lines[at], self._options):
                yield at, both if is_wordy else output
            elif is_wordy:
                yield at, thinking

    def _has_spare_thinking(self, at: int) -> bool:
        line = self._lines[at]
        return line.thinking_chars > 0 and (line.text_chars > 0 or bool(line.calls))

    def _newest_step(self) -> frozenset[int]:
        newest = next((at for at in reversed(self._survey.walk.path) if self._lines[at].kind == "assistant"), None)
        return frozenset() if newest is None else frozenset(range(newest, len(self._lines)))


def _labelled_ids(survey: Survey, draft: CompressionDraft) -> frozenset[str]:
    """The entries that a label which stays points at; they stay as they are, in the tail too."""
    return frozenset(
        line.label_target
        for at, line in enumerate(survey.lines)
        if line.label_target is not None and at not in draft.removed
    )


def _open_lines(survey: Survey, classified: Classified, labelled: frozenset[str]) -> frozenset[int]:
    """Lines that may go or change: on the path, before the tail, of a class that may, and without a label."""
    return frozenset(
        at
        for at in survey.walk.path
        if classified.classes[at] not in _NEVER_IN_A_UNIT and survey.lines[at].id not in labelled
    )


def _all_lines(groups: Iterable[LineGroup]) -> set[int]:
    return {at for group in groups for at in group.lines}
