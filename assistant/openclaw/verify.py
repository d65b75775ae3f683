"""What must be true of a new session file before it may take the place of the old one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from assistant.openclaw.lines import Line
from assistant.openclaw.survey import Survey


def find_faults(before: Survey, after: Survey, removed: frozenset[int], kept: frozenset[int]) -> tuple[str, ...]:
    """Every way in which `after` is not a whole session; empty when it may be written.

    `removed` are the lines of `before` that went on purpose, `kept` those that had to stay word for word.
    """
    return (
        *_unparsable(before, after),
        *_voices(after),
        *_walk(before, after, removed),
        *_pairs(before, after),
        *_single_lines(after),
        *_kept(before, after, kept),
    )


def lacks_voice(survey: Survey) -> str | None:
    """Which of the two voices a session has nothing of; an answer needs a text or a tool call."""
    has_user = any(line.kind == "user" and (line.has_own_words or line.text_chars) for line in survey.lines)
    has_assistant = any(line.kind == "assistant" and (line.text_chars or line.calls) for line in survey.lines)
    if has_user and has_assistant:
        return None
    return "assistant" if has_user else "user"


def _unparsable(before: Survey, after: Survey) -> Iterator[str]:
    new = Counter(_broken(after)) - Counter(_broken(before))
    if new:
        yield f"{new.total()} lines are no longer valid JSON"
    if Counter(_broken(before)) - Counter(_broken(after)):
        yield "a line that did not parse was changed"


def _broken(survey: Survey) -> list[bytes]:
    return [line.raw.rstrip(b"\r\n") for line in survey.lines if line.kind == "unparsable"]


def _voices(after: Survey) -> Iterator[str]:
    voice = lacks_voice(after)
    if voice is not None:
        yield f"no {voice} message is left"


def _walk(before: Survey, after: Survey, removed: frozenset[int]) -> Iterator[str]:
    if before.header is not None and (after.header != 0 and before.header == 0):
        yield "the header is not the first line"
    if before.form != "tree":
        return
    wanted = [
        before.lines[at].id
        for at in before.walk.path
        if at not in removed and before.lines[at].kind not in ("marker", "summary")
    ]
    walked = [after.lines[at].id for at in after.walk.path if after.lines[at].kind not in ("marker", "summary")]
    if walked != wanted:
        yield f"the walk from the last entry meets {len(walked)} entries where {len(wanted)} should be"
    seen_before = [before.lines[at].id for at in before.walk.context if at not in removed]
    seen_after = [after.lines[at].id for at in after.walk.context if after.lines[at].kind != "summary"]
    missing = set(_without_summaries(before, seen_before)) - set(seen_after)
    if missing:
        yield f"{len(missing)} entries would fall out of the context"


def _without_summaries(survey: Survey, ids: list[str | None]) -> list[str | None]:
    summaries = {line.id for line in survey.lines if line.kind == "summary"}
    return [entry_id for entry_id in ids if entry_id not in summaries]


def _pairs(before: Survey, after: Survey) -> Iterator[str]:
    # Those that hung before, an aborted call for one, may hang on.
    if _open_calls(after) - _open_calls(before):
        yield "a tool call has lost its result"
    if _orphans(after) - _orphans(before):
        yield "a tool result has lost its call"


def _open_calls(survey: Survey) -> Counter[str]:
    return Counter(_call_key(survey.lines[unit.lines[0]]) for unit in survey.units if unit.open_calls)


def _orphans(survey: Survey) -> Counter[str]:
    return Counter(
        ",".join(str(result.call_id) for at in unit.lines for result in survey.lines[at].results)
        for unit in survey.units
        if not any(survey.lines[at].calls for at in unit.lines)
        and any(result.call_id is not None for at in unit.lines for result in survey.lines[at].results)
    )


def _call_key(line: Line) -> str:
    return ",".join(f"{call.id}:{call.name}" for call in line.calls)


def _single_lines(after: Survey) -> Iterator[str]:
    on_path = [after.lines[at].kind for at in after.walk.path]
    summaries = on_path.count("summary") + on_path.count("spoken_summary")
    if summaries != 1:
        yield f"there are {summaries} summaries where one should be"
    markers = sum(line.kind == "marker" for line in after.lines)
    if markers != 1:
        yield f"there are {markers} markers where one should be"


def _kept(before: Survey, after: Survey, kept: frozenset[int]) -> Iterator[str]:
    missing = Counter(_words(before.lines[at]) for at in kept) - Counter(map(_words, after.lines))
    if missing:
        yield f"{missing.total()} messages that must stay were changed or lost"


def _words(line: Line) -> tuple[str, int, int]:
    return (line.kind, line.text_chars, line.fingerprint)
