"""What each tab shows of its conversation, and the patch that leads from there to what it is to show."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from assistant.ui.transcript.nodes import Node
from assistant.ui.transcript.patches import Shown, everything, patch_between


@dataclass(frozen=True, slots=True)
class DrawnTranscript:
    """The conversation as a tab is to show it.

    `show` is the key of a node to scroll to and mark; `received` is the number under which the tab sent the message
    that is in it now.
    """

    session_id: str
    nodes: tuple[Node, ...]
    show: str = ""
    received: str = ""


@dataclass(frozen=True, slots=True)
class _Sent:
    session_id: str
    shown: Shown
    is_known: bool = True


class SentTranscripts:
    """Remembers, for each tab, the last patch it was sent."""

    def __init__(self) -> None:
        self._sent: dict[str, _Sent] = {}

    def patch(self, tab_hash: str, drawn: DrawnTranscript) -> dict[str, object]:
        """The patch as the value of the page's component.

        Its version is its only key, so that Gradio takes two patches for two things and sends no difference of them.
        """
        sent = self._sent.get(tab_hash)
        # A tab that outlives the program must see versions that grow.
        shown = Shown(version=time.time_ns() // 1_000_000) if sent is None else sent.shown
        is_same = sent is not None and sent.is_known and sent.session_id == drawn.session_id
        patch, shown = patch_between(shown, drawn.nodes) if is_same else everything(shown, drawn.nodes)
        self._sent[tab_hash] = _Sent(drawn.session_id, shown)
        value: dict[str, object] = {"base": patch.base, "ops": patch.operations}
        if patch.base is None:
            value["session"] = drawn.session_id
        value |= {name: said for name, said in (("show", drawn.show), ("received", drawn.received)) if said}
        return {str(patch.version): value}

    def send_all(self, tab_hash: str) -> None:
        """The next patch of this tab begins with an empty page: it missed one."""
        if (sent := self._sent.get(tab_hash)) is not None:
            self._sent[tab_hash] = replace(sent, is_known=False)

    def leave(self, tab_hash: str) -> None:
        """Forget a tab that was closed."""
        self._sent.pop(tab_hash, None)
