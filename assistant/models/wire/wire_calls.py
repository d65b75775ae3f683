"""Parts of tool calls → the calls that were meant, however a server cuts, numbers and names them (pure)."""

from __future__ import annotations

import ast
import json
from collections.abc import Collection
from dataclasses import dataclass, field

from assistant.models.wire.pieces import CallDelta, WholeCall


class CallAssembly:
    """The calls of one answer as their parts come in. `tool_names` are those on offer; empty where none is known."""

    def __init__(self, tool_names: Collection[str] = ()) -> None:
        self._names = frozenset(tool_names)
        self._calls: list[_Call] = []

    @property
    def is_empty(self) -> bool:
        """True while no call has begun."""
        return not self._calls

    def add(self, delta: CallDelta) -> None:
        """Put the part where it belongs."""
        call = self._target(delta)
        if call is None:
            call = _Call(delta.index)
            self._calls.append(call)
        elif _is_repetition(call, delta):
            call.extras |= delta.extras
            return
        call.index = delta.index if delta.index is not None else call.index
        call.call_id = call.call_id or delta.call_id
        call.seen_ids.add(delta.call_id)
        call.extras |= delta.extras
        call.name = self._joined_name(call.name, delta.name)
        if delta.arguments is not None and delta.arguments != "":
            call.arguments.append(delta.arguments)

    def whole(self) -> list[WholeCall]:
        """Every call in order; one that never got a name is left out."""
        return [
            WholeCall(call.call_id, call.name, arguments_text(call.arguments), call.extras)
            for call in self._calls
            if call.name
        ]

    def _target(self, delta: CallDelta) -> _Call | None:
        """The call that the part goes on with; None where it begins one."""
        if not self._calls:
            return None
        at_index = [call for call in self._calls if delta.index is not None and call.index == delta.index]
        with_id = [call for call in self._calls if delta.call_id and delta.call_id in call.seen_ids]
        if at_index:
            call = next((call for call in reversed(at_index) if call in with_id), at_index[-1])
            return call if self._goes_on(call, delta) else None
        if with_id and (delta.index is None or not delta.name):
            return with_id[-1] if self._goes_on(with_id[-1], delta) else None
        if delta.name and (delta.index is not None or delta.call_id):
            return None
        last = self._calls[-1]
        return last if self._goes_on(last, delta) else None

    def _goes_on(self, call: _Call, delta: CallDelta) -> bool:
        has_other_id = bool(delta.call_id and call.call_id and delta.call_id not in call.seen_ids)
        if not delta.name:
            # A part without a name cannot begin a call; only a complete one with another id beside it can.
            return not (has_other_id and call.is_complete and delta.arguments not in (None, "", {}))
        if not call.name or _is_repetition(call, delta):
            return True
        if call.is_complete and not call.is_empty_object:
            return False
        if call.arguments and not call.is_empty_object:
            # Half-way in its arguments: a name that is said again in each part.
            return delta.name == call.name or not has_other_id
        if delta.name == call.name:
            return not has_other_id
        return self._is_name(call.name + delta.name) or not (has_other_id or self._both_known(call, delta))

    def _both_known(self, call: _Call, delta: CallDelta) -> bool:
        return call.name in self._names and delta.name in self._names

    def _is_name(self, text: str) -> bool:
        return any(name.startswith(text) for name in self._names)

    def _joined_name(self, name: str, more: str) -> str:
        if not more or not name or more == name or self._is_name(name + more):
            return name if more == name else name + more
        if more.startswith(name) or (name not in self._names and more in self._names):
            return more
        return name if name in self._names else name + more


def arguments_text(pieces: list[object]) -> str:
    """The pieces as the text of one JSON object; where none comes of them, as they came.

    Read too: an object instead of its text, text that was encoded twice, an empty object before the real one, the whole
    repeated at the end or with each piece, quotes of Python instead of JSON's.
    """
    texts = [piece if isinstance(piece, str) else json.dumps(piece, ensure_ascii=False) for piece in pieces]
    objects = [piece for piece in pieces if isinstance(piece, dict)]
    if objects and len(objects) == len(pieces):
        merged: dict[object, object] = {}
        for piece in objects:
            merged |= piece
        return json.dumps(merged, ensure_ascii=False)
    joined = "".join(texts)
    full = [text for text in texts if text.strip() not in ("{}", "null")]
    candidates = (joined, "".join(full), *(texts[-1:] if len(texts) > 1 else ()), "".join(texts[:-1]))
    for candidate in candidates:
        if (read := _as_object(candidate)) is not None and (read != "{}" or not full):
            return read
    return joined if joined.strip() not in ("", "null") else "{}"


def _as_object(text: str) -> str | None:
    """The text of the JSON object this is, unwrapped; None where it is none."""
    stripped = text.strip()
    if stripped in ("", "null", "None", '""'):
        return "{}"
    for _ in range(3):
        value = _decoded(stripped)
        if isinstance(value, dict):
            # What came as proper JSON is kept to the letter.
            return stripped if _is_strict(stripped) else json.dumps(value, ensure_ascii=False)
        if not isinstance(value, str):
            break
        stripped = value.strip()
    return None


def _decoded(text: str) -> object:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        pass
    if text.startswith("{'") and len(text) < 100_000:
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            pass
    return None


def _is_strict(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


@dataclass(slots=True)
class _Call:
    """A call as far as it came."""

    index: int | None
    call_id: str = ""
    name: str = ""
    arguments: list[object] = field(default_factory=list[object])
    seen_ids: set[str] = field(default_factory=set[str])
    extras: dict[str, object] = field(default_factory=dict[str, object])

    @property
    def is_complete(self) -> bool:
        """True once its arguments are a JSON object."""
        return bool(self.arguments) and _as_object(arguments_text(self.arguments)) is not None

    @property
    def is_empty_object(self) -> bool:
        """True while all that came of its arguments is an empty object."""
        return bool(self.arguments) and arguments_text(self.arguments) == "{}"


def _is_repetition(call: _Call, delta: CallDelta) -> bool:
    """True for a part that says again what the call holds already: same name, same whole arguments."""
    return (
        delta.name == call.name
        and delta.arguments not in (None, "")
        and call.is_complete
        and not call.is_empty_object
        and arguments_text([delta.arguments]) == arguments_text(call.arguments)
        and (not delta.call_id or not call.call_id or delta.call_id in call.seen_ids)
    )
