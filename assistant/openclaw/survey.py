"""A session read once: what is kept of each line, the walk a loader makes, and calls joined with their results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from assistant.config.words import say
from assistant.errors import TranscriptError
from assistant.openclaw.compression_options import Weigh
from assistant.openclaw.entry_contents import (
    Content,
    content_chars,
    is_condensed,
    is_picture_note,
    read_content,
    summary_text,
)
from assistant.openclaw.findings import Finder, SessionFinding
from assistant.openclaw.session_entries import Entry, EntryKind, Fields, Marker, read_line, read_marker, text_or_none
from assistant.openclaw.tool_calls import CallShape, call_shape, has_failed, is_empty_handed
from assistant.openclaw.wording import asks_something, first_sentence, is_pleasantry, own_words
from assistant.text.json_values import is_list, is_object

SessionForm = Literal[
    "tree",  # header with version 2 or 3: entries with id and parentId
    "chain",  # header without version: one line follows the other
    "plain",  # no header: role/content lines
]
CONTEXT_KINDS: frozenset[EntryKind] = frozenset(
    {"user", "assistant", "result", "bash", "injected", "system", "spoken_summary"}
)

NEWEST_VERSION = 3
# Lines that say nothing about the file as a whole: what they are depends on their bytes alone.
_REUSABLE: frozenset[EntryKind] = frozenset({"user", "assistant", "result", "bash"})


@dataclass(frozen=True, slots=True)
class CallNote:
    """What is kept of a tool call."""

    id: str | None
    name: str
    shape: CallShape
    argument_chars: int


@dataclass(frozen=True, slots=True)
class ResultNote:
    """What is kept of a tool result."""

    call_id: str | None
    chars: int
    has_failed: bool
    is_empty: bool


@dataclass(frozen=True, slots=True)
class SessionLine:
    """One line of a session. `tokens` weighs the whole line, `content_tokens` what of it reaches a model.

    `cuttable_chars` is the longest output or argument: what the ladder can cut.
    """

    raw: bytes
    kind: EntryKind
    chars: int
    tokens: float
    id: str | None = None
    parent_id: str | None = None
    has_parent_key: bool = False
    first_kept: str | int | None = None
    content_chars: int = 0
    content_tokens: float = 0.0
    text_chars: int = 0
    is_condensed: bool = False
    thinking_chars: int = 0
    cuttable_chars: int = 0
    has_pictures: bool = False
    opening: str = ""
    is_pleasantry: bool = False
    asks: bool = False
    has_own_words: bool = False
    has_aborted: bool = False
    calls: tuple[CallNote, ...] = ()
    results: tuple[ResultNote, ...] = ()
    fingerprint: int = 0
    label_target: str | None = None
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Walk:
    """Line indexes in the order a loader goes through them.

    `path` is root to leaf without the header. `boundary` is the newest summary or reset on it, as a position
    in `path`; `context` are the lines whose messages reach a model, the summary first.
    """

    path: tuple[int, ...]
    boundary: int | None
    context: tuple[int, ...]


def walk(lines: Sequence[SessionLine], form: SessionForm) -> Walk:
    """The walk over a session's lines. Raises `TranscriptError` when the parents go round in a circle."""
    path = _tree_path(lines) if form == "tree" else _file_order(lines)
    boundary = next((at for at in reversed(range(len(path))) if _is_boundary(lines[path[at]])), None)
    return Walk(path, boundary, _context(lines, path, boundary))


def parent_of(lines: Sequence[SessionLine], by_id: Mapping[str, int], index: int) -> int | None:
    """The line index of an entry's parent, or None for a root.

    A marker without an id hides its successor's parent: the loader took it as the leaf, so the next entry was
    written without `parentId`. Such an entry hangs below the entry before the marker.
    """
    line = lines[index]
    if line.parent_id is not None:
        return by_id.get(line.parent_id)
    if line.has_parent_key or index == 0 or not _is_bare_marker(lines[index - 1]):
        return None
    before = (at for at in reversed(range(index - 1)) if lines[at].id is not None and lines[at].kind != "header")
    return next(before, None)


