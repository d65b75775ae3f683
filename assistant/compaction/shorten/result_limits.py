"""Shortens tool results by limits and says what was cut and how to read on; hands back full texts, writes none.

Where the full text is and how much of it is shown is in the block's metadata and is never read out of the text,
so a tool may print anything, a notice of ours included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from assistant.compaction.budget import level_within
from assistant.compaction.policy import RECENT_RESULTS_RATIO, CompactionPolicy
from assistant.compaction.shorten.artifact_reference import (
    ArtifactReader,
    ArtifactReference,
    is_file_read,
    reading_of,
    reference_of,
)
from assistant.compaction.shorten.shown_result import ArtifactWay, has_pictures, refer_to, show_ends, text_of_result
from assistant.compaction.shorten.text_cut import Ends, byte_length, is_within, strip_ansi, take_head, take_tail
from assistant.config.prompts import render
from assistant.config.words import Language
from assistant.messages.blocks import Msg, ToolCallBlock, ToolResultBlock, copy_with_blocks, steps_of, with_result_text
from assistant.messages.tokens import TokenCounter

_FIT_ATTEMPTS = 12
_FIT_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class Artifact:
    """The full text of a shortened result, still to be stored under its id."""

    artifact_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ArtifactPlace:
    """Names new artifacts and says where the model finds them."""

    new_id: Callable[[], str]
    folder: str = "tool_result"
    language: Language = "en"
    reader: ArtifactReader = "Read"

    def path(self, artifact_id: str) -> str:
        """The path by which the model reads an artifact."""
        return f"{self.folder}/{artifact_id}.txt"


@dataclass(frozen=True, slots=True)
class Capped:
    """A result within its limit, and its full text when that was taken out just now."""

    block: ToolResultBlock
    artifact: Artifact | None


@dataclass(frozen=True, slots=True)
class Shortened:
    """Results within their limits; `messages` is the very list that was given when nothing was cut."""

    messages: list[Msg]
    artifacts: tuple[Artifact, ...]
    shortened: int


def cap_result(
    block: ToolResultBlock,
    max_bytes: int,
    place: ArtifactPlace,
    *,
    call: ToolCallBlock | None = None,
    max_chars: int | None = None,
) -> Capped:
    """The result with at most `max_bytes` bytes of its text and one notice; pictures stay.

    `call` is the call it answers: a result that was read out of an artifact makes no new one.
    """
    text = text_of_result(block)
    if (known := reference_of(block)) is not None:
        head, tail = take_head(text, known.head_bytes), take_tail(text, known.tail_bytes)
        if max_bytes >= known.limit_bytes or is_within(head + tail, max_bytes, max_chars):
            return Capped(block, None)
        return Capped(_show(block, Ends(head, tail), max_bytes, max_chars, known, place), None)
    plain = strip_ansi(text)
    if is_within(plain, max_bytes, max_chars):
        return Capped(block if plain == text else with_result_text(block, plain, {}), None)
    reading = reading_of(call)
    artifact = None if reading else Artifact(place.new_id(), plain)
    artifact_id = reading.artifact_id if reading else artifact.artifact_id if artifact else ""
    reference = refer_to(plain, artifact_id, reading, has_outline=is_file_read(block.name))
    return Capped(_show(block, Ends(plain, plain), max_bytes, max_chars, reference, place), artifact)


def shorten_results(
    messages: list[Msg], policy: CompactionPolicy, left_tokens: int, counter: TokenCounter, place: ArtifactPlace
) -> Shortened:
    """Every result within its limit: recent ones large, older ones small, browser pages after first use a reference.

    The recent ones together stay within a share of `left_tokens`; with nothing left all are cut like old ones.
    """
    results = _results_of(messages)
    browser_names = {name for name in {result.block.name for result in results} if is_browser_tool(name, policy)}
    recent: list[_Result] = []
    for index, result in enumerate(results):
        is_recent = result.is_newest_step or index >= len(results) - policy.recent_n
        if not result.is_newest_step and result.block.name in browser_names:
            result.cut_to_reference(place)
        elif is_recent and left_tokens > 0:
            result.cut(policy.recent_max_bytes, policy, place)
            recent.append(result)
        else:
            result.cut(policy.old_max_bytes, policy, place)
            result.drop_pictures(place.language)
    if recent:
        _fit_together(recent, round(left_tokens * RECENT_RESULTS_RATIO), policy, counter, place)
    changed = [result for result in results if result.block is not result.original]
    artifacts = tuple(result.artifact for result in changed if result.artifact is not None)
    return Shortened(_replace_blocks(messages, changed), artifacts, len(changed))


def is_browser_tool(name: str, policy: CompactionPolicy) -> bool:
    """True for tools whose pages are kept as a reference only once the model has seen them."""
    return any(fnmatchcase(name, pattern) for pattern in policy.browser_tools)


def _show(
    block: ToolResultBlock,
    given: Ends,
    max_bytes: int,
    max_chars: int | None,
    reference: ArtifactReference,
    place: ArtifactPlace,
) -> ToolResultBlock:
    return show_ends(block, given, max_bytes, max_chars, reference, _way_to(reference.artifact_id, place))


def _way_to(artifact_id: str, place: ArtifactPlace) -> ArtifactWay:
    return ArtifactWay(place.path(artifact_id), place.reader, place.language)


@dataclass(slots=True)
class _Result:
    """A result on its way through the limits, and its place in the context."""

    message_index: int
    block_index: int
    original: ToolResultBlock
    block: ToolResultBlock
    call: ToolCallBlock | None
    is_newest_step: bool
    artifact: Artifact | None = None

    @property
    def shown_bytes(self) -> int:
        known = reference_of(self.block)
        return byte_length(text_of_result(self.block)) if known is None else known.head_bytes + known.tail_bytes

    def cut(self, max_bytes: int, policy: CompactionPolicy, place: ArtifactPlace) -> None:
        capped = cap_result(self.block, max_bytes, place, call=self.call, max_chars=policy.tool_result_max_chars)
        self.block = capped.block
        self.artifact = capped.artifact or self.artifact

    def drop_pictures(self, language: Language) -> None:
        if not has_pictures(self.block):
            return
        text, known = text_of_result(self.block), reference_of(self.block)
        # What is shown of a full text stays at both ends, where a further cut looks for it.
        tail = take_tail(text, known.tail_bytes) if known else ""
        parts = (text.removesuffix(tail), render("tool_result_pictures", language), tail)
        self.block = self.block.model_copy(update={"output": "\n".join(filter(None, parts))})

    def cut_to_reference(self, place: ArtifactPlace) -> None:
        known = reference_of(self.block)
        is_pictured = has_pictures(self.block)
        if known is not None and known.limit_bytes == 0 and not is_pictured:
            return
        capped = cap_result(self.block, 0, place, call=self.call)
        reference = text_of_result(capped.block)
        # A short answer such as "clicked" costs less than a reference to it.
        if not is_pictured and len(reference) >= len(text_of_result(self.block)):
            return
        self.block = capped.block.model_copy(update={"output": reference})
        self.artifact = capped.artifact


def _results_of(messages: Sequence[Msg]) -> list[_Result]:
    results: list[_Result] = []
    newest_steps = steps_of(messages[-1:])
    for message_index, message in enumerate(messages):
        is_newest = message_index == len(messages) - 1
        calls: dict[str, ToolCallBlock] = {}
        for index, block in enumerate(message.content):
            if isinstance(block, ToolCallBlock):
                calls[block.id] = block
            elif isinstance(block, ToolResultBlock):
                is_newest_step = is_newest and index >= newest_steps[-1].start
                results.append(_Result(message_index, index, block, block, calls.get(block.id), is_newest_step))
    return results


def _fit_together(
    recent: Sequence[_Result],
    budget_tokens: int,
    policy: CompactionPolicy,
    counter: TokenCounter,
    place: ArtifactPlace,
) -> None:
    for _ in range(_FIT_ATTEMPTS):
        sizes = [counter.block(result.block) for result in recent]
        if sum(sizes) <= budget_tokens:
            return
        level = level_within(sizes, round(budget_tokens * _FIT_SHARE))
        for result, size in zip(recent, sizes, strict=True):
            if size > level:
                result.cut(max(policy.old_max_bytes, result.shown_bytes * level // size), policy, place)


def _replace_blocks(messages: list[Msg], changed: Sequence[_Result]) -> list[Msg]:
    if not changed:
        return messages
    contents = {result.message_index: list(messages[result.message_index].content) for result in changed}
    for result in changed:
        contents[result.message_index][result.block_index] = result.block
    return [
        copy_with_blocks(message, contents[index]) if index in contents else message
        for index, message in enumerate(messages)
    ]
