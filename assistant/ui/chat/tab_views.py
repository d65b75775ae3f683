"""What each tab shows of a conversation, and follows until it shows something else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING

from assistant.errors import PalimpsestError
from assistant.models.connection_report import ConnectionReport
from assistant.ui.chat.live import UPDATES_PER_SECOND, LiveView, LiveViews
from assistant.ui.chat.page_updates import Beside, closed_edit_box, conversation_update, empty_update, streaming_update
from assistant.ui.chat.tab import Tab
from assistant.ui.components import PageUpdate
from assistant.ui.server.loading import Loaded

if TYPE_CHECKING:
    # It brings the agent library with it, which the page does not wait for.
    from assistant.models.chat_model import ChatModel


class TabViews:
    """A tab shows one thing at a time.

    Each request of a tab starts a new generation; whatever belongs to an older one stops updating the tab.
    """

    def __init__(self, views: LiveViews) -> None:
        self._views = views
        self._generations: dict[str, int] = {}
        self._following: set[str] = set()
        self._models: dict[str, ChatModel] = {}
        self._shown: dict[str, str] = {}
        self.report: ConnectionReport | None = None
        """The newest test of the connection, which every whole update shows."""

    def knows(self, tab_hash: str) -> bool:
        """True once a tab has asked for something."""
        return tab_hash in self._generations

    def view(self, loaded: Loaded, session_id: str) -> LiveView:
        """The live view of a conversation; raises what opening it raises."""
        return self._views.of(loaded.assistant.conversations.open(session_id))

    def update(self, loaded: Loaded, view: LiveView, tab: Tab, show: str = "") -> PageUpdate:
        """Everything that the page shows of a conversation; `show` is the key of a node to scroll to."""
        return conversation_update(loaded, view, tab, self.report, show)

    def empty_update(self, loaded: Loaded, problem: PalimpsestError | None = None) -> PageUpdate:
        """The page without a conversation, or without the one that cannot be opened."""
        return empty_update(loaded, self.report, "" if problem is None else str(problem))

    def news(self, loaded: Loaded, tab: Tab, tab_hash: str) -> PageUpdate:
        """What a tab that follows nothing has not shown yet."""
        if tab_hash in self._following:
            return PageUpdate()
        is_other_model = self._note_model(loaded, tab_hash)
        if not tab.session_id:
            return self.empty_update(loaded) if is_other_model else PageUpdate()
        try:
            view = self.view(loaded, tab.session_id)
        except PalimpsestError:
            # The next request of this tab reports why.
            return PageUpdate()
        return self.update(loaded, view, tab) if is_other_model or view.version != tab.shown else PageUpdate()

    async def show(self, loaded: Loaded, tab: Tab, tab_hash: str, show: str = "") -> AsyncIterator[PageUpdate]:
        """A conversation from its beginning or window on, or the page without one; the draft of an edit is let go."""
        self._note_model(loaded, tab_hash)
        problem = None
        if tab.session_id:
            try:
                view = self.view(loaded, tab.session_id)
            except PalimpsestError as error:
                problem = error
            else:
                async for followed in self.follow(loaded, view, tab, tab_hash, closed_edit_box(), show):
                    yield followed
                return
        self._turn_to("", loaded, tab_hash)
        generation = self.next_generation(tab_hash)
        yield self.empty_update(loaded, problem) | closed_edit_box()
        # What this tab followed until now may have sent its last update at the same moment.
        await asyncio.sleep(2 / UPDATES_PER_SECOND)
        # Rendered again: a click may have changed it meanwhile, and the old update would take that back.
        yield self.empty_update(loaded, problem) if self.is_current(tab_hash, generation) else PageUpdate()

    async def follow(
        self,
        loaded: Loaded,
        view: LiveView,
        tab: Tab,
        tab_hash: str,
        beside: PageUpdate | None = None,
        show: str = "",
    ) -> AsyncIterator[PageUpdate]:
        """A conversation, and then its changes, until it rests or the tab shows something else.

        `beside` is added to the first update, which also scrolls to the node `show`.
        """
        self._turn_to(tab.session_id, loaded, tab_hash)
        generation = self.next_generation(tab_hash)
        self._following.add(tab_hash)
        tab = replace(tab, shown=view.version)
        before = Beside.of(view)
        # The person may be writing the next message, so the composer is left alone. A preview is out of date by now.
        yield self.update(loaded, view, tab, show) | PageUpdate(preview="") | (beside or PageUpdate())
        try:
            async for version in view.updates(tab.shown):
                if not self.is_current(tab_hash, generation):
                    break
                tab, now = replace(tab, shown=version), Beside.of(view)
                # The panel shows a compaction while its turn goes on.
                is_compacted = now.compactions != before.compactions
                yield self.update(loaded, view, tab) if is_compacted else streaming_update(view, tab, before)
                before = now
            # Gradio sends the last value of a run once more when it ends, over whatever was shown since.
            is_current = self.is_current(tab_hash, generation)
            yield self.update(loaded, view, replace(tab, shown=view.version)) if is_current else PageUpdate()
        finally:
            if self.is_current(tab_hash, generation):
                self._following.discard(tab_hash)

    def next_generation(self, tab_hash: str) -> int:
        """Begin to show something else in this tab."""
        self._following.discard(tab_hash)
        self._generations[tab_hash] = self._generations.get(tab_hash, 0) + 1
        return self._generations[tab_hash]

    def is_current(self, tab_hash: str, generation: int) -> bool:
        """True while this is the newest generation of the tab."""
        return self._generations.get(tab_hash) == generation

    def leave(self, tab_hash: str) -> None:
        """Forget a tab that was closed."""
        self._generations.pop(tab_hash, None)
        self._models.pop(tab_hash, None)
        self._shown.pop(tab_hash, None)
        self._following.discard(tab_hash)

    def _note_model(self, loaded: Loaded, tab_hash: str) -> bool:
        """True where another model answers than the one that this tab shows; the test was one of the other."""
        model = loaded.assistant.model
        is_other = self._models.get(tab_hash, model) is not model
        self._models[tab_hash] = model
        if is_other and model.is_language_model:
            self.report = None
        return is_other

    def _turn_to(self, session_id: str, loaded: Loaded, tab_hash: str) -> None:
        """The conversation that this tab showed is left, unless another tab shows it."""
        left = self._shown.get(tab_hash, "")
        self._shown[tab_hash] = session_id
        if left not in ("", *self._shown.values()):
            loaded.assistant.left.leave(left)
