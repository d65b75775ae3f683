"""Made-up session files, and a second, independent reading of them: what OpenClaw's own loader would build."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from assistant.openclaw.compression import CompressionOutcome, compress
from assistant.openclaw.compression_options import Options
from assistant.openclaw.line_classes import Classified, classify
from assistant.openclaw.session_sizes import choose_weigh
from assistant.openclaw.session_summary import notes_for_diary
from assistant.openclaw.survey import Survey, survey_session

NOW = datetime(2026, 4, 21, 12, 0, tzinfo=timezone(timedelta(hours=8)))
Fields = dict[str, object]


class Session:
    """Builds a session line by line; each entry hangs below the one before, unless another parent is given."""

    def __init__(self, version: int | None = 3, header: bool = True, newline: str = "\n", cwd: str = "/w") -> None:
        self.version = version
        self.newline = newline
        self.lines: list[bytes] = []
        self.leaf: str | None = None
        self._count = 0
        if header:
            fields: Fields = {"type": "session", "id": "s1", "timestamp": "2026-04-01T00:00:00.000Z", "cwd": cwd}
            if version is not None:
                fields["version"] = version
            self.add(fields)

    def add(self, fields: Fields) -> Session:
        """A line as it is given."""
        return self.raw(json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode() + self.newline.encode())

    def raw(self, line: bytes) -> Session:
        """Bytes as they are given."""
        self.lines.append(line)
        return self

    def entry(self, fields: Fields, parent: str | None = "leaf") -> str:
        """An entry of the tree (a bare line in a version 1 or plain file); its id."""
        self._count += 1
        entry_id = f"e{self._count:07d}"
        if self.version is None:
            self.add({**fields, "timestamp": "2026-04-01T00:00:00.000Z"})
            return entry_id
        parent_id = self.leaf if parent == "leaf" else parent
        self.add({**fields, "id": entry_id, "parentId": parent_id, "timestamp": "2026-04-01T00:00:00.000Z"})
        self.leaf = entry_id
        return entry_id

    def message(self, message: Fields, parent: str | None = "leaf") -> str:
        return self.entry({"type": "message", "message": message}, parent)

    def user(self, text: str, parent: str | None = "leaf") -> str:
        return self.message({"role": "user", "content": [{"type": "text", "text": text}]}, parent)

    def says(self, text: str, thinking: str = "", parent: str | None = "leaf") -> str:
        content: list[Fields] = [{"type": "thinking", "thinking": thinking}] if thinking else []
        content.append({"type": "text", "text": text})
        return self.message({"role": "assistant", "content": content, "stopReason": "stop"}, parent)

    def calls(self, *calls: tuple[str, str, Fields], text: str = "", thinking: str = "", stop: str = "toolUse") -> str:
        content: list[Fields] = [{"type": "thinking", "thinking": thinking}] if thinking else []
        content.extend([{"type": "text", "text": text}] if text else [])
        content.extend({"type": "toolCall", "id": i, "name": name, "arguments": args} for i, name, args in calls)
        return self.message({"role": "assistant", "content": content, "stopReason": stop})

    def result(self, call_id: str, text: str, name: str = "exec", is_error: bool = False, **more: object) -> str:
        return self.message(
            {
                "role": "toolResult",
                "toolCallId": call_id,
                "toolName": name,
                "content": [{"type": "text", "text": text}],
                "isError": is_error,
                **more,
            }
        )

    def tool(self, call_id: str, command: str, output: str, name: str = "exec", is_error: bool = False) -> Session:
        """One call with its result."""
        self.calls((call_id, name, {"command": command}))
        self.result(call_id, output, name, is_error)
        return self

    def turns(self, count: int, size: int = 200) -> Session:
        """Turns of a question and an answer, none of which may be lost or is worth a diary."""
        for number in range(count):
            self.user(f"Question {number}: what is in part {number}?")
            self.says(f"Part {number} holds {'word ' * (size // 5)}")
        return self

    def write(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(self.lines))
        return path


def work_session(outputs: int = 8, chars: int = 3_000, turns: int = 3) -> Session:
    """A session that is due: large outputs, routine calls, looks round, small talk, and a last turn."""
    session = Session()
    session.entry({"type": "model_change", "provider": "p", "modelId": "m"})
    session.user("Please build the report generator for the sales team.")
    for number in range(outputs):
        session.tool(f"big{number}", f"cat part{number}.log", f"line {number} " * (chars // 7))
        session.tool(f"ls{number}", "ls -la src", "a.py\nb.py")
        session.tool(f"run{number}", f"python build.py {number}", "built in 3 s")
    session.says("The generator works now. " + "It reads the table, groups the rows and writes a page. " * 20)
    session.user("谢谢")
    session.says("不客气")
    for number in range(turns):
        session.user(f"Now add column {number} to the report.")
        session.says(f"Column {number} is in the report. " + "The totals follow from it. " * 5)
    return session


def survey(lines: Sequence[bytes]) -> Survey:
    return survey_session(lines, choose_weigh("mixed"))


def classes(session: Session, options: Options | None = None) -> Classified:
    return classify(survey(session.lines), options or Options(keep_tail=1))


def shrink(lines: Sequence[bytes], options: Options, now: datetime = NOW) -> CompressionOutcome:
    """The whole pure way from lines to an outcome."""
    weigh = choose_weigh(options.estimator)
    found = survey_session(lines, weigh)
    classified = classify(found, options)
    notes = notes_for_diary(found, classified, options, found.findings)
    return compress(found, classified, notes, options, weigh, now, lambda text: text)


def parsed(lines: Sequence[bytes]) -> list[Fields]:
    """Every line that parses, as a loader sees them."""
    found: list[Fields] = []
    for raw in lines:
        try:
            value = json.loads(raw.decode("utf-8-sig", "replace"))
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def load_like_openclaw(lines: Sequence[bytes]) -> list[str]:
    """What reaches a model, in order, written without a line of the code under test.

    Version 1 files are linked in file order first. Then from the last entry up to the root; the newest compaction on
    that way is put first, then what it keeps, then what follows it.
    """
    entries = parsed(lines)
    if not entries or entries[0].get("type") != "session" or not isinstance(entries[0].get("id"), str):
        return []
    entries = _migrated(entries)
    by_id = {str(entry["id"]): entry for entry in entries[1:] if "id" in entry}
    way: list[Fields] = []
    current = entries[-1] if len(entries) > 1 else None
    while current is not None:
        way.insert(0, current)
        parent = current.get("parentId")
        current = by_id.get(str(parent)) if parent else None
    edges = [at for at, entry in enumerate(way) if entry["type"] in ("compaction", "reset")]
    if not edges:
        return [text for entry in way if (text := _seen(entry)) is not None]
    newest = edges[-1]
    kept_from = next((at for at in range(newest) if way[at].get("id") == way[newest].get("firstKeptEntryId")), newest)
    kept = [*way[kept_from:newest], *way[newest + 1 :]]
    head = [f"summary: {way[newest]['summary']}"] if way[newest]["type"] == "compaction" else []
    return [*head, *(text for entry in kept if (text := _seen(entry)) is not None)]


def _migrated(entries: list[Fields]) -> list[Fields]:
    if int(str(entries[0].get("version", 1))) >= 2:
        return entries
    parent: str | None = None
    for at, entry in enumerate(entries[1:], start=1):
        entry["id"], entry["parentId"] = f"m{at}", parent
        parent = f"m{at}"
        if entry["type"] == "compaction":
            entry["firstKeptEntryId"] = f"m{entry['firstKeptEntryIndex']}"
    return entries


def _seen(entry: Fields) -> str | None:
    if entry["type"] == "custom_message":
        return f"custom: {entry['content']}"
    if entry["type"] == "branch_summary":
        return f"branch: {entry['summary']}"
    message = entry.get("message")
    if entry["type"] != "message" or not isinstance(message, dict):
        return None
    content = message.get("content", "")
    if isinstance(content, str):
        return f"{message['role']}: {content}"
    return f"{message['role']}: {json.dumps(content, ensure_ascii=False)}"


def utc(minutes: float = 0) -> datetime:
    """`NOW` and some minutes, in UTC."""
    return (NOW + timedelta(minutes=minutes)).astimezone(UTC)
