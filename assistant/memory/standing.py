"""What stands in memory already: a line that says the same, in the same or in other words, is not new (pure)."""

from __future__ import annotations

from collections.abc import Iterable

from assistant.index.text.terms import content_terms
from assistant.memory.spoken import SpokenWords
from assistant.text.labels import is_asked_for, read_label
from assistant.text.markdown import without_bullet
from assistant.text.passages import key_of

_SHARED_SHARE = 0.5
"""Two lines that say the same share more of their words than this."""
_STEM_CHARS = 3
"""So much of a word is alike in its forms, such as `owe` and `owes`."""


class StandingLines:
    """Lines that stand in memory."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._terms = {line: frozenset(content_terms(line)) for line in lines}
        self._keys = {_key(line) for line in self._terms}

    def keep(self, said: str) -> bool:
        """True where one of the lines says all of this, and nothing else."""
        if _key(said) in self._keys:
            return True
        statement, wanted = SpokenWords([said]), frozenset(content_terms(said))
        least = max(1, _SHARED_SHARE * len(wanted))
        near = (line for line, terms in self._terms.items() if len(wanted & terms) >= least)
        return any(
            statement.carry(line) and SpokenWords([line]).carry(said) and _are_in_one_order(said, line) for line in near
        )

    def without_kept(self, lines: Iterable[str]) -> list[str]:
        """Those of other lines that are new beside them.

        A label that the files have in common, such as `Name: Ada`, says in each of them something of its own.
        """
        return [line for line in lines if _is_of_its_file(line) or not self.keep(line)]


def _are_in_one_order(said: str, line: str) -> bool:
    """Whether the words of both follow each other alike: who loves whom, and from where to where, is told by that."""
    first, second = _stems(said), _stems(line)
    return [stem for stem in first if stem in second] == [stem for stem in second if stem in first]


def _stems(text: str) -> list[str]:
    return list(dict.fromkeys(term[:_STEM_CHARS] for term in content_terms(text)))


def _is_of_its_file(line: str) -> bool:
    label = read_label(line)
    return label is not None and is_asked_for(label.label)


def _key(line: str) -> str:
    return key_of(without_bullet(line))
