"""What each tab shows of its conversation, and the patch that leads from there to what it is to show."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from assistant.ui.chat.beside import Beside
from assistant.ui.chat.transcript_window import Window
from assistant.ui.recent_tabs import RecentTabs
from assistant.ui.transcript.nodes import Node
from assistant.ui.transcript.patches import Shown, everything, patch_between

TranscriptPatch = dict[str, dict[str, object]]
"""Patches by their versions, as the page's script takes them; it passes over those that it has."""
OVERLAP_SECONDS = 5.0
"""So long a patch goes along with the next event: of two that come at once the page is only given the later one."""


@dataclass(frozen=True, slots=True)
class ShownPart:
    """The drawn part of a conversation (empty: none), the version of its view, and what is shown beside it."""

    session_id: str = ""
    window: Window = Window()
    version: int = -1
    beside: Beside = Beside()


@dataclass(frozen=True, slots=True)
class DrawnTranscript:
    """The conversation as a tab is to show it.

    `show` is the key of a node to scroll to and mark; `received` is the number under which the tab sent the message
    that is in it now.
    """

    part: ShownPart
    nodes: tuple[Node, ...]
    show: str = ""
    received: str = ""


@dataclass(frozen=True, slots=True)
class _Sent:
    part: ShownPart
    shown: Shown
    is_known: bool = True


@dataclass(frozen=True, slots=True)
class _Recent:
    """What the last events brought a tab, each with the time at which it is not needed any more."""

    patches: tuple[tuple[float, TranscriptPatch], ...] = ()

    def and_then(self, patch: TranscriptPatch) -> _Recent:
        now = time.monotonic()
        kept = [pair for pair in self.patches if pair[0] > now]
        # What begins with an empty page needs nothing before it.
        is_whole = any(one["base"] is None for one in patch.values())
        if is_whole:
            # But for a place to go to, which the tab may have missed.
            places = [one["show"] for _, earlier in kept for one in earlier.values() if "show" in one]
            place: dict[str, object] = {"show": places[-1]} if places else {}
            patch = {version: place | one for version, one in patch.items()}
        return _Recent((*([] if is_whole else kept), (now + OVERLAP_SECONDS, patch)))


class SentTranscripts:
    """Remembers, for each tab, the last patch it was sent."""

    def __init__(self) -> None:
        self._sent = RecentTabs[_Sent]()
        self._recent = RecentTabs[_Recent]()

    def of_event(self, tab_hash: str, drawn: DrawnTranscript, **said: object) -> TranscriptPatch:
        """Like `patch`, with those that the last events of the tab brought, oldest first."""
        recent = (self._recent.get(tab_hash) or _Recent()).and_then(self.patch(tab_hash, drawn, **said))
        self._recent.keep(tab_hash, recent)
        return {version: one for _, patch in recent.patches for version, one in patch.items()}

    def patch(self, tab_hash: str, drawn: DrawnTranscript, **said: object) -> TranscriptPatch:
        """The patch for this tab; what is `said` goes with it, where it is anything."""
        sent = self._sent.get(tab_hash)
        # A tab that outlives the program must see versions that grow.
        shown = Shown(version=time.time_ns() // 1_000_000) if sent is None else sent.shown
        is_same = sent is not None and sent.is_known and sent.part.session_id == drawn.part.session_id
        patch, shown = patch_between(shown, drawn.nodes) if is_same else everything(shown, drawn.nodes)
        self._sent.keep(tab_hash, _Sent(drawn.part, shown))
        value: dict[str, object] = {"base": patch.base, "ops": patch.operations}
        if patch.base is None:
            value["session"] = drawn.part.session_id
        said |= {"show": drawn.show or None, "received": drawn.received or None}
        return {str(patch.version): value | {name: one for name, one in said.items() if one is not None}}

    def part(self, tab_hash: str) -> ShownPart | None:
        """What this tab was sent last; None where nothing is known of it."""
        sent = self._sent.get(tab_hash)
        return None if sent is None else sent.part

    def version(self, tab_hash: str) -> int:
        """The version that this tab was sent last; 0 where nothing is known of it."""
        sent = self._sent.get(tab_hash)
        return 0 if sent is None else sent.shown.version

    def can_go_on(self, tab_hash: str, version: int) -> bool:
        """Whether a tab with this version (0: it missed some) has all patches or has the rest on their way."""
        sent = self._sent.get(tab_hash)
        return sent is not None and 0 < version <= sent.shown.version

    def send_all(self, tab_hash: str) -> None:
        """The next patch of this tab begins with an empty page: it missed one."""
        if (sent := self._sent.get(tab_hash)) is not None:
            self._sent.keep(tab_hash, replace(sent, is_known=False))

    def leave(self, tab_hash: str) -> None:
        """Forget a tab that was closed."""
        self._sent.forget(tab_hash)
        self._recent.forget(tab_hash)
