"""The sidecar agent that writes a stretch of conversation into SOUL.md, USER.md, MEMORY.md and the day's note.

The stretch is what a compaction folded, or what was said until a conversation was left. It is read from the journal;
the flush runs beside the conversation, and never delays or breaks it.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from agentscope.agent import Agent
from agentscope.model import ChatModelBase
from agentscope.state import AgentState
from agentscope.tool import ToolChunk, Toolkit

from assistant.agent.hooks.calls import CallHook
from assistant.agent.hooks.steps import StepHook
from assistant.agent.loop import build_agent
from assistant.agent.summariser import SILENT_SECONDS, NoCompression, while_heard
from assistant.agent.system_prompt import cap_together
from assistant.agent.tools.own_tool import error_chunk, own_tool, text_chunk
from assistant.compaction.summary.quoted_history import split_in_pieces, write_transcript
from assistant.config.prompts import render
from assistant.config.words import Language
from assistant.errors import ForgottenError, PalimpsestError, StepLimitError
from assistant.memory.admission import OWN_MEMORY_TOOLS, Admission
from assistant.memory.code_note import CodeNote, candidates_in, note_by_code, note_of_unfiled
from assistant.memory.log import Origin
from assistant.messages.blocks import Msg, ToolResultBlock, UserMsg, copy_with_blocks
from assistant.messages.events import FlushState
from assistant.messages.tokens import TokenCounter
from assistant.storage.journal.journal import Journal
from assistant.storage.journal.rebuild import messages_of
from assistant.storage.journal.rows import BlockRow, FlushRow, FlushStartRow, LeftRow, Row
from assistant.storage.journal.unwritten import Unwritten, left_stretch, pending_stretches, said_blocks
from assistant.storage.workspace import Workspace, day_note

log = logging.getLogger(__name__)

FLUSH_NAME = "flush"
MAX_CALLS_A_PIECE = 3
NEWEST_MESSAGES = 20
"""Messages still in the context that are shown too, so that what was just decided is understood."""
MAX_CUT_STARTS = 2
"""A flush that was cut off so often is written by code."""
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
    shares_machine: bool = False
    """True for a model on this machine, where a person who asks something would wait for the flush."""


FlushModelOf = Callable[[str], Awaitable[FlushModel | None]]
"""The model that may read a conversation, by its id; None where no fit one may."""


@dataclass(frozen=True, slots=True)
class _Material:
    """The messages that are to be written down, and all that is read of the conversation, an entry a block."""

    said: Sequence[Msg]
    entries: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of the conversation that one request can hold, and the person's statements in it."""

    text: str
    statements: tuple[str, ...]
    number: int = 1
    count: int = 1


@dataclass(slots=True)
class _Filing:
    """What came of a flush: a line that waits, or stands there already, was filed too."""

    has_filed: bool = False


