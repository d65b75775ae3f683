"""The sidecar agent that writes down what a compaction folded: SOUL.md, USER.md, MEMORY.md and the day's note.

It reads from the journal, runs beside the conversation, and never delays or breaks it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from agentscope.agent import Agent
from agentscope.model import ChatModelBase
from agentscope.state import AgentState
from agentscope.tool import ToolChunk, Toolkit

from assistant.agent.hooks.calls import CallHook
from assistant.agent.hooks.steps import StepHook
from assistant.agent.loop import build_agent
from assistant.agent.summariser import NoCompression, within
from assistant.agent.system_prompt import cap_together
from assistant.agent.tools.own_tool import error_chunk, own_tool, text_chunk
from assistant.compaction.record import CompactionRecord
from assistant.compaction.summary.quoted_history import split_in_pieces, write_transcript
from assistant.config.prompts import render
from assistant.config.words import Language
from assistant.errors import ForgottenError, PalimpsestError, StepLimitError
from assistant.memory.admission import OWN_MEMORY_TOOLS, Admission, Admitted
from assistant.memory.code_note import note_by_code
from assistant.memory.line_edits import new_lines_of
from assistant.memory.log import Origin
from assistant.messages.blocks import Msg, ToolResultBlock, UserMsg, copy_with_blocks
from assistant.messages.events import FlushState
from assistant.messages.tokens import TokenCounter
from assistant.storage.journal.journal import Journal
from assistant.storage.journal.rebuild import messages_of, standing_ids
from assistant.storage.journal.rows import BlockRow, FlushRow
from assistant.storage.workspace import FILE_MAX_CHARS, MEMORY_FILES, Workspace

log = logging.getLogger(__name__)

FLUSH_NAME = "flush"
MAX_CALLS_A_PIECE = 3
NEWEST_MESSAGES = 20
"""Messages still in the context that are shown too, so that what was just decided is understood."""
PIECE_SECONDS = 300.0
_FILES_SHARE = 4
"""One part in so many of the window is for the memory files that are shown, and as much for one that is read."""
_KNOWN_NOTES = 3
"""The newest notes, whose texts are shown."""
_LISTED_NOTES = 30
"""The newest notes, whose names are shown: there is one for each day of many years."""


@dataclass(frozen=True, slots=True)
class FlushModel:
    """The model that writes memory, and what of its window a piece may take."""

    model: ChatModelBase
    window_tokens: int
    counter: TokenCounter


class Flusher:
    """Flushes compactions of one home. `model` is None where no fit model is set: then code writes the note."""

    def __init__(
        self,
        model: FlushModel | None,
        admission: Admission,
        journal: Journal,
        workspace: Workspace,
        language: Callable[[], Language],
        now: Callable[[], datetime],
    ) -> None:
        self._model = model
        self._admission = admission
        self._notes = admission.notes
        self._journal = journal
        self._workspace = workspace
        self._language = language
        self._now = now

    @property
    def language(self) -> Language:
        """The language of what is written now."""
        return self._language()

    async def flush(self, compaction: CompactionRecord) -> FlushState:
        """Write down what the compaction folded; the journal says how it ended. Never raises but on cancellation."""
        state: FlushState = "done"
        try:
            if self._model is None:
                self._note_by_code(compaction)
            else:
                await self._ask_model(self._model, compaction)
        except Exception:
            log.exception("the flush of compaction %s failed", compaction.compaction_id)
            state = "failed"
            self._note_after_failure(compaction)
        row = FlushRow(compaction.session_id, compaction.compaction_id, state, self._now().isoformat())
        try:
            self._journal.append([row])
        except (OSError, PalimpsestError):
            # Without this row it is taken up again at the next start.
            log.exception("the end of the flush of compaction %s could not be journalled", compaction.compaction_id)
        return state

    def pending(self, session_id: str, compaction_id: str | None) -> list[CompactionRecord]:
        """Compactions of a conversation whose flush was cut off, oldest first; its context builds on `compaction_id`.

        One that never took effect, or was taken back, is left out: a later one will fold the same messages.
        """
        rows = self._journal.rows(session_id)
        ended = {row.compaction_id for row in rows if isinstance(row, FlushRow)}
        due = standing_ids(rows, compaction_id) - ended
        return [row for row in rows if isinstance(row, CompactionRecord) and row.compaction_id in due]

    async def _ask_model(self, model: FlushModel, compaction: CompactionRecord) -> None:
        entries = write_transcript(self._messages(compaction))
        pieces = split_in_pieces(entries, model.window_tokens // 2, model.counter)
        for number, piece in enumerate(pieces, start=1):
            await self._flush_piece(model, compaction, piece, number, len(pieces))

    async def _flush_piece(
        self, model: FlushModel, compaction: CompactionRecord, piece: str, number: int, count: int
    ) -> None:
        language, today = self.language, self._now().date()
        names = [self._workspace.relative_name(path) for path in self._workspace.memory_files()]
        shown = {name: self._notes.read(name).text for name in names[: 3 + _KNOWN_NOTES]}
        max_tokens = model.window_tokens // _FILES_SHARE
        user = render(
            "flush_user",
            language,
            today=today.isoformat(),
            files=names[: 3 + _LISTED_NOTES],
            notes=cap_together(shown, language, max_tokens, model.counter.text),
            written=self._written(compaction),
            conversation=piece,
            number=number,
            count=count,
        )
        steps = StepHook(lambda: None, MAX_CALLS_A_PIECE)
        agent = build_agent(
            model.model,
            self._toolkit(model, compaction, language),
            AgentState(),
            [CallHook(self, rules=None), steps, NoCompression()],
            name=FLUSH_NAME,
            system_prompt=render("flush_system", language, today=today.isoformat()),
            is_sidecar=True,
        )
        await _run(agent, user)

    def _toolkit(self, model: FlushModel, compaction: CompactionRecord, language: Language) -> Toolkit:
        async def read(file: str) -> ToolChunk:
            try:
                text = self._notes.read(file).text
            except PalimpsestError as error:
                return error_chunk(str(error))
            max_tokens = model.window_tokens // _FILES_SHARE
            text = cap_together({file: text}, language, max_tokens, model.counter.text)[file]
            return text_chunk(text or render("memory_result", language, outcome="empty", name=file, place=file))

        async def add_lines(file: str, heading: str, lines: list[str], replaces: str | None = None) -> ToolChunk:
            origin = Origin(FLUSH_NAME, compaction.session_id, compaction_id=compaction.compaction_id)
            try:
                place = file if replaces else self._place_for(file, lines)
                new = lines if place == file else new_lines_of(self._notes.read(file).text, lines)
                admitted = (
                    self._admission.add_lines(place, heading, new, origin, replaces=replaces) if new else Admitted(None)
                )
            except PalimpsestError as error:
                return error_chunk(str(error))
            outcome = admitted.outcome(place)
            if outcome == "added" and place != file:
                outcome = "moved"
            elif outcome == "noted" and admitted.change:
                place = admitted.change.path
            return text_chunk(render("memory_result", language, outcome=outcome, name=file, place=place))

        return Toolkit(
            tools=[
                own_tool(read, render("tool_read_memory", language), is_read_only=True),
                own_tool(add_lines, render("tool_add_lines", language)),
            ]
        )

    def _place_for(self, name: str, lines: Sequence[str]) -> str:
        """The file; the day's note where one that is in every prompt would outgrow its cap."""
        if name not in MEMORY_FILES:
            return name
        added = sum(len(line) + len("- \n") for line in lines)
        is_room = len(self._notes.read(name).text) + added <= FILE_MAX_CHARS
        return name if is_room else f"memory/{_day(self._now())}.md"

    def _messages(self, compaction: CompactionRecord) -> list[Msg]:
        """The folded messages and the newest ones after them, as the journal has them."""
        rows = [row for row in self._journal.rows(compaction.session_id) if isinstance(row, BlockRow)]
        folded = set(compaction.keys)
        older = self._folded(compaction)
        start = next((place for place, row in enumerate(rows) if row.key in folded), 0)
        newer = messages_of([row for row in rows[start:] if row.key not in folded])
        return [_without_memory(message) for message in [*older, *newer[-NEWEST_MESSAGES:]]]

    def _folded(self, compaction: CompactionRecord) -> list[Msg]:
        folded = set(compaction.keys)
        rows = self._journal.rows(compaction.session_id)
        return messages_of([row for row in rows if isinstance(row, BlockRow) and row.key in folded])

    def _written(self, compaction: CompactionRecord) -> list[str]:
        """Lines this flush wrote before it was cut off."""
        return self._notes.log.added_lines(compaction.compaction_id)

    def _note_by_code(self, compaction: CompactionRecord) -> None:
        note = note_by_code(self._folded(compaction), compaction.summary, compaction.previous_summary)
        origin = Origin("program", compaction.session_id, compaction_id=compaction.compaction_id)
        name, language = f"memory/{_day(self._now())}.md", self.language
        for said in note.said:
            heading = render("note_by_code", language, kind="said", day=said.day)
            self._add(name, heading, said.lines, origin)
        self._add(name, render("note_by_code", language, kind="summary", day=""), note.summary, origin)

    def _add(self, name: str, heading: str, lines: Sequence[str], origin: Origin) -> None:
        try:
            if lines:
                self._notes.add_lines(name, heading, list(lines), origin)
        except ForgottenError:
            # All of it was forgotten since; what else there is to note is not.
            return

    def _note_after_failure(self, compaction: CompactionRecord) -> None:
        try:
            self._note_by_code(compaction)
        except (PalimpsestError, OSError):
            log.exception("the note of compaction %s could not be written", compaction.compaction_id)


async def _run(agent: Agent, user: str) -> None:
    try:
        await within(PIECE_SECONDS, agent.reply(UserMsg("user", user)))
    except StepLimitError:
        # The calls of a piece are used up; what was written stays.
        return


def _without_memory(message: Msg) -> Msg:
    """The message without what the tools on memory returned, which is memory already."""
    kept = [
        block
        for block in message.content
        if not (isinstance(block, ToolResultBlock) and block.name in OWN_MEMORY_TOOLS)
    ]
    return message if len(kept) == len(message.content) else copy_with_blocks(message, kept)


def _day(now: datetime) -> date:
    return now.date()
