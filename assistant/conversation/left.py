"""Conversations that the person left: what was said there since the last flush is written to memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from assistant.conversation.conversations import Conversations
from assistant.errors import PalimpsestError
from assistant.storage.journal.journal import Journal
from assistant.storage.sessions.sessions import Sessions
from assistant.text.instant import instant

FlushLeft = Callable[[str, str | None], bool]

log = logging.getLogger(__name__)


class LeftConversations:
    """Finds them, and hands each to `flush`: its id, and the record that its context is based on.

    `flush` returns False where there is nothing worth it.
    """

    def __init__(
        self,
        conversations: Conversations,
        sessions: Sessions,
        journal: Journal,
        flush: FlushLeft,
        now: Callable[[], datetime],
    ) -> None:
        self._conversations = conversations
        self._sessions = sessions
        self._journal = journal
        self._flush = flush
        self._now = now
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._seen: dict[str, str] = {}

    def leave(self, session_id: str) -> None:
        """The person went on elsewhere; a turn that runs is waited for. Nothing where the conversation is not open."""
        conversation = self._conversations.opened(session_id)
        if conversation is None or session_id in self._waiting:
            return
        if not conversation.is_running:
            self._flush_guarded(session_id, conversation.compaction_id)
            return

        async def flush_after_turn() -> None:
            await conversation.wait()
            self._flush_guarded(session_id, conversation.compaction_id)

        task = asyncio.create_task(flush_after_turn(), name=f"leaving {session_id}")
        self._waiting[session_id] = task
        task.add_done_callback(lambda _: self._waiting.pop(session_id))

    def look(self, idle_minutes: int) -> None:
        """Flush those that nobody has open, and, unless it is 0, the open ones in which nothing was said for so long.

        One in which nothing was worth it is looked at again only once something was said.
        """
        latest = (self._now() - timedelta(minutes=idle_minutes)).timestamp()
        for known in self._journal.unwritten_sessions():
            session_id = known.session_id
            conversation = self._conversations.opened(session_id)
            is_idle = idle_minutes > 0 and instant(known.last_at) <= latest
            if self._seen.get(session_id) == known.last_at or conversation and (conversation.is_running or not is_idle):
                continue
            if conversation:
                is_flushed = self._flush_guarded(session_id, conversation.compaction_id)
            else:
                is_flushed = self._flush_unopened(session_id)
            if not is_flushed:
                self._seen[session_id] = known.last_at

    async def close(self) -> None:
        """Wait for no turn any more."""
        for task in list(self._waiting.values()):
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _flush_unopened(self, session_id: str) -> bool:
        try:
            with self._sessions.open_lock(session_id):
                compaction_id = self._sessions.load(session_id).compaction_id
        except (PalimpsestError, OSError) as error:
            # Another process has it open and will leave it, or its file cannot be read now.
            log.info("conversation %s is not written to memory now: %s", session_id, error)
            return True
        return self._flush_guarded(session_id, compaction_id)

    def _flush_guarded(self, session_id: str, compaction_id: str | None) -> bool:
        try:
            return self._flush(session_id, compaction_id)
        except (PalimpsestError, OSError):
            # What is due stays in the journal, and is found at the next start.
            log.exception("the flush of conversation %s could not begin", session_id)
            return True
