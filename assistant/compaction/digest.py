"""The deterministic stand-in for a summary: what was asked, answered and done, shortened, written by code alone."""

from __future__ import annotations

from collections.abc import Sequence

from assistant.compaction.identifiers import identifiers_of
from assistant.compaction.policy import PresetName
from assistant.compaction.sections import (
    FilledSection,
    Section,
    merge_repeated,
    running_turn_section,
    sections_for,
)
from assistant.compaction.text_cut import byte_length, take_tail
from assistant.compaction.transcript import fence_safe, minute_of, shorten_for_reading
from assistant.messages import Msg, TextBlock, ToolCallBlock, ToolResultBlock, result_text, text_of
from assistant.prompts import Language, render
from assistant.tokens import TokenCounter

_ASKED_BYTES = 600
_ANSWERED_BYTES = 300
_ARGUMENT_BYTES = 120
_RESULT_BYTES = 120
_NAMED = 40
# Of the cap: for what is new, and for what earlier digests listed.
_ENTRIES_RATIO = 0.3
_EARLIER_RATIO = 0.2
_HOMES: dict[PresetName, tuple[str, str, str]] = {
    "copaw": ("goal", "progress", "context"),
    "skill_compose": ("request", "current_state", "concepts"),
}


def digest_sections(
    older: Sequence[Msg],
    turn_prefix: Sequence[Msg],
    previous: Sequence[FilledSection],
    preset: PresetName,
    language: Language,
    cap_tokens: int,
    counter: TokenCounter,
) -> tuple[FilledSection, ...]:
    """The previous sections with what the folded messages add to goal, progress and context, in the order asked for."""
    asked = sections_for(preset, language)
    running = running_turn_section(language)
    bodies = merge_repeated(previous, asked)
    goal, progress, context = _HOMES[preset]
    budget = round(cap_tokens * _ENTRIES_RATIO)
    entries = _newest_entries(older, budget, counter, language)
    notes = _newest_entries(turn_prefix, budget, counter, language)
    if older:
        # The running turn of the previous summary has ended; its notes are part of the progress now.
        ended = bodies.pop(running.key, "")
        bodies[goal] = _goal(older, bodies.get(goal, ""), language)
        bodies[progress] = _join(
            _tail(f"{bodies.get(progress, '')}\n{ended}".strip(), cap_tokens, counter), entries, language
        )
    if turn_prefix:
        bodies[running.key] = _join(_tail(bodies.get(running.key, ""), cap_tokens, counter), notes, language)
    names = [name for name in identifiers_of("\n".join([*entries, *notes])) if name not in bodies.get(context, "")]
    if names:
        named = render("summary_digest", language, kind="named", text=", ".join(names[:_NAMED]))
        bodies[context] = f"{_tail(bodies.get(context, ''), cap_tokens, counter)}\n{named}".strip()
    order: list[Section] = [*asked, running]
    return tuple(FilledSection(s.key, s.title, bodies[s.key]) for s in order if bodies.get(s.key, "").strip())


def _goal(older: Sequence[Msg], earlier: str, language: Language) -> str:
    requests = [(message, text) for message in older if message.role == "user" and (text := text_of(message).strip())]
    if not requests:
        return earlier
    newest_mark = _line(language, kind="newest", at="", text="").partition("] ")[2]
    earlier = "\n".join(line for line in earlier.split("\n") if newest_mark not in line)
    lines = [earlier] if earlier else [_asked(*requests[0], kind="asked", language=language)]
    if earlier or len(requests) > 1:
        lines.append(_asked(*requests[-1], kind="newest", language=language))
    return "\n".join(lines)


def _asked(message: Msg, text: str, kind: str, language: Language) -> str:
    return _line(language, kind=kind, at=minute_of(message.created_at), text=_one_line(text, _ASKED_BYTES))


def _newest_entries(messages: Sequence[Msg], budget: int, counter: TokenCounter, language: Language) -> list[str]:
    chosen: list[str] = []
    used = 0
    for message in reversed(messages):
        results = {block.id: block for block in message.content if isinstance(block, ToolResultBlock)}
        for block in reversed(message.content):
            entry = ""
            if isinstance(block, TextBlock) and block.text.strip():
                kind, limit = ("asked", _ASKED_BYTES) if message.role == "user" else ("answered", _ANSWERED_BYTES)
                at = minute_of(block.created_at or message.created_at)
                entry = _line(language, kind=kind, at=at, text=_one_line(block.text, limit))
            elif isinstance(block, ToolCallBlock):
                entry = _call_entry(block, results.get(block.id), language)
            if not entry:
                continue
            used += counter.text(entry)
            if used > budget and chosen:
                return list(reversed(chosen))
            chosen.append(entry)
    return list(reversed(chosen))


def _call_entry(call: ToolCallBlock, result: ToolResultBlock | None, language: Language) -> str:
    return _line(
        language,
        kind="called",
        at=minute_of(call.created_at),
        name=call.name,
        arguments=_one_line(call.input, _ARGUMENT_BYTES),
        state=result.state if result else "interrupted",
        text=_one_line(result_text(result), _RESULT_BYTES) if result else "",
    )


def _line(language: Language, **values: str) -> str:
    return render("summary_digest", language, **values)


def _one_line(text: str, max_bytes: int) -> str:
    # Only the ends are looked at, so that a result of megabytes costs nothing.
    ends = text if len(text) <= 4 * max_bytes else f"{text[: 2 * max_bytes]} … {text[-2 * max_bytes :]}"
    return fence_safe(shorten_for_reading(" ".join(ends.split()), max_bytes).replace("\n", " "))


def _join(earlier: str, entries: Sequence[str], language: Language) -> str:
    mark = render("summary_digest", language, kind="mark")
    return "\n".join([*([earlier.replace(mark, "").strip()] if earlier else []), mark, *entries])


def _tail(body: str, cap_tokens: int, counter: TokenCounter) -> str:
    size, limit = counter.text(body), round(cap_tokens * _EARLIER_RATIO)
    if size <= limit:
        return body
    tail = take_tail(body, byte_length(body) * limit // size)
    return tail.partition("\n")[2] or tail
