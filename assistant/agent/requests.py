"""What the person asked to be done to the context, and has not been done yet."""

from __future__ import annotations


class ContextRequests:
    """Pending `/undo` and `/compact` of one conversation: done before the next step of a turn, or once none runs."""

    def __init__(self) -> None:
        self._hint: str | None = None
        self._is_undo_pending = False

    @property
    def are_pending(self) -> bool:
        """True until all was taken."""
        return self._is_undo_pending or self._hint is not None

    def compact(self, hint: str) -> None:
        """Ask for a compaction; the newest hint wins."""
        self._hint = hint

    def undo(self) -> None:
        """Ask for the newest compaction to be taken back; this comes before a compaction that is pending too."""
        self._is_undo_pending = True

    def take_undo(self) -> bool:
        """True where an undo was pending; it counts as done then."""
        is_pending, self._is_undo_pending = self._is_undo_pending, False
        return is_pending

    def take_hint(self) -> str | None:
        """The hint of a compaction that was pending, which counts as done then; None where there was none."""
        hint, self._hint = self._hint, None
        return hint