class Flusher:
    """Flushes conversations of one home, each by its own model; where it has no fit one, code writes the note."""

    def __init__(
        self,
        model_of: FlushModelOf,
        admission: Admission,
        journal: Journal,
        workspace: Workspace,
        language: Callable[[], Language],
        now: Callable[[], datetime],
    ) -> None:
        self._model_of = model_of
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

    async def flush(self, stretch: Unwritten, model: FlushModel | None) -> FlushState:
        """Write the stretch down, by code without a model; the journal says how it ended.

        Never raises but on cancellation.
        """
        state: FlushState = "done"
        try:
            if not stretch.keys:
                state = "nothing"
            elif model is None or stretch.cut_starts >= MAX_CUT_STARTS:
                self._note_by_code(stretch)
            else:
                await self._ask_model(model, stretch)
            if state == "done" and not self._notes.log.added_lines(stretch.flush_id):
                state = "nothing"
        except Exception:
            log.exception("the flush %s failed", stretch.flush_id)
            state = "failed"
            self._note_after_failure(stretch)
        # Without this row it is taken up again at the next start.
        self._journal_row(FlushRow(stretch.session_id, stretch.flush_id, state, self._at()))
        return state

    async def begin(self, stretch: Unwritten) -> FlushModel | None:
        """The model that is to write the stretch down; None where no fit one may read it.

        The journal says that a model begins, so that it is known how often it was cut.
        """
        model = await self._model_of(stretch.session_id)
        if model is not None:
            self._journal_row(FlushStartRow(stretch.session_id, stretch.flush_id, self._at()))
        return model

    def begin_left(self, session_id: str, compaction_id: str | None) -> Unwritten | None:
        """What was said in a conversation since the last flush, which the journal names from now on.

        None where it is not worth a flush yet. The context is the one after the compaction `compaction_id`.
        """
        stretch = left_stretch(self._journal.rows(session_id, include_dropped=True), compaction_id)
        if stretch is not None:
            self._journal.append([LeftRow(session_id, stretch.flush_id, stretch.keys, self._at())])
        return stretch

    def pending(self, session_id: str, compaction_id: str | None) -> list[Unwritten]:
        """The flushes of a conversation that were cut off, oldest first; its context builds on `compaction_id`."""
        return pending_stretches(self._journal.rows(session_id), compaction_id)

    def has_ended(self, stretch: Unwritten) -> bool:
        """True where the journal has the end of the flush, which another process may have written."""
        rows = self._journal.rows(stretch.session_id)
        return any(isinstance(row, FlushRow) and row.compaction_id == stretch.flush_id for row in rows)

    def _journal_row(self, row: Row) -> None:
        try:
            self._journal.append([row])
        except (OSError, PalimpsestError):
            log.exception("a row of a flush could not be journalled")

    def _at(self) -> str:
        return self._now().isoformat()

    async def _ask_model(self, model: FlushModel, stretch: Unwritten) -> None:
        """Where the model files nothing although there are statements worth it, code writes them down."""
        read = self._material(stretch)
        pieces = _pieces(read, model)
        filing = _Filing()
        for number, piece in enumerate(pieces, start=1):
            await self._flush_piece(model, stretch, replace(piece, number=number, count=len(pieces)), filing)
        if not filing.has_filed and not self._written(stretch):
            self._write_note(stretch, note_of_unfiled(read.said, self._admission.filed_in(stretch.session_id)))

    async def _flush_piece(self, model: FlushModel, stretch: Unwritten, piece: _Piece, filing: _Filing) -> None:
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
            written=self._written(stretch),
            conversation=piece.text,
            number=piece.number,
            count=piece.count,
            statements=[*enumerate(piece.statements, 1)],
        )
        steps = StepHook(lambda: None, MAX_CALLS_A_PIECE)
        agent = build_agent(
            model.model,
            self._toolkit(model, stretch, language, filing),
            AgentState(),
            [CallHook(self, rules=None), steps, NoCompression()],
            name=FLUSH_NAME,
            system_prompt=render("flush_system", language, today=today.isoformat()),
            is_sidecar=True,
        )
        await _run(agent, user)

    def _toolkit(self, model: FlushModel, stretch: Unwritten, language: Language, filing: _Filing) -> Toolkit:
        async def read(file: str) -> ToolChunk:
            try:
                text = self._notes.read(file).text
            except PalimpsestError as error:
                return error_chunk(str(error))
            max_tokens = model.window_tokens // _FILES_SHARE
            text = cap_together({file: text}, language, max_tokens, model.counter.text)[file]
            return text_chunk(text or render("memory_result", language, outcome="empty", name=file, place=file))

        async def add_lines(
            file: str,
            heading: str,
            lines: list[str],
            replaces: str | None = None,
            numbers: list[int] | None = None,
        ) -> ToolChunk:
            origin = Origin(FLUSH_NAME, stretch.session_id, compaction_id=stretch.flush_id)
            try:
                admitted = self._admission.add_lines(file, heading, lines, origin, replaces=replaces)
            except PalimpsestError as error:
                return error_chunk(str(error))
            filing.has_filed = True
            place = admitted.change.path if admitted.change else file
            return text_chunk(render("memory_result", language, outcome=admitted.outcome(file), name=file, place=place))

        return Toolkit(
            tools=[
                own_tool(read, render("tool_read_memory", language), is_read_only=True),
                own_tool(add_lines, render("tool_add_lines", language)),
            ]
        )

    def _material(self, stretch: Unwritten) -> _Material:
        """The messages of the stretch and the newest ones after them, as the journal has them."""
        rows = [row for row in self._journal.rows(stretch.session_id) if isinstance(row, BlockRow)]
        keys = set(stretch.keys)
        said = self._stretch_messages(stretch)
        start = next((place for place, row in enumerate(rows) if row.key in keys), len(rows))
        newer = messages_of([row for row in rows[start:] if row.key not in keys])
        left_out = max(0, len(newer) - NEWEST_MESSAGES)
        entries = write_transcript([_without_memory(message) for message in said])
        if left_out:
            entries.append(render("flush_gap", self.language, count=left_out))
        entries += write_transcript([_without_memory(message) for message in newer[left_out:]])
        return _Material(said, entries)

    def _stretch_messages(self, stretch: Unwritten) -> list[Msg]:
        keys = set(stretch.keys)
        rows = said_blocks(self._journal.rows(stretch.session_id, include_dropped=True))
        return messages_of([row for row in rows if row.key in keys])

    def _written(self, stretch: Unwritten) -> list[str]:
        """Lines this flush wrote before it was cut off."""
        return self._notes.log.added_lines(stretch.flush_id)

    def _note_by_code(self, stretch: Unwritten) -> None:
        said, filed = self._stretch_messages(stretch), self._admission.filed_in(stretch.session_id)
        self._write_note(stretch, note_by_code(said, stretch.summary, stretch.previous_summary, filed))

    def _write_note(self, stretch: Unwritten, note: CodeNote) -> None:
        origin = Origin("program", stretch.session_id, compaction_id=stretch.flush_id)
        name, language = day_note(self._now().date()), self.language
        for said in note.said:
            heading = render("note_by_code", language, kind="said", day=said.day)
            self._add(name, heading, said.lines, origin)
        self._add(name, render("note_by_code", language, kind="summary", day=""), note.summary, origin)

    def _add(self, name: str, heading: str, lines: Sequence[str], origin: Origin) -> None:
        new = self._admission.without_known(name, lines, origin)
        try:
            if new:
                self._notes.add_lines(name, heading, new, origin)
        except ForgottenError:
            # All of it was forgotten since; what else there is to note is not.
            return

    def _note_after_failure(self, stretch: Unwritten) -> None:
        try:
            self._note_by_code(stretch)
        except (PalimpsestError, OSError):
            log.exception("the note of flush %s could not be written", stretch.flush_id)


def _pieces(read: _Material, model: FlushModel) -> list[_Piece]:
    """Each statement stands beside the part of the conversation in which it was said, or beside the last."""
    texts = split_in_pieces(read.entries, model.window_tokens // 2, model.counter)
    plain = [" ".join(text.split()) for text in texts]
    places: list[list[str]] = [[] for _ in texts]
    for statement in candidates_in(read.said):
        place = next((at for at, text in enumerate(plain) if statement.text in text), len(texts) - 1)
        places[place].append(statement.text)
    return [_Piece(text, tuple(statements)) for text, statements in zip(texts, places, strict=True)]


async def _run(agent: Agent, user: str) -> None:
    try:
        await while_heard(SILENT_SECONDS, agent.reply_stream(UserMsg("user", user)))
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
