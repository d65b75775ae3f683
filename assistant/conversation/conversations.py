"""All conversations of one home: the open ones, and the list of those on disk."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

from assistant.conversation.conversation import Conversation
from assistant.storage.sessions.session_file import Session, title_from
from assistant.storage.sessions.session_head import SessionSummary
from assistant.storage.sessions.sessions import Sessions

OpenConversation = Callable[[Session], Conversation]


class Conversations:
    """Opens each conversation once, however many readers it has."""

    def __init__(
        self, sessions: Sessions, open_conversation: OpenConversation, default_profile: Callable[[], str]
    ) -> None:
        """`default_profile` names who answers in a new one."""
        self._sessions = sessions
        self._open_conversation = open_conversation
        self._default_profile = default_profile
        self._guests: dict[str, Conversation] = {}
        self._open: dict[str, Conversation] = {}
        self._locks: dict[str, ExitStack] = {}

    def open(self, session_id: str) -> Conversation:
        """The conversation of that id; raises `SessionNotFoundError` and what `Sessions.load` raises."""
        if session_id in self._guests:
            return self._guests[session_id]
        if session_id not in self._open:
            self._hold(session_id)
            try:
                self._open[session_id] = self._open_conversation(self._sessions.load(session_id))
            except BaseException:
                self._release(session_id)
                raise
        return self._open[session_id]

    def opened(self, session_id: str) -> Conversation | None:
        """The conversation of that id if it is open in this process."""
        return self._open.get(session_id)

    def all_open(self) -> tuple[Conversation, ...]:
        """The conversations that are open in this process."""
        return tuple(self._open.values())

    def create(self, title: str = "") -> Conversation:
        """A new, empty conversation."""
        session = replace(self._sessions.create(title), profile=self._default_profile())
        self._hold(session.session_id)
        self._open[session.session_id] = self._open_conversation(session)
        return self._open[session.session_id]

    def take_in(self, guest: Conversation) -> None:
        """Let `open` find a conversation of another home, which is in no list here."""
        self._guests[guest.session_id] = guest

    def let_go(self, guest: Conversation) -> None:
        """End what `take_in` began."""
        self._guests.pop(guest.session_id, None)

    def newest_or_new(self) -> Conversation:
        """The conversation used last; a new one where there is none."""
        summaries = self.summaries()
        return self.open(summaries[0].session_id) if summaries else self.create()

    def summaries(self) -> list[SessionSummary]:
        """Every conversation on disk, used last first."""
        return self._sessions.list()

    def trashed(self) -> list[SessionSummary]:
        """The conversations in the trash, newest first."""
        return self._sessions.trashed()

    def rename(self, session_id: str, title: str) -> None:
        """Give a conversation another title, open or not; raises `SessionNotFoundError` and `SessionInUseError`."""
        if conversation := self._open.get(session_id):
            conversation.rename(title_from(title))
            return
        with self._sessions.open_lock(session_id):
            self._sessions.rename(session_id, title)

    def put_on_top(self, session_id: str, is_on_top: bool) -> None:
        """Keep a conversation above the others, or no longer; raises what `rename` raises."""
        if conversation := self._open.get(session_id):
            conversation.put_on_top(is_on_top)
            return
        with self._sessions.open_lock(session_id):
            self._sessions.put_on_top(session_id, is_on_top)

    def branch(self, session_id: str, message_id: str) -> str:
        """The id of a new conversation that begins with a copy of this one, to the end of the turn of a message.

        Raises `SessionNotFoundError` where there is no such turn.
        """
        return self._sessions.branch(session_id, message_id)

    async def trash(self, session_id: str) -> None:
        """Put a conversation into the trash; a running turn is ended first.

        Raises `SessionNotFoundError`, and `SessionInUseError` when another process has it open.
        """
        if conversation := self._open.pop(session_id, None):
            await conversation.close()
            self._release(session_id)
        with self._sessions.open_lock(session_id):
            self._sessions.trash(session_id)

    def restore(self, session_id: str) -> None:
        """Take a conversation back out of the trash; raises `SessionNotFoundError`."""
        self._sessions.restore(session_id)

    async def close(self) -> None:
        """End every running turn; none is open on return, also where one was opened meanwhile."""
        while self._open:
            session_id, conversation = next(iter(self._open.items()))
            await conversation.close()
            del self._open[session_id]
            self._release(session_id)

    def _hold(self, session_id: str) -> None:
        """Another process that has the conversation open would write over what is said here."""
        stack = ExitStack()
        stack.enter_context(self._sessions.open_lock(session_id))
        self._locks[session_id] = stack

    def _release(self, session_id: str) -> None:
        self._locks.pop(session_id).close()
