"""What the system prompt of a conversation is frozen to, from one compaction to the next, also over a restart."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict

from agentscope.state import AgentState
from pydantic import TypeAdapter

from assistant.agent.kept_values import kept_value
from assistant.agent.prompt_basis import PromptBasis
from assistant.config.words import LANGUAGES, Language
from assistant.messages.blocks import Msg
from assistant.messages.hints import recalled_ids

_LANGUAGE_KEY = "language"
_BASIS_KEY = "prompt_basis"
_MARKS_KEY = "recalled_marks"
_BASIS: TypeAdapter[PromptBasis] = TypeAdapter(PromptBasis)
_MARKS: TypeAdapter[dict[str, tuple[str, ...]]] = TypeAdapter(dict[str, tuple[str, ...]])


class FrozenPrompt:
    """The language, what the system prompt is made of, and which sentences were recalled; saved with the state."""

    def __init__(self, state: AgentState) -> None:
        self._state = state
        self._basis = kept_value(state, _BASIS_KEY, _BASIS)

    @property
    def language(self) -> Language | None:
        """The language that was chosen; None before the first message."""
        return next((one for one in LANGUAGES if one == self._state.middle_context.get(_LANGUAGE_KEY)), None)

    @property
    def basis(self) -> PromptBasis | None:
        """What the prompt is made of; None until a model was sent one."""
        return self._basis

    @basis.setter
    def basis(self, basis: PromptBasis) -> None:
        self._basis = basis
        self._state.middle_context[_BASIS_KEY] = asdict(basis)

    def renew(self, language: Language) -> None:
        """Choose the language anew, and make the prompt anew for the next request."""
        self._basis = None
        self._state.middle_context.pop(_BASIS_KEY, None)
        self._state.middle_context[_LANGUAGE_KEY] = language

    def note_recalled(self, hint_id: str, marks: Sequence[str]) -> None:
        """A hint with these sentences comes into the context; what hints that left it said is let go."""
        standing = recalled_ids(self._state.context) | {hint_id}
        known = {**self._stored_marks(), hint_id: tuple(marks)}
        self._state.middle_context[_MARKS_KEY] = {name: list(known[name]) for name in known if name in standing}

    def recalled_marks(self, context: Sequence[Msg]) -> frozenset[str]:
        """The marks of all sentences in the recalled hints of a context."""
        stored = self._stored_marks()
        return frozenset(mark for hint_id in recalled_ids(context) for mark in stored.get(hint_id, ()))

    def hints_with(self, marks: Collection[str]) -> set[str]:
        """The ids of the recalled hints in which one of these sentences stands."""
        return {hint_id for hint_id, own in self._stored_marks().items() if not set(own).isdisjoint(marks)}

    def _stored_marks(self) -> dict[str, tuple[str, ...]]:
        return kept_value(self._state, _MARKS_KEY, _MARKS) or {}
