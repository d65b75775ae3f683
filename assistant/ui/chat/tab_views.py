"""What each tab shows of a conversation, from one thing it asks for to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assistant.errors import PalimpsestError
from assistant.models.connection_report import ConnectionReport
from assistant.ui.chat.beside import Beside
from assistant.ui.chat.list_marks import list_marks
from assistant.ui.chat.live import LiveView, LiveViews
from assistant.ui.chat.page_updates import closed_edit_box, conversation_update, empty_update, news_update
from assistant.ui.chat.sent_transcripts import ShownPart
from assistant.ui.chat.tab import Tab
from assistant.ui.components import PageUpdate
from assistant.ui.recent_tabs import RecentTabs
from assistant.ui.server.loading import Loaded

if TYPE_CHECKING:
    # It brings the agent library with it, which the page does not wait for.
    from assistant.models.chat_model import ChatModel


class TabViews:
    """A tab shows one thing at a time. Each request of a tab begins a new generation."""

    def __init__(self, views: LiveViews) -> None:
        self._views = views
        self._generations = RecentTabs[int]()
        self._models: RecentTabs[ChatModel] = RecentTabs()
        self._shown = RecentTabs[str]()
        self.report: ConnectionReport | None = None
        """The newest test of the connection, which every whole update shows."""

    def view(self, loaded: Loaded, session_id: str) -> LiveView:
        """The live view of a conversation; raises what opening it raises."""
        return self._views.of(loaded.assistant.conversations.open(session_id))

    def update(self, loaded: Loaded, view: LiveView, tab: Tab, show: str = "") -> PageUpdate:
        """Everything that the page shows of a conversation; `show` is the key of a node to scroll to."""
        return conversation_update(loaded, view, tab, self.report, show)

    def empty_update(self, loaded: Loaded, tab: Tab, problem: PalimpsestError | None = None) -> PageUpdate:
        """The page without a conversation, or without the one that cannot be opened."""
        return empty_update(loaded, self.report, "" if problem is None else str(problem), tab.profile)

    def has_news(self, loaded: Loaded, tab_hash: str, part: ShownPart) -> bool:
        """Whether a tab that was sent this part has not shown all of its conversation, or shows another model."""
        if self._is_other_model(loaded, tab_hash):
            return True
        try:
            view = self.view(loaded, part.session_id) if part.session_id else None
        except PalimpsestError:
            return False
        if view is None:
            return part.beside.marks != list_marks(loaded.assistant)
        return (part.version, part.beside) != (view.version, Beside.of(view, loaded.assistant))

    def news(self, loaded: Loaded, tab: Tab, tab_hash: str, part: ShownPart | None) -> PageUpdate:
        """What a tab has not shown yet; `part` is what it was sent last of its conversation."""
        if part is not None and part.session_id != tab.session_id:
            # It was sent another conversation meanwhile, and asks again.
            return PageUpdate()
        is_other_model = self._note_model(loaded, tab_hash)
        if not tab.session_id:
            is_listed = part is None or part.beside.marks == list_marks(loaded.assistant)
            return PageUpdate() if is_listed and not is_other_model else self.empty_update(loaded, tab)
        try:
            view = self.view(loaded, tab.session_id)
        except PalimpsestError:
            # The next request of this tab reports why.
            return PageUpdate()
        if part is None or is_other_model:
            return self.update(loaded, view, tab)
        return news_update(loaded, view, tab, self.report, part)

    def show(self, loaded: Loaded, tab: Tab, tab_hash: str, show: str = "") -> PageUpdate:
        """A conversation from its beginning or window on, or the page without one; the draft of an edit is let go."""
        self._note_model(loaded, tab_hash)
        problem = None
        if tab.session_id:
            try:
                view = self.view(loaded, tab.session_id)
            except PalimpsestError as error:
                problem = error
            else:
                return self.follow(loaded, view, tab, tab_hash, show) | closed_edit_box()
        self._turn_to("", loaded, tab_hash)
        self.next_generation(tab_hash)
        return self.empty_update(loaded, tab, problem) | closed_edit_box()

    def follow(self, loaded: Loaded, view: LiveView, tab: Tab, tab_hash: str, show: str = "") -> PageUpdate:
        """A conversation, whose changes the tab asks for from now on; it scrolls to the node `show`."""
        self._turn_to(tab.session_id, loaded, tab_hash)
        self.next_generation(tab_hash)
        # The person may be writing the next message, so the composer is left alone. A preview is out of date by now.
        return self.update(loaded, view, tab, show) | PageUpdate(preview="")

    def knows(self, tab_hash: str) -> bool:
        """True once a tab has asked for something."""
        return self._generations.get(tab_hash) is not None

    def next_generation(self, tab_hash: str) -> int:
        """Begin to show something else in this tab."""
        generation = (self._generations.get(tab_hash) or 0) + 1
        self._generations.keep(tab_hash, generation)
        return generation

    def is_current(self, tab_hash: str, generation: int) -> bool:
        """True while this is the newest generation of the tab."""
        return self._generations.get(tab_hash) == generation

    def leave(self, tab_hash: str) -> None:
        """Forget a tab that was closed."""
        for remembered in (self._generations, self._models, self._shown):
            remembered.forget(tab_hash)

    def _is_other_model(self, loaded: Loaded, tab_hash: str) -> bool:
        known = self._models.get(tab_hash)
        return known is not None and known is not loaded.assistant.model

    def _note_model(self, loaded: Loaded, tab_hash: str) -> bool:
        """True where another model answers than the one that this tab shows; the test was one of the other."""
        model = loaded.assistant.model
        is_other = self._is_other_model(loaded, tab_hash)
        self._models.keep(tab_hash, model)
        if is_other and model.is_language_model:
            self.report = None
        return is_other

    def _turn_to(self, session_id: str, loaded: Loaded, tab_hash: str) -> None:
        """The conversation that this tab showed is left, unless another tab shows it."""
        left = self._shown.get(tab_hash) or ""
        self._shown.keep(tab_hash, session_id)
        if left not in ("", *self._shown.values()):
            loaded.assistant.left.leave(left)
