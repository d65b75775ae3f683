"""An answer in a protocol of its own: each event mended for the provider's library, and what it says beside words."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import ClassVar

from assistant.models.wire.answer_facts import AnswerFacts
from assistant.models.wire.pieces import ServerFailure
from assistant.models.wire.server_failures import failure_in
from assistant.text.json_values import JsonObject


class NativeEvents(ABC):
    """Feed it the values of one answer in their order; what comes out is what the library reads.

    `has_begun` is True once the provider has said something of the answer itself. `STATUS_OF_CODE`: the HTTP status of
    an error that comes in the middle of an answer, by the provider's word for it.
    """

    STATUS_OF_CODE: ClassVar[Mapping[str, int]] = {}

    def __init__(self, facts: AnswerFacts) -> None:
        self.facts = facts
        self.has_begun = False

    @abstractmethod
    def feed(self, value: JsonObject) -> list[JsonObject]:
        """The values that the library is to get for this one."""

    def close(self) -> list[JsonObject]:
        """The values that the library is to get once the provider has said its last."""
        return []

    def failure_in(self, value: JsonObject) -> ServerFailure | None:
        """The error in a value; None where it has a part of the answer."""
        return failure_in(value)

    def status_of(self, status: int, failure: ServerFailure) -> int:
        """The HTTP status of a failure by its meaning; `status` is the one it came with."""
        return status

    def encode(self, value: JsonObject) -> bytes:
        """A value as it stands in the stream."""
        return b"data: " + json.dumps(value).encode() + b"\n\n"


class IdsOfCalls:
    """The ids of the calls of one answer: that of the server where it gives one, and gives it once."""

    def __init__(self, fresh_id: Callable[[], str]) -> None:
        self._fresh_id = fresh_id
        self._given: set[str] = set()

    def unused(self, wanted: object) -> str:
        """`wanted` where it names a call and no other call, else an id that no other has."""
        kept = wanted if isinstance(wanted, str) and wanted and wanted not in self._given else self._fresh_id()
        self._given.add(kept)
        return kept


def count(value: Mapping[str, object], *names: str) -> int:
    """The first of the fields that is a number of tokens; 0 where none is."""
    found = (value.get(name) for name in names)
    return next((number for number in found if isinstance(number, int) and number > 0), 0)
