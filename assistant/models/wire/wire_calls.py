"""Parts of tool calls → the calls that were meant, however a server cuts, numbers and names them (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from assistant.models.wire.argument_text import arguments_text, as_object, objects_in, unwrapped
from assistant.models.wire.pieces import CallDelta, WholeCall

_MARK = re.compile(r"<[|｜].*", re.DOTALL)


class CallAssembly:
    """The calls of one answer as their parts come in. `schemas` are those of the tools on offer, by name."""

    def __init__(self, schemas: Mapping[str, Mapping[str, object]] | None = None) -> None:
        self._schemas = schemas or {}
        self._names = frozenset(self._schemas)
        self._calls: list[_Call] = []

    @property
    def is_empty(self) -> bool:
        """True while no call has begun."""
        return not self._calls

    def add(self, delta: CallDelta) -> None:
        """Put the part where it belongs."""
        if delta.is_whole and any(_is_same_call(call, delta) for call in self._calls):
            return
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
        return [whole for call in self._calls if call.name for whole in self._calls_of(call)]

    def _calls_of(self, call: _Call) -> list[WholeCall]:
        """The call; several where a server put the arguments of several behind one another."""
        name = tool_meant(call.name, self._names)
        written = arguments_text(call.arguments)
        texts = [written] if as_object(written) is not None else objects_in(written) or [written]
        schema = self._schemas.get(name, {})
        first, *others = [unwrapped(text, schema, name) for text in texts]
        return [
            WholeCall(call.call_id, name, first, call.extras),
            *(WholeCall("", name, text) for text in others),
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


def tool_meant(name: str, names: Collection[str]) -> str:
    """The tool on offer that a name means, which servers and models dress up; the name itself where it means none."""
    if name in names or not names:
        return name
    bare = _MARK.sub("", name).strip(" \t\r\n`'\"()")
    bare = re.sub(r":\d+$", "", bare)
    for candidate in (bare, *(bare.rpartition(mark)[2] for mark in (".", ":", "/"))):
        alike = [known for known in names if _plain(known) == _plain(candidate)]
        if candidate in names or len(alike) == 1:
            return candidate if candidate in names else alike[0]
    return name


def _plain(name: str) -> str:
    return re.sub(r"[-. ]", "_", name.lower())


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
        return bool(self.arguments) and as_object(arguments_text(self.arguments)) is not None

    @property
    def is_empty_object(self) -> bool:
        """True while all that came of its arguments is an empty object."""
        return bool(self.arguments) and arguments_text(self.arguments) == "{}"


def _is_same_call(call: _Call, delta: CallDelta) -> bool:
    return delta.name == call.name and arguments_text([delta.arguments]) == arguments_text(call.arguments)


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
