"""The lines of the new file in order: header, summary, marker, what survived; every parent relinked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from assistant.openclaw.compression_options import MarkerForm
from assistant.openclaw.compression_plan import CompressionDraft
from assistant.openclaw.rewriting import Relink, rewrite, write_json
from assistant.openclaw.session_entries import Fields, Marker, marker_fields
from assistant.openclaw.survey import Survey, first_kept_position, index_by_id, parent_of


@dataclass(frozen=True, slots=True)
class FramePlace:
    """Where the summary and the marker are. `summary_at` is the index of the line before which it goes.

    `link_id` is the parent of the first entry that follows them on the path.
    """

    summary_at: int
    summary_id: str
    summary_parent_id: str | None
    marker_at: int | None
    marker_id: str
    link_id: str
    path_position: int


@dataclass(frozen=True, slots=True)
class SessionLayout:
    """The new lines; the marker is `lines[marker_at]` and can be written again with other numbers."""

    lines: list[bytes]
    marker_at: int
    marker_place: Fields
    marker_form: MarkerForm
    newline: bytes

    def set_marker(self, marker: Marker) -> bytes:
        """Write the marker with its final numbers and return its line."""
        raw = write_json({**marker_fields(marker, self.marker_form), **self.marker_place}) + self.newline
        self.lines[self.marker_at] = raw
        return raw


def find_place(survey: Survey, now: datetime) -> FramePlace:
    """Where summary and marker go: in place of the newest summary, after a reset, else right after the header."""
    ids = _fresh_ids(survey, now)
    lines, path = survey.lines, survey.walk.path
    old_marker = next((at for at in reversed(path) if lines[at].kind == "marker" and lines[at].id), None)
    marker_id = (lines[old_marker].id if old_marker is not None else None) or next(ids)
    boundary = survey.walk.boundary
    if survey.form == "plain":
        return FramePlace(_plain_position(survey), "", None, None, "", "", 0)
    if boundary is None:
        at = 0 if survey.header is None else survey.header + 1
        summary_id, position = next(ids), 0
    else:
        edge = lines[path[boundary]]
        is_summary = edge.kind == "summary"
        at = path[boundary] + (0 if is_summary else 1)
        position = boundary + (0 if is_summary else 1)
        summary_id = (edge.id if is_summary else None) or next(ids)
    return FramePlace(
        summary_at=at,
        summary_id=summary_id,
        summary_parent_id=None,
        marker_at=old_marker if survey.form == "tree" else None,
        marker_id=marker_id,
        link_id=summary_id if old_marker is not None else marker_id,
        path_position=position,
    )


def lay_out(
    survey: Survey,
    draft: CompressionDraft,
    place: FramePlace,
    summary_fields: Fields,
    marker: Marker,
    marker_form: MarkerForm,
    now: datetime,
) -> SessionLayout:
    """The new file. `draft.removed` holds every old summary on the path and every old marker but the one replaced."""
    links = _relinked(survey, draft, place) if survey.form == "tree" else {}
    newline = survey.newline
    out: list[bytes] = []
    marker_at = -1
    marker_place: Fields = {}
    parent = _surviving_id(survey, draft, survey.walk.path[: place.path_position])
    for at in range(len(survey.lines) + 1):
        if at == place.summary_at:
            out[-1:] = [raw if raw.endswith(b"\n") else raw + newline for raw in out[-1:]]
            out.append(write_json(_placed(summary_fields, survey.form, place.summary_id, parent, now)) + newline)
            if place.marker_at is None:
                marker_at = len(out)
                marker_place = _placed({}, survey.form, place.marker_id, place.summary_id, now)
                out.append(b"")
        if at == len(survey.lines):
            break
        if at == place.marker_at:
            marker_at = len(out)
            relink = links.get(at)
            marker_parent = relink.parent_id if relink else survey.lines[at].parent_id
            marker_place = _placed({}, survey.form, place.marker_id, marker_parent, now)
            out.append(b"")
        elif at not in draft.removed:
            out.append(_written(survey, draft, at, links.get(at)))
    layout = SessionLayout(out, marker_at, marker_place, marker_form, newline)
    layout.set_marker(marker)
    return layout


def render_frame(survey: Survey, place: FramePlace, summary_fields: Fields, marker: Marker, form: MarkerForm) -> str:
    """Summary and marker as they will be in the file, at their longest: what has to be weighed before the rest."""
    longest = max((line.id or "" for line in survey.lines), key=len, default="") or "x" * 8
    summary = _placed(summary_fields, survey.form, place.summary_id, longest, marker.at)
    if "firstKeptEntryId" in summary:
        summary = {**summary, "firstKeptEntryId": longest}
    note = _placed(marker_fields(marker, form), survey.form, place.marker_id, place.summary_id, marker.at)
    # The entry that follows gets a parent where it had none.
    text = write_json(summary) + write_json(note) + b" " * (len(longest) + 2 * len(survey.newline))
    return text.decode("utf-8", "replace")


def summary_entry(
    survey: Survey, draft: CompressionDraft, place: FramePlace, text: str, tokens_before: int, tail_start: int
) -> Fields:
    """The summary as the session's form has it, still without id, parent and time."""
    if survey.form == "plain":
        return {"role": "system", "content": text}
    fields: Fields = {"type": "compaction", "summary": text}
    if survey.form == "tree":
        fields["firstKeptEntryId"] = _first_kept_id(survey, draft, place, tail_start)
    else:
        fields["firstKeptEntryIndex"] = _first_kept_index(survey, draft, place, tail_start)
    fields["tokensBefore"] = tokens_before
    return fields