def index_by_id(lines: Sequence[SessionLine]) -> dict[str, int]:
    """Line index of each entry id; of two lines with one id the later counts, as in the loader's own map."""
    return {line.id: at for at, line in enumerate(lines) if line.id is not None and line.kind != "header"}


def first_kept_position(lines: Sequence[SessionLine], path: tuple[int, ...], boundary: int) -> int:
    """Where in `path` the entries that a summary or reset keeps begin; `boundary` itself when it keeps none."""
    wanted = lines[path[boundary]].first_kept
    if isinstance(wanted, int):
        counted = [at for at, line in enumerate(lines) if line.kind not in ("blank", "unparsable")]
        target = counted[wanted] if 0 <= wanted < len(counted) else None
        return next((at for at in range(boundary) if path[at] == target), boundary)
    return next((at for at in range(boundary) if wanted is not None and lines[path[at]].id == wanted), boundary)


@dataclass(frozen=True, slots=True)
class Unit:
    """Lines that live and die together: one assistant line with its calls, and every result of them."""

    lines: tuple[int, ...]
    open_calls: int


@dataclass(frozen=True, slots=True)
class Survey:
    """A whole session file, read."""

    lines: tuple[SessionLine, ...]
    form: SessionForm
    header: int | None
    session_id: str
    cwd: str
    version: int
    walk: Walk
    units: tuple[Unit, ...]
    marker: Marker | None
    findings: tuple[SessionFinding, ...]

    @property
    def chars(self) -> int:
        """Characters of the whole file."""
        return sum(line.chars for line in self.lines)

    @property
    def newline(self) -> bytes:
        """How this file ends its lines."""
        return b"\r\n" if self.lines and self.lines[0].raw.endswith(b"\r\n") else b"\n"


def survey_session(
    raw_lines: Iterable[bytes], weigh: Weigh, with_findings: bool = True, known: Survey | None = None
) -> Survey:
    """Read every line once. Raises `TranscriptError` for a file that is no session of a known form.

    A line that is byte for byte in `known` is not parsed a second time.
    """
    reader = _Reader(weigh, with_findings, known)
    for at, raw in enumerate(raw_lines):
        reader.read(at, raw)
    return reader.finish()


def describe_line(
    raw: bytes, entry: Entry, content: Content, weigh: Weigh, is_checked_only: bool = False
) -> SessionLine:
    """What is kept of a line; of one that is only checked, not what its words mean."""
    chars = len(entry.text) + _ending_chars(raw) + (raw[:3] == b"\xef\xbb\xbf")
    tokens = weigh(entry.text) * chars / len(entry.text) if entry.text else float(weigh(" " * chars))
    if entry.fields is None:
        return SessionLine(raw, entry.kind, chars, tokens)
    seen_chars = content_chars(entry, content)
    calls = tuple(
        [
            CallNote(c.id, c.name, "other" if is_checked_only else call_shape(c), _argument_chars(c.arguments))
            for c in content.calls
        ]
    )
    results = _result_notes(entry, content, is_checked_only)
    cuttable = [*[call.argument_chars for call in calls], *[result.chars for result in results]]
    text = content.text
    own = own_words(text) if entry.kind == "user" else text
    spoken = entry.kind in ("user", "assistant") and not is_checked_only
    return SessionLine(
        raw=raw,
        kind=entry.kind,
        chars=chars,
        tokens=tokens,
        id=entry.id,
        parent_id=entry.parent_id,
        has_parent_key=entry.has_parent_key,
        first_kept=_first_kept(entry.fields),
        content_chars=seen_chars,
        content_tokens=tokens * seen_chars / chars,
        text_chars=len(text),
        is_condensed=entry.kind == "assistant" and is_condensed(text),
        thinking_chars=sum(map(len, content.thoughts)) if content.thoughts else 0,
        opening=first_sentence(own) if spoken and own else "",
        is_pleasantry=spoken and is_pleasantry(own),
        asks=spoken and entry.kind == "assistant" and asks_something(text),
        has_own_words=entry.kind == "user" and bool(own or content.image_count),
        has_pictures=entry.kind == "user" and content.image_count > 0,
        has_aborted=entry.message is not None and entry.message.get("stopReason") in ("aborted", "error"),
        cuttable_chars=max(cuttable) if cuttable else 0,
        calls=calls,
        results=results,
        fingerprint=hash(_words_of(content)) if entry.kind in ("user", "system", "injected") else 0,
        label_target=text_or_none(entry.fields.get("targetId")) if entry.fields.get("type") == "label" else None,
        summary=summary_text(entry) if entry.kind in ("summary", "spoken_summary") else "",
    )


