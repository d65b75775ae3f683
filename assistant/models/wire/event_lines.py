"""Bytes of a streamed response → the text of each event, wherever the bytes are split (pure).

Read: server-sent events with any line end, with or without the blank after the colon, data over several lines,
comments, byte order marks; one JSON object a line without `data:`; several on one line; one JSON object over many lines
as the whole body.
"""

from __future__ import annotations

import codecs
import json
import re

END_MARK = "[DONE]"
_FIELDS = ("data", "event", "id", "retry")
_FIELD = re.compile(r"\ufeff?[ \t]*([A-Za-z]+)[ \t]*:[ ]?(.*)", re.DOTALL)
_END_MARK = re.compile(r"""["']?\[?done\]?["']?""", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*(?:data:)?\s*", re.IGNORECASE)
_AGAIN = re.compile(r"(?:data:[ ]?)+", re.IGNORECASE)


class EventLines:
    """Feed it bytes, take the events that are complete; `close` gives what is left."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._line = ""
        self._data: list[str] = []
        self._event = ""
        self._loose: list[str] = []

    def feed(self, content: bytes) -> list[str]:
        """The events completed by these bytes, oldest first."""
        return self._take(self._decoder.decode(content), is_end=False)

    def close(self) -> list[str]:
        """The events that the end of the stream completes."""
        events = self._take(self._decoder.decode(b"", final=True), is_end=True)
        return events + self._end_event() + self._end_loose(is_end=True)

    def _take(self, text: str, *, is_end: bool) -> list[str]:
        self._line += text
        # A "\r" at the very end may be half of "\r\n".
        held = "" if is_end or not self._line.endswith("\r") else "\r"
        whole = self._line.removesuffix(held) if held else self._line
        lines = whole.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._line = "" if is_end else lines.pop() + held
        return [event for line in lines for event in self._read(line)]

    def _read(self, line: str) -> list[str]:
        if not line.strip():
            return self._end_event()
        if line.startswith(":"):
            return []
        field = _FIELD.fullmatch(line)
        name = field[1].lower() if field else ""
        if field and name in _FIELDS and not self._loose:
            self._event = field[2].strip().lower() if name == "event" else self._event
            if name != "data":
                return []
            data = _AGAIN.sub("", field[2], count=1) if _AGAIN.match(field[2]) else field[2]
            # Servers that leave out the blank line between events send whole values a line.
            events = self._end_event() if self._data and is_whole("\n".join(self._data)) else []
            self._data.append(data)
            return events
        events = self._end_event()
        self._loose.append(line)
        return events + self._end_loose(is_end=False)

    def _end_event(self) -> list[str]:
        data, event = "\n".join(self._data).strip(), self._event
        self._data.clear()
        self._event = ""
        if not data:
            return []
        if _END_MARK.fullmatch(data):
            return [END_MARK]
        values = values_in(data)
        # What an error event says in plain words is an error all the same.
        return values or [json.dumps({"error": data}) if event == "error" else data]

    def _end_loose(self, *, is_end: bool) -> list[str]:
        text = "\n".join(self._loose).strip()
        if not text or not (is_end or is_whole(text)):
            return []
        self._loose.clear()
        if _END_MARK.fullmatch(text):
            return [END_MARK]
        return values_in(text) or [text]


def is_whole(text: str) -> bool:
    """True for the end mark and for a complete JSON value."""
    if _END_MARK.fullmatch(text.strip()):
        return True
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def values_in(text: str) -> list[str]:
    """The JSON values of which a text consists, one behind the other, also with `data:` between; else empty."""
    decoder = json.JSONDecoder()
    found: list[str] = []
    place, rest = 0, text.strip()
    while place < len(rest):
        try:
            _, end = decoder.raw_decode(rest, place)
        except (ValueError, RecursionError):
            return []
        found.append(rest[place:end])
        between = _BETWEEN.match(rest, end)
        place = between.end() if between else end
    return found
