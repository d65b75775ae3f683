"""Emptying the trash: deleted conversations leave the home for good, with what only they put there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.compaction.record import CompactionRecord
from assistant.config.words import say
from assistant.errors import IndexingError, WorkspaceError
from assistant.index.memory_index import MemoryIndex
from assistant.messages.attached_blocks import attached_files, picture_name
from assistant.storage.artifacts import Artifacts
from assistant.storage.attachments import Attachments
from assistant.storage.journal.journal import Journal, artifact_ids_of
from assistant.storage.journal.rows import BlockRow, QueuedRow
from assistant.storage.sessions.sessions import Sessions
from assistant.storage.text_files import read_any_text
from assistant.storage.workspace import Workspace
from assistant.text.json_parsing import parse_json
from assistant.text.json_values import is_object

if TYPE_CHECKING:
    # It brings the agent with it, which most commands can do without.
    from assistant.conversation.conversation import Conversation


@dataclass(frozen=True, slots=True)
class EmptiedTrash:
    """How many conversations went, and what the person should know beside it."""

    conversations: int
    notices: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What went, in words."""
        if not self.conversations:
            return say("conversation", "trash_empty")
        count = say("conversation", "one_is" if self.conversations == 1 else "many_are", count=self.conversations)
        return "\n".join([say("conversation", "trash_gone", conversations=count), *self.notices])


class Trash:
    """Empties the trash of one home that this process owns. Memory files keep what was saved in them."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        sessions: Sessions,
        journal: Journal,
        index: MemoryIndex,
        stop: Callable[[set[str]], Awaitable[None]],
        all_open: Callable[[], Sequence[Conversation]],
    ) -> None:
        """`stop` ends what is still being written to memory from these conversations; `all_open` are those open now."""
        self._workspace = workspace
        self._sessions = sessions
        self._journal = journal
        self._artifacts = Artifacts(workspace)
        self._index = index
        self._stop = stop
        self._all_open = all_open
        self._lock = asyncio.Lock()

    @property
    def question(self) -> str:
        """What is asked before the trash is emptied; empty where nothing is in it."""
        return empty_question(len(self._sessions.trashed()))

    async def empty(self) -> EmptiedTrash:
        """Take every conversation in the trash out of files, journal and index. A kill half-way: call it again."""
        async with self._lock:
            session_ids = {summary.session_id for summary in self._sessions.trashed()}
            await self._stop(session_ids)
            await self._remove_hints(session_ids)
            gone = await asyncio.to_thread(self._sessions.empty_trash, self._remove_rest)
            if not gone:
                return EmptiedTrash(0)
            try:
                await self._index.purge()
            except IndexingError as error:
                return EmptiedTrash(len(gone), (say("conversation", "trash_index", reason=error),))
            return EmptiedTrash(len(gone))

    async def _remove_hints(self, session_ids: set[str]) -> None:
        """What was recalled from these into others leaves them, while the journal still says into which."""
        quoting = await asyncio.to_thread(self._journal.quoting, session_ids)
        await asyncio.to_thread(self._sessions.remove_hints, quoting)
        for conversation in self._all_open():
            if conversation.session_id in quoting:
                conversation.leave_recalled()

    def _remove_rest(self, session_ids: set[str]) -> None:
        """Full tool results, refused summaries and attached files; none is found again once the rows are gone.

        What a branch of these conversations names as well stays.
        """
        attachments = Attachments(self._workspace)
        rows = [row for one in session_ids for row in self._journal.rows(one, include_dropped=True)]
        compaction_ids = {row.compaction_id for row in rows if isinstance(row, CompactionRecord)}
        blocks = [row.block for row in rows if isinstance(row, BlockRow | QueuedRow)]
        artifact_ids, files = artifact_ids_of(rows), attached_files(blocks)
        pictures = [name for block in blocks if (name := picture_name(block))]
        named = {*artifact_ids, *(file.kept for file in files), *pictures}
        kept = self._journal.named_elsewhere(named, session_ids)
        for artifact_id in artifact_ids:
            if artifact_id not in kept:
                self._remove_artifact(artifact_id)
        for file in files:
            if file.kept not in kept:
                attachments.remove(file)
        for name in pictures:
            if name not in kept:
                attachments.remove_picture(name)
        for path in self._workspace.compaction_failures_folder.glob("*.json"):
            if path.stem in compaction_ids or _session_of(read_any_text(path)) in session_ids:
                path.unlink(missing_ok=True)

    def _remove_artifact(self, artifact_id: str) -> None:
        try:
            self._artifacts.remove(artifact_id)
        except WorkspaceError:
            # A row from elsewhere may name anything; what is no id has no file.
            return


def empty_question(count: int) -> str:
    """What is asked before that many conversations go for good; empty for none."""
    if not count:
        return ""
    what = say("conversation", "one_conversation" if count == 1 else "many_conversations", count=count)
    return say("conversation", "trash_question", what=what)


def _session_of(text: str) -> str:
    """The conversation that a refused summary is about; empty where it does not say."""
    try:
        values = parse_json(text)
    except ValueError:
        return ""
    session_id = values.get("session_id") if is_object(values) else None
    return session_id if isinstance(session_id, str) else ""
