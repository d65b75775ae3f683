"""Past conversations of a home, written by what writes real ones and answered by no model."""

from __future__ import annotations

from assistant.agent.session_state import SessionState
from assistant.assembly.home import Store
from assistant.messages.blocks import (
    AssistantMsg,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from assistant.storage.sessions.session_file import Session
from tests.fakes.records import folding


class PastConversation:
    """A conversation that is being written. Nothing of it is open in an assistant."""

    def __init__(self, store: Store, session_id: str, title: str) -> None:
        session = Session("owner", session_id, title)
        self._state = SessionState(session, store.workspace, store.journal, store.sessions, store.clock, "en")
        self.turns = 0
        """How many were added."""
        self._compactions = 0

    def add_turns(self, count: int, about: str = "the trip") -> None:
        """So many turns, each with a tool call; a question's id is `{session}-{turn}-question`."""
        for _ in range(count):
            self.turns += 1
            self._add_turn(f"{self._state.session_id}-{self.turns}", about)

    def fold(self, summary: str) -> None:
        """A compaction, named k0, k1, …, of all but the newest turn."""
        messages, session = self._state.context, self._state.session
        folded, kept = messages[:-2], messages[-2:]
        record = folding(
            f"k{self._compactions}",
            session.compaction_id,
            folded,
            self._state.at(),
            session_id=session.session_id,
            previous_summary=session.summary,
            summary=summary,
            flush="done",
        )
        self._state.commit_compaction(record, kept)
        self._compactions += 1

    def _add_turn(self, turn_id: str, about: str) -> None:
        call_id = f"{turn_id}-call"
        question = UserMsg(
            "user",
            [TextBlock(id=f"{turn_id}-text", text=f"Question {self.turns} about {about}")],
            id=f"{turn_id}-question",
        )
        answer = AssistantMsg(
            "palimpsest",
            [
                ToolCallBlock(id=call_id, name="Read", input='{"file_path": "trip.md"}'),
                ToolResultBlock(
                    id=call_id,
                    name="Read",
                    output=f"line {self.turns} of the file",
                    state=ToolResultState.SUCCESS,
                ),
                TextBlock(id=f"{turn_id}-answer", text=f"Answer {self.turns}: the hotel is booked."),
            ],
            id=f"{turn_id}-reply",
        )
        self._state.start_turn(question)
        self._state.context.append(answer)
        self._state.end_turn(question.id, "completed")


def write_past(store: Store, session_id: str, title: str, turns: int = 1) -> None:
    """A past conversation of so many turns."""
    PastConversation(store, session_id, title).add_turns(turns)
