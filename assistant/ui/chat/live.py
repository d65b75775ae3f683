"""One conversation as the page follows it: a transcript that grows with the conversation's own events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from assistant.messages.events import Event, VersionShown
from assistant.text.encoding import storable
from assistant.ui.chat.entries import Edited, Transcript
from assistant.ui.chat.fold import Answered, Retried, close_cut_turn, fold, fold_all
from assistant.ui.chat.transcript_nodes import TranscriptNodes
from assistant.ui.chat.transcript_window import Window
from assistant.ui.transcript.nodes import Node

if TYPE_CHECKING:
    # It brings the agent library with it, which the page does not wait for.
    from assistant.conversation.conversation import Conversation

UPDATES_PER_SECOND = 12
_MAX_VIEWS = 32


class LiveView:
    """Follows one conversation for every tab that shows it; `version` grows with each change."""

    def __init__(self, conversation: Conversation, version: int = 0) -> None:
        """`version` is one that no tab has seen of it, where it was followed before."""
        self.conversation = conversation
        self.version = version
        past = conversation.attach()
        self._transcript = fold_all(Transcript(), past.history)
        self._nodes = TranscriptNodes()
        if not conversation.is_running:
            self._transcript = close_cut_turn(self._transcript)
        self._changed = asyncio.Event()
        self._task = asyncio.create_task(self._follow(past.start))
        conversation.measure()

    @property
    def transcript(self) -> Transcript:
        """The conversation so far."""
        return self._transcript

    @property
    def is_running(self) -> bool:
        """True while a turn runs or is about to."""
        return self.conversation.is_running

    def nodes(self, window: Window) -> tuple[Node, ...]:
        """The drawn part of the conversation."""
        # While a turn runs nothing is edited, as nothing is tried again.
        questions = [] if self.is_running else self.conversation.questions()
        editable = frozenset(question.message_id for question in questions)
        return self._nodes.draw(self._transcript, window, self.is_running, self.conversation.queued, editable)

    def answer(self, answered: Answered) -> None:
        """Decide about a call that waits."""
        self._tell(answered)
        self.conversation.answer(answered.call_id, answered.allow, answered.scope, answered.why)

    def retry(self) -> None:
        """Answer the newest message again."""
        self._tell(Retried())
        self.conversation.retry()

    def edit(self, message_id: str, text: str) -> None:
        """Ask this in place of a message that is still in the context."""
        self.conversation.edit(message_id, text)
        self._tell(Edited(message_id, storable(text)))

    def touch(self) -> None:
        """Something changed that is no event: a message was queued, the conversation got a title."""
        self.version += 1
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def updates(self, shown_version: int) -> AsyncIterator[int]:
        """A version to show, at most twelve a second, until the turn has ended and all of it was shown."""
        has_waited = False
        while True:
            if self.version != shown_version:
                shown_version = self.version
                yield shown_version
            elif has_waited and not self.is_running:
                return
            changed = self._changed
            await asyncio.sleep(1 / UPDATES_PER_SECOND)
            has_waited = True
            if self.version == shown_version and self.is_running:
                await _wait_briefly(changed)

    async def close(self) -> None:
        """Stop following."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _follow(self, start: int) -> None:
        async for numbered in self.conversation.follow(start):
            self._tell(numbered.event)

    def _tell(self, event: Event | Retried | Edited | Answered) -> None:
        if isinstance(event, VersionShown):
            self._transcript = fold_all(Transcript(), self.conversation.attach().history)
        else:
            self._transcript = fold(self._transcript, event)
        self.touch()


class LiveViews:
    """The views of this process, one a conversation; the longest unused are closed."""

    def __init__(self) -> None:
        self._views: dict[str, LiveView] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def of(self, conversation: Conversation) -> LiveView:
        """The one view of a conversation."""
        view = self._views.pop(conversation.session_id, None)
        if view is None or view.conversation is not conversation:
            version = 0
            if view is not None:
                version = view.version + 1
                self._close_later(view)
            view = LiveView(conversation, version)
        self._views[conversation.session_id] = view
        idle = [known for known in self._views.values() if not known.is_running and known is not view]
        for unused in idle[: max(0, len(self._views) - _MAX_VIEWS)]:
            del self._views[unused.conversation.session_id]
            self._close_later(unused)
        return view

    async def close(self) -> None:
        """Stop following all of them."""
        for view in self._views.values():
            await view.close()
        self._views.clear()

    def _close_later(self, view: LiveView) -> None:
        task = asyncio.create_task(view.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


async def _wait_briefly(changed: asyncio.Event) -> None:
    # The end of a turn is no event of its own, so look again even without an event.
    try:
        await asyncio.wait_for(changed.wait(), 0.5)
    except TimeoutError:
        return
