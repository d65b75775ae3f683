"""What one conversation need not ask about: what the person allowed in it, and what they always allow in its home."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from assistant.agent.session_state import SessionState
from assistant.agent.tools.approvals import Rules
from assistant.agent.tools.call_extent import extent_of
from assistant.config.plain_reasons import plain_reason
from assistant.config.words import say
from assistant.errors import PalimpsestError, WorkspaceError
from assistant.messages.events import AllowanceScope, AllowedBy, Event, Notice
from assistant.storage.allowed_calls import Allowance, AllowedCalls, Extent, covering, new_allowance
from assistant.text.known_secrets import KnownSecrets

log = logging.getLogger(__name__)

MAX_IN_CONVERSATION = 200
"""The oldest allowances go where more would be kept."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The person's answer to a call: allowed once, or with a scope also from now on; or denied, with words why."""

    is_allowed: bool
    scope: AllowanceScope | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """How much longer than once a call can be allowed, and in words what would be; no scope: only once."""

    scopes: tuple[AllowanceScope, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class ListedAllowance:
    """An allowance, and how far it holds."""

    allowance: Allowance
    scope: AllowanceScope


class Allowances:
    """Finds, adds, lists and revokes them for one conversation."""

    def __init__(
        self,
        state: SessionState,
        always: AllowedCalls | None,
        rules: Rules,
        known: KnownSecrets,
        emit: Callable[[Event], None],
    ) -> None:
        """`always` is None for a guest, who allows nothing for ever. What holds a secret of `known` is never kept."""
        self._state = state
        self._always = always
        self._rules = rules
        self._known = known
        self._emit = emit

    def offer(self, tool: str, arguments: Mapping[str, object]) -> Offer:
        """What the card of a call offers beside *once*."""
        extent = self._extent(tool, arguments)
        return Offer(self._scopes(), extent.text) if extent else Offer()

    def find(self, tool: str, arguments: Mapping[str, object]) -> AllowedBy | None:
        """By what this call runs without being asked about; None where it asks."""
        extent = self._extent(tool, arguments)
        if extent is None:
            return None
        self._tell_damage()
        if self._always and (always := covering(extent, self._always.all())):
            return AllowedBy("always", always.at)
        here = covering(extent, self._state.allowances)
        return AllowedBy("conversation", here.at) if here else None

    def allow(self, tool: str, arguments: Mapping[str, object], scope: AllowanceScope) -> None:
        """Allow from now on what this call is. Where it cannot be kept a notice says so, and it holds this once.

        Raises `PalimpsestError` for what was not offered.
        """
        extent = self._extent(tool, arguments)
        if extent is None or scope not in self._scopes():
            raise PalimpsestError(say("agent", "only_once"))
        try:
            self._keep(extent, scope)
        except (OSError, WorkspaceError) as error:
            log.warning("an allowance could not be kept: %s", error)
            self._emit(Notice(say("agent", "allowance_unkept", reason=plain_reason(error))))

    def all(self) -> list[ListedAllowance]:
        """What is always allowed, then what is in this conversation, oldest first."""
        always = self._always.all() if self._always else ()
        listed = [ListedAllowance(one, "always") for one in always]
        return [*listed, *(ListedAllowance(one, "conversation") for one in self._state.allowances)]

    def revoke(self, allowance_id: str) -> bool:
        """Ask about it again, from the next call on; False where nothing of this id is allowed."""
        here = self._state.allowances
        left = [one for one in here if one.allowance_id != allowance_id]
        if len(left) != len(here):
            self._state.keep_allowances(left)
            return True
        return self._always is not None and self._always.revoke(allowance_id)

    def _scopes(self) -> tuple[AllowanceScope, ...]:
        return ("conversation", "always") if self._always else ("conversation",)

    def _extent(self, tool: str, arguments: Mapping[str, object]) -> Extent | None:
        extent = extent_of(tool, arguments, self._rules)
        if extent is None or self._known.mask_all(extent.command).text != extent.command:
            return None
        return extent

    def _keep(self, extent: Extent, scope: AllowanceScope) -> None:
        if scope == "always" and self._always:
            self._always.add(extent, self._state.at())
            return
        here: Sequence[Allowance] = self._state.allowances
        if covering(extent, here) is None:
            added = new_allowance(extent, self._state.at())
            self._state.keep_allowances([*here, added][-MAX_IN_CONVERSATION:])

    def _tell_damage(self) -> None:
        if self._always and (name := self._always.take_damage()):
            self._emit(Notice(say("agent", "allowances_damaged", name=name)))
