"""What a model has streamed of an answer so far: kept on disk while it streams, so that a kill does not take it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from assistant.storage.atomic_io import replace_text
from assistant.text.known_secrets import NO_KNOWN_SECRETS, KnownSecrets


@dataclass(frozen=True, slots=True)
class StreamedWords:
    """The words of a model call that has not ended, and the turn they belong to."""

    turn_id: str
    text: str
    thinking: str


_WORDS: TypeAdapter[StreamedWords] = TypeAdapter(StreamedWords)


class StreamDraft:
    """The file of one conversation that holds what is streamed now; there only while an answer comes."""

    def __init__(self, path: Path, known: KnownSecrets = NO_KNOWN_SECRETS) -> None:
        """The values of `known` never come into the file."""
        self._known = known
        self._path = path

    def write(self, words: StreamedWords) -> None:
        """Put these words in place of those before; durable on return."""
        replace_text(self._path, self._known.mask(json.dumps(asdict(words), ensure_ascii=False)))

    def read(self) -> StreamedWords | None:
        """What was streamed when the program was killed; None where nothing was or it cannot be read."""
        try:
            return _WORDS.validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            return None

    def remove(self) -> None:
        """The words are in the journal, or nobody said them."""
        self._path.unlink(missing_ok=True)
