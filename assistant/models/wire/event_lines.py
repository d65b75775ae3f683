"""Bytes of a streamed response → the text of each event, wherever the bytes are split (pure).

Read: server-sent events with any line end, with or without the blank after the colon, data over several lines,
comments, byte order marks; one JSON object a line without `data:`; several on one line; one JSON object over many lines
as the whole body.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable

END_MARK = "[DONE]"
_FIELDS = ("data", "event", "id", "retry")
_FIELD = re.compile(r"\ufeff?[ \t]*([A-Za-z]+)[ \t]*:[ ]?(.*)", re.DOTALL)
_END_MARK = re.compile(r"""["']?\[?done\]?["']?""", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*(?:data:)?\s*", re.IGNORECASE)
_AGAIN = re.compile(r"(?:data:[ ]?)+", re.IGNORECASE)
# A string as a whole, a bracket, or the quote of a string that does not end on its line.
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"|["\[\]{}]')


def is_whole(text: str) -> bool:
    """True for the end mark and for a complete JSON value."""
    if _END_MARK.fullmatch(text.strip()):
        return True
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


class EventLines:
    """Feed it bytes, take the events that are complete; `close` gives what is left.

    Each byte is looked at a fixed number of times, however many lines a value has and however few bytes come at once.
    """

    def __init__(self, is_whole: Callable[[str], bool] = is_whole) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._line: list[str] = []
        self._is_after_return = False
        self._data = _GrowingValue(is_whole)
        self._event = ""
        self._loose = _GrowingValue(is_whole)

    def feed(self, content: bytes) -> list[str]:
        """The events completed by these bytes, oldest first."""
        return self._take(self._decoder.decode(content))

    def close(self) -> list[str]:
        """The events that the end of the stream completes."""
        events = self._take(self._decoder.decode(b"", final=True))
        events += self._read("".join(self._line))
        self._line.clear()
        return events + self._end_event() + _events_in(self._loose.take())

    def _take(self, text: str) -> list[str]:
        if not text:
            return []
        # The line ended at the "\r"; the "\n" of the same end may come in the next bytes.
        ended, self._is_after_return = self._is_after_return, text.endswith("\r")
        lines = (text.removeprefix("\n") if ended else text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._line.append(lines[0])
        if len(lines) == 1:
            return []
        whole = ["".join(self._line), *lines[1:-1]]
        self._line = [lines[-1]]
        return [event for line in whole for event in self._read(line)]

    def _read(self, line: str) -> list[str]:
        if not line.strip():
            return self._end_event()
        if line.startswith(":"):
            return []
        field = _FIELD.fullmatch(line)
        name = field[1].lower() if field else ""
        if field and name in _FIELDS and not self._loose.has_lines:
            self._event = field[2].strip().lower() if name == "event" else self._event
            if name != "data":
                return []
            data = _AGAIN.sub("", field[2], count=1) if _AGAIN.match(field[2]) else field[2]
            # Servers that leave out the blank line between events send whole values a line.
            events = self._end_event() if self._data.is_complete() else []
            self._data.add(data)
            return events
        events = self._end_event()
        self._loose.add(line)
        return events + (_events_in(self._loose.take()) if self._loose.is_complete() else [])

    def _end_event(self) -> list[str]:
        data, event = self._data.take(), self._event
        self._event = ""
        # What an error event says in plain words is an error all the same.
        is_said = event == "error" and data and not _END_MARK.fullmatch(data) and not values_in(data)
        return [json.dumps({"error": data})] if is_said else _events_in(data)


class _GrowingValue:
    """Lines that may be one JSON value together. Only where all brackets are closed is it worth parsing, and once.

    What is closed and no value stays none whatever follows, and so does a string that goes on in the next line.
    """

    def __init__(self, is_whole: Callable[[str], bool]) -> None:
        self._is_whole = is_whole
        self._lines: list[str] = []
        self._open_brackets = 0
        self._is_hopeless = False

    @property
    def has_lines(self) -> bool:
        """True from the first line to the end of the value."""
        return bool(self._lines)

    def add(self, line: str) -> None:
        """One more line."""
        self._lines.append(line)
        for found in _STRING_OR_BRACKET.finditer(line):
            match found[0]:
                case "[" | "{":
                    self._open_brackets += 1
                case "]" | "}":
                    self._open_brackets -= 1
                case '"':
                    self._is_hopeless = True
                case _:
                    pass

    def is_complete(self) -> bool:
        """True when the lines are a whole value."""
        if len(self._lines) == 1 and _END_MARK.fullmatch(self._lines[0].strip()):
            return True
        if not self._lines or self._open_brackets > 0 or self._is_hopeless:
            return False
        text = "\n".join(self._lines).strip()
        if not text:
            return False
        is_complete = self._is_whole(text)
        self._is_hopeless = not is_complete
        return is_complete

    def take(self) -> str:
        """The value, whole or not, empty where there is none; the next begins empty."""
        text = "\n".join(self._lines).strip()
        self._lines.clear()
        self._open_brackets = 0
        self._is_hopeless = False
        return text


def _events_in(text: str) -> list[str]:
    if not text:
        return []
    return [END_MARK] if _END_MARK.fullmatch(text) else values_in(text) or [text]


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
