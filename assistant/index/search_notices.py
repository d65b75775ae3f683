"""What a search says about itself, in the language of the question; the sentences are in `search_notices.toml`."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.config.plain_reasons import plain_reason
from assistant.config.words import Language, sentence
from assistant.errors import PalimpsestError


@dataclass(frozen=True, slots=True)
class SearchNotice:
    """One sentence about how a search went: its name in the file, and what is put in."""

    name: str
    values: tuple[tuple[str, str], ...] = ()

    def text(self, language: Language) -> str:
        """The sentence in a language."""
        return sentence("search_notices", language, self.name, **dict(self.values))


NO_EMBEDDER = SearchNotice("no_embedder")
NOT_OWNER = SearchNotice("not_owner")
NO_INDEX = SearchNotice("no_index")
FORGETTING = SearchNotice("forgetting")
LATE = SearchNotice("late")
STARTING = SearchNotice("starting")


def still_reading(done: int, total: int) -> SearchNotice:
    """Not every file has been read since the start."""
    return _notice("still_reading", done=done, total=total)


def words_for_now(error: Exception) -> SearchNotice:
    """No vectors until the cause is gone."""
    return _notice("words_for_now", error=_in_words(error))


def words_this_time(error: Exception) -> SearchNotice:
    """No vectors for this question."""
    return _notice("words_this_time", error=_in_words(error))


def vectors_incomplete(share: float) -> SearchNotice:
    """Too few vectors are made to search by meaning."""
    return _notice("vectors_incomplete", share=f"{share:.0%}")


def not_indexed(error: Exception) -> SearchNotice:
    """The disk refuses what was read."""
    return _notice("not_indexed", error=_in_words(error))


def task_failed(name: str, error: Exception) -> SearchNotice:
    """Work in the background ended with an error and begins again."""
    return _notice("task_failed", name=name, error=_in_words(error))


def _notice(name: str, /, **values: object) -> SearchNotice:
    return SearchNotice(name, tuple((key, str(value)) for key, value in values.items()))


def _in_words(error: Exception) -> str:
    """A sentence of ours; of any other error the plain reason."""
    return str(error) if isinstance(error, PalimpsestError) else f"{plain_reason(error)}."