def find_units(lines: Sequence[SessionLine]) -> tuple[Unit, ...]:
    """Calls with their results, in the order of the calls. A result belongs to the newest open call of its id."""
    members: dict[int, list[int]] = {}
    open_calls: dict[str, int] = {}
    unanswered: dict[int, int] = {}
    for at, line in enumerate(lines):
        for result in line.results:
            owner = open_calls.pop(result.call_id, None) if result.call_id is not None else None
            if owner is None:
                members.setdefault(at, [at])
            else:
                unanswered[owner] -= 1
                if at not in members[owner]:
                    members[owner].append(at)
        if line.calls:
            members.setdefault(at, [at])
            unanswered[at] = len(line.calls)
            open_calls.update({call.id: at for call in line.calls if call.id is not None})
    return _joined_where_they_share([Unit(tuple(found), unanswered.get(at, 0)) for at, found in members.items()])


def _tree_path(lines: Sequence[SessionLine]) -> tuple[int, ...]:
    by_id = index_by_id(lines)
    leaf = max(by_id.values(), default=None)
    path: list[int] = []
    seen: set[int] = set()
    current = leaf
    while current is not None:
        if current in seen:
            raise TranscriptError(say("openclaw_errors", "parents_circle", line=current + 1))
        seen.add(current)
        path.append(current)
        current = parent_of(lines, by_id, current)
    return tuple(reversed(path))


def _file_order(lines: Sequence[SessionLine]) -> tuple[int, ...]:
    return tuple(at for at, line in enumerate(lines) if line.kind not in ("blank", "unparsable", "header"))


def _is_boundary(line: SessionLine) -> bool:
    return line.kind in ("summary", "reset")


def _is_bare_marker(line: SessionLine) -> bool:
    return line.kind == "marker" and line.id is None


def _context(lines: Sequence[SessionLine], path: tuple[int, ...], boundary: int | None) -> tuple[int, ...]:
    if boundary is None:
        return tuple(at for at in path if _is_seen(lines[at]))
    edge = lines[path[boundary]]
    first = first_kept_position(lines, path, boundary)
    kept = [at for at in path[first:boundary] if _is_seen(lines[at])]
    after = [at for at in path[boundary + 1 :] if _is_seen(lines[at])]
    return (*([path[boundary]] if edge.kind == "summary" else []), *kept, *after)


def _is_seen(line: SessionLine) -> bool:
    return line.kind in CONTEXT_KINDS


