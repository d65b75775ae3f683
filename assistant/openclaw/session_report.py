"""What a run did, in words and as JSON: sizes by both counts, what went per class, where the diary and the copy are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.config.words import say
from assistant.openclaw.compression import CompressionOutcome
from assistant.openclaw.compression_options import Options
from assistant.openclaw.diary import Extracted
from assistant.openclaw.file_compression import CompressionReport
from assistant.openclaw.session_sizes import SessionSize

COMPLETE_TEXT = "Compression complete. {tokens} tokens remaining."
# As the skill words it; other programs look for this very text.
NOTHING_TO_FREE_TEXT = "Session主要由高优先级内容组成，无法进一步压缩。建议增大阈值或手动清理。"


@dataclass(frozen=True, slots=True)
class BatchRow:
    """One session of a batch: what was done with it, and the sizes before and after where it was."""

    path: Path
    state: str
    before_tokens: int = 0
    after_tokens: int = 0
    detail: str = ""


def render_report(report: CompressionReport, options: Options) -> str:
    """The report of one session, for a person; its last line is the one the skill asks for."""
    lines = [f"{report.path}: {_sizes(report)}", *report.notices]
    outcome = report.outcome
    if outcome is None:
        return "\n".join([*lines, report.verdict.text])
    if report.verdict.overruled is not None:
        lines.append(report_text("forced", reason=report.verdict.overruled.replace("_", " ")))
    lines.extend(_class_table(outcome, report.is_dry_run))
    lines.extend(_remarks(report, outcome, options))
    if outcome.status == "nothing":
        lines.append(report_text("nothing_freed", share=_share(outcome), hint=_hint(options)))
        lines.append(NOTHING_TO_FREE_TEXT)
    elif report.is_dry_run:
        lines.append(report_text("dry_run", tokens=outcome.tokens_after))
    else:
        lines.append(COMPLETE_TEXT.format(tokens=outcome.tokens_after))
    return "\n".join(lines)


def report_json(report: CompressionReport, options: Options) -> str:
    """The report of one session as one line of JSON."""
    outcome = report.outcome
    values: dict[str, object] = {
        "path": str(report.path),
        "state": state_of(report),
        "reason": report.verdict.reason,
        "overruled": report.verdict.overruled,
        "message": report.verdict.text,
        "dry_run": report.is_dry_run,
        "mode": options.mode,
        "target_tokens": options.target_tokens,
        "before": _size_values(SessionSize(report.chars, report.tokens, report.context_chars, report.context_tokens)),
        "notices": list(report.notices),
    }
    if outcome is not None:
        values["after"] = _size_values(outcome.after)
        values["tokens_before"] = outcome.tokens_before
        values["tokens_after"] = outcome.tokens_after
        values["removed_lines"] = outcome.removed_lines
        values["tail_lines_cut"] = outcome.tail_lines_cut
        values["hit_iteration_limit"] = outcome.hit_limit
        values["misses"] = outcome.misses
        values["solved_warnings"] = list(outcome.solved_warnings)
        values["classes"] = {
            found.name: {
                "lines": found.lines,
                "chars": found.chars,
                "tokens": found.tokens,
                "removed": found.removed,
                "shortened": found.shortened,
            }
            for found in outcome.classes
        }
    if report.extracted is not None:
        values["diary"] = str(report.extracted.diary_path)
        values["diary_entries"] = list(report.extracted.entries)
        values["preferences"] = list(report.extracted.preferences)
    values["copy"] = str(report.copy) if report.copy else None
    return json.dumps(values, ensure_ascii=False)


def state_of(report: CompressionReport) -> str:
    """One word for what became of a session."""
    outcome = report.outcome
    if outcome is None:
        return "stopped" if report.verdict.is_error else "skipped"
    return {"done": "compressed", "partial": "partial", "nothing": "unchanged"}[outcome.status]


def report_text(key: str, **values: object) -> str:
    """A sentence of the report. It is English whatever the session's language: schedulers and scripts read it too."""
    return say("openclaw_report", key, **values)


def render_table(rows: Sequence[BatchRow]) -> str:
    """The table a batch ends with."""
    names = [row.path.name for row in rows]
    width = max([len(name) for name in names] + [len("session")])
    lines = [f"{'session':<{width}}  {'state':<10}  {'before':>10}  {'after':>10}  detail"]
    for row, name in zip(rows, names, strict=True):
        after = f"{row.after_tokens:,}" if row.after_tokens else ""
        before = f"{row.before_tokens:,}" if row.before_tokens else ""
        lines.append(f"{name:<{width}}  {row.state:<10}  {before:>10}  {after:>10}  {row.detail}".rstrip())
    return "\n".join(lines)


def _sizes(report: CompressionReport) -> str:
    return report_text(
        "sizes",
        tokens=report.tokens,
        chars=report.chars,
        context_tokens=report.context_tokens,
        context_chars=report.context_chars,
    )


def _class_table(outcome: CompressionOutcome, is_dry_run: bool) -> list[str]:
    gone, cut = ("would go", "would be cut") if is_dry_run else ("removed", "shortened")
    lines = [f"{'class':<40}  {'lines':>6}  {'tokens':>9}  {gone:>9}  {cut:>12}"]
    for found in outcome.classes:
        if found.lines:
            name = f"{found.name:<3} {report_text(found.name)}"
            lines.append(f"{name:<40}  {found.lines:>6}  {found.tokens:>9,}  {found.removed:>9}  {found.shortened:>12}")
    return lines


def _remarks(report: CompressionReport, outcome: CompressionOutcome, options: Options) -> list[str]:
    lines: list[str] = []
    if outcome.status != "nothing":
        size = outcome.after
        lines.append(
            report_text("after", tokens=size.tokens, context_tokens=size.context_tokens, lines=outcome.removed_lines)
        )
    if outcome.status == "partial":
        lines.append(report_text("partial", target=options.target_tokens, misses=outcome.misses, hint=_hint(options)))
    if outcome.hit_limit:
        lines.append(report_text("hit_limit", limit=options.max_iterations))
    if outcome.tail_lines_cut:
        lines.append(report_text("tail_cut", lines=outcome.tail_lines_cut))
    lines.extend(report_text("warning_settled", text=text) for text in outcome.solved_warnings)
    if report.extracted is not None:
        lines.append(_diary_line(report.extracted))
    if report.copy is not None:
        lines.append(report_text("copy", path=report.copy))
    return lines


def _diary_line(found: Extracted) -> str:
    if found.is_empty:
        return report_text("diary_empty")
    return report_text("diary", entries=len(found.entries), path=found.diary_path, preferences=len(found.preferences))


def _hint(options: Options) -> str:
    return report_text("hint_tail" if options.keep_tail != "auto" else "hint_mode")


def _share(outcome: CompressionOutcome) -> float:
    saved = 1 - outcome.tokens_reachable / outcome.tokens_before if outcome.tokens_before else 0.0
    return 100 * max(0.0, saved)


def _size_values(size: SessionSize) -> dict[str, int]:
    return {
        "chars": size.chars,
        "tokens": size.tokens,
        "context_chars": size.context_chars,
        "context_tokens": size.context_tokens,
    }
