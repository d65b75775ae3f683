"""One conversation as the page follows it: a transcript that grows with the conversation's own events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from assistant.events import ContextMeasured, Event, TurnStarted
from assistant.ui.ports import OpenConversation
from assistant.ui.transcript import Answered, Asked, Transcript, close_cut_turn, fold, fold_all

UPDATES_PER_SECOND = 12
_MAX_VIEWS = 32


class LiveView:
    """Follows one conversation for every tab that shows it; `version` grows with each change."""

    def __init__(self, conversation: OpenConversation) -> None:
        self.conversation = conversation
        self.version = 0
        self._history: Sequence[Event] | None = conversation.history()
        self._transcript = fold_all(Transcript(), self._history)
        if not conversation.is_running:
            self._transcript = close_cut_turn(self._transcript)
        self._changed = asyncio.Event()
        self._task = asyncio.create_task(self._follow())

    @property
    def transcript(self) -> Transcript:
        """The conversation so far."""
        return self._transcript

    @property
    def is_running(self) -> bool:
        """True while a turn runs or is about to."""
        return self.conversation.is_running or (self._transcript.open_turn is not None and not self._task.done())

    @property
    def measured(self) -> ContextMeasured:
        """How full the window is: as told by the turn, else measured now."""
        return self._transcript.measured or self.conversation.measure()

    def ask(self, text: str) -> None:
        """Send a message; it is shown at once and its turn begins when the conversation comes to it."""
        self._tell(Asked(text))
        self.conversation.ask(text)

    def answer(self, call_id: str, allow: bool) -> None:
        """Decide about a call that waits."""
        self._tell(Answered(call_id, allow))
        self.conversation.answer(call_id, allow)

    async def updates(self, shown_version: int) -> AsyncIterator[int]:
        """A version to show, at most twelve a second, until the turn has ended and all of it was shown."""
        while True:
            if self.version != shown_version:
                shown_version = self.version
                yield shown_version
            elif not self.is_running:
                return
            changed = self._changed
            await asyncio.sleep(1 / UPDATES_PER_SECOND)
            if self.version == shown_version and self.is_running:
                await _wait_briefly(changed)

    async def close(self) -> None:
        """Stop following."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _follow(self) -> None:
        async for _, event in self.conversation.follow():
            if isinstance(event, TurnStarted) and self._history is not None:
                self._forget_what_comes_again(event)
            self._tell(event)

    def _forget_what_comes_again(self, first: TurnStarted) -> None:
        # The journal may already hold the beginning of a turn that ran when the page was opened.
        history, self._history = self._history or (), None
        for index, event in enumerate(history):
            if isinstance(event, TurnStarted) and event.message_id == first.message_id and event.text == first.text:
                asked = self._transcript.asked
                self._transcript = fold_all(Transcript(asked=asked), history[:index])
                return

    def _tell(self, event: Event | Asked | Answered) -> None:
        self._transcript = fold(self._transcript, event)
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()


class LiveViews:
    """The views of this process, one a conversation; the longest unused are closed."""

    def __init__(self) -> None:
        self._views: dict[str, LiveView] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def of(self, conversation: OpenConversation) -> LiveView:
        """The one view of a conversation."""
        view = self._views.pop(conversation.session_id, None)
        if view is None or view.conversation is not conversation:
            if view is not None:
                self._close_later(view)
            view = LiveView(conversation)
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
    # The end of a turn is no event of its own, so look again even when nothing was told.
    try:
        await asyncio.wait_for(changed.wait(), 0.5)
    except TimeoutError:
        return