class _Reader:
    """Goes through the lines in order and keeps what they were."""

    def __init__(self, weigh: Weigh, with_findings: bool, known: Survey | None) -> None:
        self._weigh = weigh
        self._finder = Finder() if with_findings else None
        self._lines: list[SessionLine] = []
        self._header: int | None = None
        self._header_fields: Fields = {}
        self._marker: Marker | None = None
        self._has_parsed = False
        self._has_messages = False
        self._is_check = known is not None
        self._known = {line.raw: line for line in known.lines[1:] if line.kind in _REUSABLE} if known else {}

    def read(self, at: int, raw: bytes) -> None:
        known = self._known.get(raw) if self._known else None
        if known is not None:
            self._has_parsed = self._has_messages = True
            self._lines.append(known)
            return
        entry = read_line(raw, is_first=at == 0)
        if entry.fields is not None:
            self._note_frame(at, entry, entry.fields)
        content = read_content(entry)
        line = describe_line(raw, entry, content, self._weigh, is_checked_only=self._is_check)
        if self._finder is not None:
            if entry.kind == "user":
                self._finder.hear_user(at, own_words(content.text))
            elif entry.kind == "assistant":
                self._finder.hear_assistant(at, content.text, line.asks)
        self._lines.append(line)

    def finish(self) -> Survey:
        form, version = self._form()
        lines = tuple(self._lines)
        return Survey(
            lines=lines,
            form=form,
            header=self._header,
            session_id=text_or_none(self._header_fields.get("id")) or "",
            cwd=text_or_none(self._header_fields.get("cwd")) or "",
            version=version,
            walk=walk(lines, form),
            units=find_units(lines),
            marker=self._marker,
            findings=tuple(self._finder.findings) if self._finder is not None else (),
        )

    def _note_frame(self, at: int, entry: Entry, fields: Fields) -> None:
        if entry.kind == "header":
            if self._has_parsed and self._header is None:
                raise TranscriptError(say("openclaw_errors", "header_not_first", line=at + 1))
            if self._header is None:
                self._header, self._header_fields = at, fields
        elif "parentUuid" in fields:
            raise TranscriptError(say("openclaw_errors", "claude_code"))
        self._has_parsed = True
        self._has_messages = self._has_messages or entry.message is not None
        if entry.kind == "marker":
            self._marker = read_marker(fields) or self._marker

    def _form(self) -> tuple[SessionForm, int]:
        if self._header is None:
            if not self._has_messages:
                raise TranscriptError(say("openclaw_errors", "no_session"))
            return "plain", 0
        if text_or_none(self._header_fields.get("id")) is None:
            raise TranscriptError(say("openclaw_errors", "no_id"))
        version = self._header_fields.get("version", 1)
        if not isinstance(version, int) or version > NEWEST_VERSION:
            raise TranscriptError(say("openclaw_errors", "newer_version", version=version, known=NEWEST_VERSION))
        return ("tree" if version >= 2 else "chain"), version


def _joined_where_they_share(units: list[Unit]) -> tuple[Unit, ...]:
    """One line may answer the calls of two others; then all three are one unit."""
    place: dict[int, int] = {}
    joined: list[Unit | None] = []
    for unit in units:
        shared = {place[line] for line in unit.lines if line in place}
        parts = [part for at in sorted(shared) if (part := joined[at]) is not None]
        for at in shared:
            joined[at] = None
        lines = sorted({line for part in [*parts, unit] for line in part.lines})
        place.update(dict.fromkeys(lines, len(joined)))
        joined.append(Unit(tuple(lines), unit.open_calls + sum(part.open_calls for part in parts)))
    return tuple(unit for unit in joined if unit is not None)


def _ending_chars(raw: bytes) -> int:
    return len(raw) - len(raw.rstrip(b"\r\n")) if raw.endswith((b"\n", b"\r")) else 0


def _first_kept(fields: Fields) -> str | int | None:
    value = fields.get("firstKeptEntryId", fields.get("firstKeptEntryIndex"))
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


def _words_of(content: Content) -> tuple[str, ...]:
    """The words of a message, which are the same when a picture beside them became a note."""
    return tuple(text for text in content.texts if not is_picture_note(text))


def _argument_chars(arguments: object) -> int:
    """The longest single text among the arguments: that is what the ladder can cut."""
    if isinstance(arguments, str):
        return len(arguments)
    if is_object(arguments):
        return max((_argument_chars(value) for value in arguments.values()), default=0)
    if is_list(arguments):
        return max((_argument_chars(value) for value in arguments), default=0)
    return 0


def _result_notes(entry: Entry, content: Content, is_checked_only: bool) -> tuple[ResultNote, ...]:
    if entry.kind == "bash" and entry.message is not None:
        output = text_or_none(entry.message.get("output")) or ""
        code = entry.message.get("exitCode")
        return (ResultNote(None, len(output), isinstance(code, int) and code != 0, not output.strip()),)
    if not content.results:
        return ()
    return tuple(
        [
            ResultNote(
                result.call_id,
                sum(map(len, result.texts)) + result.image_chars,
                not is_checked_only and has_failed(result),
                not is_checked_only and is_empty_handed(result),
            )
            for result in content.results
        ]
    )
