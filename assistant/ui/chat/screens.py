"""What each tab shows of a conversation, and follows until it shows something else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

from assistant.errors import PalimpsestError
from assistant.models.connection_report import ConnectionReport
from assistant.ui.chat.face import Face, Tab, empty_face, face_of, streamed_face, without_edit
from assistant.ui.chat.live import UPDATES_PER_SECOND, LiveView, LiveViews
from assistant.ui.server.loading import Loaded


class Screens:
    """A tab shows one thing at a time: what was asked for last holds its ticket, what came before stops showing."""

    def __init__(self, views: LiveViews) -> None:
        self._views = views
        self._tickets: dict[str, int] = {}
        self._following: set[str] = set()
        self.report: ConnectionReport | None = None
        """The newest test of the connection, which every face shows."""

    def knows(self, tab_hash: str) -> bool:
        """True once a tab has asked for something."""
        return tab_hash in self._tickets

    def view(self, loaded: Loaded, session_id: str) -> LiveView:
        """The live view of a conversation; raises what opening it raises."""
        return self._views.of(loaded.assistant.conversations.open(session_id))

    def face(self, loaded: Loaded, view: LiveView, tab: Tab) -> Face:
        """The whole face of a conversation."""
        return face_of(loaded, view, tab, self.report)

    def empty_face(self, loaded: Loaded, problem: PalimpsestError | None = None) -> Face:
        """The face without a conversation, or without the one that cannot be opened."""
        return empty_face(loaded, self.report, "" if problem is None else str(problem))

    def news(self, loaded: Loaded, tab: Tab, tab_hash: str) -> Face | None:
        """What a tab that follows nothing has not shown yet; None where there is nothing."""
        if not tab.session_id or tab_hash in self._following:
            return None
        try:
            view = self.view(loaded, tab.session_id)
        except PalimpsestError:
            # The next thing the person does in this tab tells why.
            return None
        return self.face(loaded, view, tab) if view.version != tab.shown else None

    async def show(self, loaded: Loaded, tab: Tab, tab_hash: str) -> AsyncIterator[Face]:
        """A conversation from its beginning or window on, or the page without one; the draft of an edit is let go."""
        problem = None
        if tab.session_id:
            try:
                view = self.view(loaded, tab.session_id)
            except PalimpsestError as error:
                problem = error
            else:
                async for followed in self.follow(loaded, view, tab, tab_hash, closes_edit=True):
                    yield followed
                return
        ticket = self.take_ticket(tab_hash)
        yield without_edit(self.empty_face(loaded, problem))
        # What this tab followed until now may have sent its last update at the same moment.
        await asyncio.sleep(2 / UPDATES_PER_SECOND)
        # Drawn anew: a click may have changed it meanwhile, and an old face would take that back.
        yield self.empty_face(loaded, problem) if self.holds(tab_hash, ticket) else Face()

    async def follow(
        self,
        loaded: Loaded,
        view: LiveView,
        tab: Tab,
        tab_hash: str,
        clear_composer: bool = False,
        closes_edit: bool = False,
    ) -> AsyncIterator[Face]:
        """The face of a conversation, and then what it tells, until it rests or the tab shows something else."""
        ticket = self.take_ticket(tab_hash)
        self._following.add(tab_hash)
        tab = replace(tab, shown=view.version)
        face = self.face(loaded, view, tab)
        # The person may be writing the next message: the composer is touched only to empty it.
        # What was looked ahead to is no longer so.
        face = replace(face, preview="")
        face = without_edit(face) if closes_edit else face
        yield replace(face, composer="") if clear_composer else face
        compactions = view.transcript.compactions
        try:
            async for version in view.updates(tab.shown):
                if not self.holds(tab_hash, ticket):
                    break
                tab = replace(tab, shown=version)
                # The panel tells of a compaction while the turn that it happened in goes on.
                is_compacted = compactions != (compactions := view.transcript.compactions)
                yield self.face(loaded, view, tab) if is_compacted else streamed_face(view, tab)
            # Gradio sends the last value of a run once more when it ends, over whatever was shown since.
            is_current = self.holds(tab_hash, ticket)
            yield self.face(loaded, view, replace(tab, shown=view.version)) if is_current else Face()
        finally:
            if self.holds(tab_hash, ticket):
                self._following.discard(tab_hash)

    def take_ticket(self, tab_hash: str) -> int:
        """Say that this tab shows something else from now on."""
        self._following.discard(tab_hash)
        self._tickets[tab_hash] = self._tickets.get(tab_hash, 0) + 1
        return self._tickets[tab_hash]

    def holds(self, tab_hash: str, ticket: int) -> bool:
        """True while nothing else was asked for in this tab since."""
        return self._tickets.get(tab_hash) == ticket

    def leave(self, tab_hash: str) -> None:
        """Forget a tab that was closed."""
        self._tickets.pop(tab_hash, None)
        self._following.discard(tab_hash)
