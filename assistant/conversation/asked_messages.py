"""What the person says as a message: their words, and behind them the files they gave with it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from assistant.agent.attachments.file_reading import GivenFile
from assistant.agent.attachments.message_parts import MessageRoom, message_parts
from assistant.agent.session_state import SessionState
from assistant.agent.window import ContextWindow
from assistant.config.words import say
from assistant.messages.attached_blocks import attached_blocks
from assistant.messages.blocks import DataBlock, Msg, TextBlock, UserMsg, copy_with_blocks
from assistant.messages.events import Event, Notice
from assistant.storage.attachments import Attachments
from assistant.text.encoding import encode, storable


class AskedMessages:
    """Makes the messages of one conversation. Whatever no request could hold is kept as a file and read in parts."""

    def __init__(self, state: SessionState, window: ContextWindow, emit: Callable[[Event], None]) -> None:
        self._state = state
        self._window = window
        self._emit = emit
        self._attachments = Attachments(state.workspace)

    def of(self, text: str, files: Sequence[GivenFile] = ()) -> Msg:
        """A message of these words and files, which are in the home on return."""
        if text and not self._window.fits_alone(text):
            return self._as_file(text, files)
        said = text or say("attachments", "only_files", names=", ".join(file.name for file in files))
        return UserMsg("user", [TextBlock(text=storable(said)), *self._parts(files)])

    def in_place_of(self, message: Msg | None, text: str) -> Msg:
        """A message of these words, with the files of the one that it takes the place of."""
        asked = self.of(text)
        parts = attached_blocks(message) if message is not None else []
        return copy_with_blocks(asked, [*asked.content, *parts])

    def _parts(self, files: Sequence[GivenFile]) -> list[TextBlock | DataBlock]:
        window = self._window
        limit = window.policy.max_input_length
        room = MessageRoom(limit, window.counter, window.can_read_files, self._state.language)
        return message_parts(files, self._attachments, room)

    def _as_file(self, text: str, files: Sequence[GivenFile]) -> Msg:
        """Words that are too many for a request, as a file given with a word about it."""
        tokens, limit = self._window.counter.text(text), self._window.policy.max_input_length
        name = say("attachments", "long_message_name", at=f"{self._state.now():%Y-%m-%d-%H%M%S}")
        content = encode(text)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "message.txt"
            path.write_bytes(content)
            message = self.of("", [GivenFile(name, path, len(content), "text", text), *files])
        self._emit(Notice(say("conversation", "message_too_long", tokens=tokens, limit=limit, name=name), "info"))
        return message
