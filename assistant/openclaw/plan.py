"""What goes and in which order: the ladder for large outputs, class after class, then large outputs in the tail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assistant.openclaw.classify import CLASSES, Classified, LineClass, is_large
from assistant.openclaw.draft import Draft
from assistant.openclaw.options import Mode, Options
from assistant.openclaw.rewriting import CONDENSED_CHARS, Change
from assistant.openclaw.survey import Survey

# What each mode deletes after the ladder; `standard` condenses P4 where `aggressive` deletes it.
_DELETED: dict[Mode, tuple[LineClass, ...]] = {
    "light": ("P2",),
    "standard": ("P2", "P3"),
    "aggressive": ("P2", "P3", "P4", "P5"),
}
_NEVER_IN_A_UNIT = frozenset({"P0", "P6", "P7", "P8", "P9", "P10"})


@dataclass(frozen=True, slots=True)
class Group:
    """Lines that go together, and the class whose turn is theirs."""

    lines: tuple[int, ...]
    level: LineClass
    has_large_output: bool
    goes_with_ladder: bool


def plan(
    survey: Survey, classified: Classified, options: Options, draft: Draft, gists: Mapping[int, str]
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
        draft: Draft,
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
        """All large outputs to 500 characters, then to 200, then away; stop where the target is met."""
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
                    Change(
                        argument_limit_chars=self._options.second_cut_chars,
                        drops_thinking=self._has_spare_thinking(at),
                        removes_output=True,
                    ),
                )

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
                self._draft.change(at, Change(output_limit_chars=limit, argument_limit_chars=limit))
                cut.add(at)
        return frozenset(at for at in cut if at in self._draft.rewritten)

    def _condense_line(self, at: int) -> None:
        line = self._lines[at]
        limit = self._options.second_cut_chars
        earlier = self._draft.changes.get(at, Change())
        change = Change(
            output_limit_chars=limit if line.results else earlier.output_limit_chars,
            argument_limit_chars=earlier.argument_limit_chars,
            drops_thinking=self._has_spare_thinking(at),
            condenses=line.kind == "assistant" and line.text_chars > CONDENSED_CHARS,
            removes_output=earlier.removes_output,
            condensed_text=self._gists.get(at),
        )
        self._draft.change(at, change)

    def _delete_groups(self, found: Sequence[Group]) -> None:
        groups = [group for group in found if not self._draft.removed.issuperset(group.lines)]
        if self._fits or not groups:
            return
        if self._draft.least_total(_all_lines(groups)) <= self._options.target_tokens:
            self._draft.settle()
        for group in groups:
            if self._fits or not self._draft.remove(group.lines):
                return

    def _make_groups(self, classified: Classified) -> tuple[Group, ...]:
        groups: list[Group] = []
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

    def _make_group(self, lines: tuple[int, ...]) -> Group:
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
        return Group(lines, level, bool(large), goes)

    def _cuts(self, limit_chars: int) -> Iterator[tuple[int, Change]]:
        both = Change(limit_chars, limit_chars, drops_thinking=True)
        output, thinking = Change(limit_chars, limit_chars), Change(drops_thinking=True)
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


def _labelled_ids(survey: Survey, draft: Draft) -> frozenset[str]:
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


def _all_lines(groups: Iterable[Group]) -> set[int]:
    return {at for group in groups for at in group.lines}