def _written(survey: Survey, draft: CompressionDraft, at: int, relink: Relink | None) -> bytes:
    raw = draft.rewritten.get(at, survey.lines[at].raw)
    return raw if relink is None else rewrite(raw, at == 0, None, relink)


def _placed(fields: Fields, form: str, entry_id: str, parent_id: str | None, now: datetime) -> Fields:
    if form == "plain":
        return fields
    stamp = now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if form == "chain":
        return {**fields, "timestamp": stamp}
    return {**fields, "id": entry_id, "parentId": parent_id, "timestamp": stamp}


def _plain_position(survey: Survey) -> int:
    """In place of an earlier summary; else after the system lines a plain file begins with."""
    lines = survey.lines
    old = next((at for at, line in enumerate(lines) if line.kind == "spoken_summary"), None)
    if old is not None:
        return old
    spoken = (at for at, line in enumerate(lines) if line.kind not in ("system", "blank", "unparsable", "marker"))
    return next(spoken, 0)


def _relinked(survey: Survey, draft: CompressionDraft, place: FramePlace) -> dict[int, Relink]:
    """The entries whose parent changes: to the nearest ancestor that is still there, or to the summary."""
    lines = survey.lines
    by_id = index_by_id(lines)
    position = {at: step for step, at in enumerate(survey.walk.path)}
    first_after = next((at for at in survey.walk.path[place.path_position :] if at not in draft.removed), None)
    links: dict[int, Relink] = {}
    for at, line in enumerate(lines):
        if at in draft.removed or line.id is None or at == survey.header:
            continue
        if at == first_after:
            wanted = place.summary_id if at == place.marker_at else place.link_id
        else:
            wanted = _nearest_ancestor(survey, draft, place, by_id, position, at)
        if wanted != line.parent_id:
            links[at] = Relink(wanted)
    return links


def _nearest_ancestor(
    survey: Survey, draft: CompressionDraft, place: FramePlace, by_id: dict[str, int], position: dict[int, int], at: int
) -> str | None:
    parent = parent_of(survey.lines, by_id, at)
    if parent is None:
        # A root, or a parent this file never held: as it was.
        return survey.lines[at].parent_id
    has_passed_summary = False
    while parent is not None and parent in draft.removed:
        has_passed_summary = has_passed_summary or position.get(parent, -1) >= place.path_position
        parent = parent_of(survey.lines, by_id, parent)
    is_before = parent is None or position.get(parent, place.path_position) < place.path_position
    if has_passed_summary and is_before:
        return place.link_id
    return None if parent is None else survey.lines[parent].id


def _surviving_id(survey: Survey, draft: CompressionDraft, path: Iterable[int]) -> str | None:
    return next((survey.lines[at].id for at in reversed(tuple(path)) if at not in draft.removed), None)


def _first_kept_line(survey: Survey, draft: CompressionDraft, place: FramePlace, tail_start: int) -> int | None:
    """The first entry that stays in the context: one before the summary where the old boundary kept some."""
    path, boundary = survey.walk.path, survey.walk.boundary
    if boundary is not None:
        first = first_kept_position(survey.lines, path, boundary)
        kept = next((at for at in path[first : place.path_position] if at not in draft.removed), None)
        if kept is not None:
            return kept
    after = [at for at in path[place.path_position :] if at not in draft.removed]
    return next((at for at in after if at >= tail_start), after[0] if after else None)


def _first_kept_id(survey: Survey, draft: CompressionDraft, place: FramePlace, tail_start: int) -> str:
    at = _first_kept_line(survey, draft, place, tail_start)
    return (survey.lines[at].id if at is not None else None) or place.summary_id


def _first_kept_index(survey: Survey, draft: CompressionDraft, place: FramePlace, tail_start: int) -> int:
    """In version 1 the place in the file: parsed lines counted from the header, summary and marker included."""
    target = _first_kept_line(survey, draft, place, tail_start)
    count = 0
    summary_index = 0
    for at, line in enumerate(survey.lines):
        if at == place.summary_at:
            summary_index = count
            count += 2
        if at in draft.removed or line.kind in ("blank", "unparsable"):
            continue
        if at == target:
            return count
        count += 1
    return summary_index


def _fresh_ids(survey: Survey, now: datetime) -> Iterator[str]:
    taken = {line.id for line in survey.lines}
    seed = f"{survey.session_id} {now.isoformat()}"

    count = 0
    while True:
        fresh = hashlib.sha256(f"{seed} {count}".encode()).hexdigest()[:8]
        count += 1
        if fresh not in taken:
            taken.add(fresh)
            yield fresh
