"""What one conversation is: its session, its agent's state, and the one order in which both change on disk.

The order is journal → session file → the agent's state. Nothing here awaits, so no cancellation can fall between two of
its steps. Where a step fails, the state before it holds.
"""

from __future__ import annotations

import itertools
import logging
import uuid
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from agentscope.state import AgentState
from pydantic import TypeAdapter, ValidationError

from assistant.agent.frozen_prompt import FrozenPrompt
from assistant.agent.kept_values import kept_value
from assistant.compaction.budget import Guards
from assistant.compaction.pins import Pin, pins_to_quote, write_summary_message
from assistant.compaction.record import CompactionRecord
from assistant.config.clock import Clock
from assistant.config.prompts import language_of
from assistant.config.words import Language, say
from assistant.errors import PalimpsestError, SessionNotFoundError
from assistant.index.left_out import sentence_marks
from assistant.messages.blocks import (
    BlockKey,
    DataBlock,
    Msg,
    TextBlock,
    UserMsg,
    block_keys,
    block_text,
    copy_with_blocks,
    text_of,
)
from assistant.messages.events import FinishReason, Recalled, RecalledLine
from assistant.messages.hints import without_hints, without_recalled, without_trailing_hints
from assistant.storage.allowed_calls import Allowance
from assistant.storage.journal.journal import Journal
from assistant.storage.journal.rebuild import complete_messages, messages_of, since_clear
from assistant.storage.journal.rows import (
    BlockRow,
    DroppedRow,
    DropReason,
    ProfileChosenRow,
    QueuedRow,
    RecalledRow,
    RecallRefusedRow,
    Row,
    ShownRow,
    TurnEndRow,
    UndoneRow,
    UnwrittenRow,
)
from assistant.storage.journal.versions import ToldRows, Versions, dropped_keys, told_rows
from assistant.storage.message_healing import heal
from assistant.storage.sessions.session_file import Session
from assistant.storage.sessions.sessions import Sessions
from assistant.storage.workspace import Workspace

_GUARDS_KEY = "compaction_guards"
_USAGE_KEY = "provider_usage"
_GUARDS: TypeAdapter[Guards] = TypeAdapter(Guards)
_ALLOWED_KEY = "allowed_calls"
_ALLOWED: TypeAdapter[tuple[Allowance, ...]] = TypeAdapter(tuple[Allowance, ...])
_LANGUAGE_MESSAGES = 5
"""The newest messages of the person, whose language is that of the conversation."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Usage:
    """The provider's count of the last request, and what our vocabulary counted for it; 0 and 0 while none is known."""

    reported_tokens: int = 0
    counted_tokens: int = 0


_USAGE: TypeAdapter[Usage] = TypeAdapter(Usage)


class SessionState:
    """The state of one session, and its commits; all that works on the conversation shares it."""

    def __init__(
        self,
        session: Session,
        workspace: Workspace,
        journal: Journal,
        sessions: Sessions,
        clock: Clock,
        set_language: Language | None,
    ) -> None:
        """`set_language` wins over the language that the person writes in."""
        self.session = session
        self.workspace = workspace
        self.journal = journal
        self.agent_state = _restored(session)
        self.frozen_prompt = FrozenPrompt(self.agent_state)
        """What requests begin with until the next compaction."""
        self._sessions = sessions
        self._clock = clock
        self._set_language: Language | None = set_language
        self._known_pins: dict[BlockKey, Pin] = {}
        self._refused_marks: frozenset[str] | None = None
        self.draft = sessions.draft(session.session_id)
        """What is streamed now, for the case of a kill."""
        self.is_remembered = False
        """True where what is said is to be written to memory once the conversation is left."""
        self.sees_pictures = True
        """False where it is known that the model that answers takes no pictures."""
        self.agent_state.session_id = session.session_id
        if self.frozen_prompt.language is None and session.messages:
            # Written before a language was kept.
            self.frozen_prompt.renew(self._language_of(self.context))
        self.agent_state.summary = self.render_summary(session.summary, self.context)

    @property
    def session_id(self) -> str:
        """Names the conversation for ever."""
        return self.session.session_id

    @property
    def context(self) -> list[Msg]:
        """The messages in the agent's context."""
        return self.agent_state.context

    @property
    def turn_id(self) -> str:
        """The id of the newest question, which names its turn; empty before the first."""
        return next((message.id for message in reversed(self.context) if message.role == "user"), "")

    @property
    def language(self) -> Language:
        """The language that is set, else the one of what was said first, or lately before the last compaction."""
        return self._set_language or self.frozen_prompt.language or language_of(self.session.summary)

    @property
    def next_language(self) -> Language:
        """The language from the next compaction on: that is set, else that of what the person said lately."""
        return self._set_language or self._language_of(self.context)

    def _language_of(self, messages: Sequence[Msg]) -> Language:
        asked = (message for message in reversed(messages) if message.role == "user")
        newest = itertools.islice(asked, _LANGUAGE_MESSAGES)
        said = "\n".join(text_of(message) for message in newest)
        return language_of(said or self.session.summary)

    @property
    def guards(self) -> Guards:
        """What holds the next compaction back; saved with the agent's state."""
        return kept_value(self.agent_state, _GUARDS_KEY, _GUARDS) or Guards()

    @guards.setter
    def guards(self, guards: Guards) -> None:
        self.agent_state.middle_context[_GUARDS_KEY] = asdict(guards)

    @property
    def usage(self) -> Usage:
        """What the provider counted last; saved with the agent's state, so that a new start knows it."""
        return kept_value(self.agent_state, _USAGE_KEY, _USAGE) or Usage()

    @usage.setter
    def usage(self, usage: Usage) -> None:
        self.agent_state.middle_context[_USAGE_KEY] = asdict(usage)

    @property
    def allowances(self) -> tuple[Allowance, ...]:
        """What the person allowed in this conversation, oldest first; none where it cannot be read."""
        return kept_value(self.agent_state, _ALLOWED_KEY, _ALLOWED) or ()

    def keep_allowances(self, allowances: Sequence[Allowance]) -> None:
        """These, and no others, are allowed in this conversation from now on, also after the next start."""
        self.agent_state.middle_context[_ALLOWED_KEY] = _ALLOWED.dump_python(tuple(allowances), mode="json")
        self._save(self._current())

    @property
    def profile(self) -> str:
        """The profile that is to answer; empty: what the settings say."""
        return self.session.profile

    def choose_profile(self, name: str) -> None:
        """This profile is to answer from now on; where nothing was said yet, that is written before the first word."""
        after = replace(self._current(), profile=name)
        if self.journal.knows(self.session_id):
            self.journal.append([ProfileChosenRow(self.session_id, name, self.at())])
            self._save(after)
        self.session = after

    def now(self) -> datetime:
        """The time now where the person is."""
        return self._clock.now()

    def at(self) -> str:
        """The time now, as rows, records and events write it."""
        return self.now().isoformat(timespec="milliseconds")

    def queue(self, message: Msg) -> None:
        """A message that has to wait is on disk at once; `waiting` finds it until its turn begins."""
        rows = [
            QueuedRow(self.session_id, message.id, message.name, block, self.at(), message.created_at)
            for block in message.content
            if isinstance(block, TextBlock | DataBlock)
        ]
        self._write_first_profile()
        self.journal.append(rows)

    def waiting(self) -> list[Msg]:
        """The queued messages whose turn never began, oldest first."""
        rows = since_clear(self.journal.rows(self.session_id, include_dropped=True))
        gone = {row.key for row in rows if isinstance(row, BlockRow)}
        gone |= dropped_keys(rows)
        queued: dict[str, list[QueuedRow]] = {}
        for row in rows:
            if isinstance(row, QueuedRow) and row.key not in gone:
                queued.setdefault(row.message_id, []).append(row)
        return [_message_of(rows) for rows in queued.values()]

    def start_turn(self, *messages: Msg) -> None:
        """The user's message is in the journal, and then in the context, before anything is done with it.

        The first one decides in which language the conversation is held until the next compaction.
        """
        if not self.context and not self.session.summary:
            self.frozen_prompt.renew(self._language_of(messages))
        self._write_first_profile()
        # What healing put into the context comes first: it belongs to an older message.
        write = self.journal.commit_due if self.is_remembered else self.journal.append_missing
        write(self.session_id, self.session.user_id, [*self.context, *messages])
        self.context.extend(messages)

    def keep(self) -> None:
        """Every block so far is in the journal, and the session file holds the context as it is."""
        self.journal.append_missing(self.session_id, self.session.user_id, self.context)
        self._save(self._current())

    def recall(self, recalled: Recalled) -> None:
        """The journal says what is handed over for the turn that begins; it is never part of the conversation."""
        self.journal.append([RecalledRow(self.session_id, recalled.lines, self.at(), recalled.tokens)])

    def refuse_recall(self, line: RecalledLine) -> None:
        """Keep what a passage says out of recall from now on, also after the next start; what it came with leaves."""
        row = RecallRefusedRow(self.session_id, line.mark, sentence_marks(line.text), self.at())
        self.journal.append([row])
        self._refused_marks = self.refused_marks() | set(row.sentence_marks)
        self.agent_state.context = without_hints(self.context, self.frozen_prompt.hints_with(row.sentence_marks))
        self._save(self._current())

    def leave_recalled(self) -> None:
        """What was recalled leaves the context, for some of it is not to be had any more."""
        self.agent_state.context = without_recalled(self.context)
        self._save(self._current())

    def refused_marks(self) -> frozenset[str]:
        """The marks of all sentences that are kept out of recall."""
        if self._refused_marks is None:
            rows = self.journal.rows(self.session_id, include_dropped=True)
            refused = (row for row in rows if isinstance(row, RecallRefusedRow))
            self._refused_marks = frozenset(mark for row in refused for mark in row.sentence_marks)
        return self._refused_marks

    def end_turn(self, turn_id: str, reason: FinishReason, error: str = "") -> None:
        """Like `keep`, and the journal says how the turn ended."""
        row = TurnEndRow(self.session_id, turn_id, reason, error, self.at())
        self.journal.commit(self.session_id, self.session.user_id, self.context, [row])
        self._save(self._current())

    def commit_compaction(self, record: CompactionRecord, messages: Sequence[Msg]) -> None:
        """The record and all it folded are in the journal, then the session file and the state hold what is left."""
        self.journal.commit(self.session_id, self.session.user_id, self.context, [record])
        self.frozen_prompt.renew(self.next_language)
        after = replace(
            self._current(), messages=list(messages), summary=record.summary, compaction_id=record.compaction_id
        )
        self._save(after)
        self._swap(after)

    def replace_messages(self, messages: Sequence[Msg]) -> None:
        """The same blocks, some of them shortened; what they said in full is in the journal or an artifact already."""
        self.keep()
        self.agent_state.context = list(messages)

    def messages_before(self, compaction: CompactionRecord) -> list[Msg]:
        """The context as it would be without the newest compaction: what that folded comes back from the journal."""
        self.journal.append_missing(self.session_id, self.session.user_id, self.context)
        return complete_messages(self.context, self._rows(), compaction.parent_id)

    def undo_compaction(self, compaction: CompactionRecord, messages: Sequence[Msg]) -> None:
        """The journal says that the newest compaction was taken back, then these messages are the context."""
        undone = UndoneRow(self.session_id, compaction.compaction_id, self.at())
        self.journal.commit(self.session_id, self.session.user_id, self.context, [undone])
        self.frozen_prompt.renew(self._language_of(messages))
        after = replace(
            self._current(),
            messages=without_hints(messages),
            summary=compaction.previous_summary,
            compaction_id=compaction.parent_id,
        )
        self._save(after)
        self._swap(after)

    def newest_compaction(self) -> CompactionRecord | None:
        """The record under the present summary; None when there is none."""
        for row in reversed(self._rows()):
            if isinstance(row, CompactionRecord) and row.compaction_id == self.session.compaction_id:
                return row
        return None

    def drop(self, keys: Sequence[BlockKey], reason: DropReason) -> None:
        """Blocks leave the context; the journal keeps them and says that they left.

        What was recalled for a question leaves with it.
        """
        self._write_dropped(keys, reason)
        self._leave(replace(self._current(), messages=self._messages_without(keys)))

    def show_version(self, versions: Versions, number: int) -> None:
        """Version `number` (from 1) stands in place of the one that stands now, from the journal; that one stays there.

        Raises `PalimpsestError` for no such version, and where what stands there was compacted meanwhile.
        """
        left = versions.tails[versions.shown]
        if not 1 <= number <= len(versions.tails):
            raise PalimpsestError(say("conversation", "no_such_version", number=number, count=len(versions.tails)))
        if not set(left) <= set(block_keys(self.context)):
            raise PalimpsestError(say("conversation", "version_folded"))
        keys = versions.tails[number - 1]
        rows: list[Row] = [ShownRow(self.session_id, keys, left, self.at())]
        if self.is_remembered and not self.journal.open_flush_id(self.session_id):
            rows.insert(0, UnwrittenRow(self.session_id, uuid.uuid4().hex, self.at()))
        self.journal.commit(self.session_id, self.session.user_id, self.context, rows)
        back = [row for row in self._rows() if isinstance(row, BlockRow) and row.key in keys]
        self._leave(replace(self._current(), messages=[*self._messages_without(left), *heal(messages_of(back))]))

    def told(self) -> ToldRows:
        """The rows of the conversation as it reads now, and which parts of it have several versions."""
        return told_rows(self.journal.rows(self.session_id, include_dropped=True))

    def clear(self) -> None:
        """Everything leaves the context, the summary too."""
        self._write_dropped(block_keys(self.context), "clear")
        self._leave(replace(self._current(), messages=[], summary="", compaction_id=None))

    def rename(self, title: str) -> None:
        """Give the conversation a title."""
        after = replace(self._current(), title=title)
        self._save(after)

    def put_on_top(self, is_on_top: bool) -> None:
        """Keep the conversation above the others in the list, or no longer."""
        # Before anything was said there is no file; the first save has it.
        with suppress(SessionNotFoundError):
            self._sessions.put_on_top(self.session_id, is_on_top)
        self.session = replace(self.session, is_on_top=is_on_top)

    def pin(self, keys: Sequence[BlockKey]) -> None:
        """These blocks, and no others, are pinned from now on."""
        after = replace(self._current(), pins=tuple(keys))
        self._save(after)
        self._swap(after)

    def pins_of(self, keys: Sequence[BlockKey]) -> list[Pin]:
        """The blocks of these keys as pins, in the order of the keys; a key the journal does not know is left out."""
        if not self._known_pins.keys() >= set(keys):
            # A row never changes, so the journal is read for pins that are new, not at every check.
            rows = self.journal.rows(self.session_id, include_dropped=True)
            found = [row for row in rows if isinstance(row, BlockRow) and row.key in keys]
            self._known_pins |= {row.key: Pin(row.key, row.role, row.at, block_text(row.block)) for row in found}
        return [self._known_pins[key] for key in keys if key in self._known_pins]

    def render_summary(self, summary: str, messages: Sequence[Msg]) -> str:
        """What the model reads before the messages: the summary, and the pins that are not among them."""
        pins = self.pins_of(self.session.pins)
        return write_summary_message(summary, pins_to_quote(pins, messages), self.language)

    def _write_first_profile(self) -> None:
        """The journal says who answers before it has a word, so that nobody else is given that word after a kill."""
        if self.profile and not self.journal.knows(self.session_id):
            self.journal.append([ProfileChosenRow(self.session_id, self.profile, self.at())])

    def _write_dropped(self, keys: Sequence[BlockKey], reason: DropReason) -> None:
        row = DroppedRow(self.session_id, tuple(keys), reason, self.at())
        self.journal.commit(self.session_id, self.session.user_id, self.context, [row])

    def _messages_without(self, keys: Collection[BlockKey]) -> list[Msg]:
        messages = [_without(message, set(keys)) for message in self.context]
        return without_trailing_hints([message for message in messages if message.content])

    def _leave(self, after: Session) -> None:
        """A `dropped` row counts without the session file, so the state follows it even where the file cannot."""
        self.session = after
        self._swap(after)
        self._save(after)

    def _current(self) -> Session:
        rest = self.agent_state.model_dump(
            mode="json",
            # What the Read tool cached is read again when needed; it can be many megabytes.
            exclude={"context": True, "summary": True, "tool_context": {"read_file_cache"}},
        )
        return replace(self.session, messages=list(self.context), agent_state=rest, updated_at=self.at())

    def _save(self, session: Session) -> None:
        self._sessions.save(session)
        self.session = session

    def _swap(self, session: Session) -> None:
        self.agent_state.context = list(session.messages)
        self.agent_state.summary = self.render_summary(session.summary, self.context)

    def _rows(self) -> list[Row]:
        return self.journal.rows(self.session_id)


def _message_of(rows: Sequence[QueuedRow]) -> Msg:
    first = rows[0]
    return UserMsg(first.name, [row.block for row in rows], id=first.message_id, created_at=first.created_at)


def _without(message: Msg, gone: set[BlockKey]) -> Msg:
    kept = [block for block in message.content if BlockKey(message.id, block.type, block.id) not in gone]
    return message if len(kept) == len(message.content) else copy_with_blocks(message, kept)


def _restored(session: Session) -> AgentState:
    """The agent's state as the session file holds it; what was recalled stays before its question, and only there."""
    context = without_trailing_hints(session.messages)
    try:
        return AgentState.model_validate({**session.agent_state, "context": context})
    except ValidationError:
        # The words are what counts; the rest is the agent's own and is made again.
        log.warning("the agent's state of conversation %s is damaged and begins empty", session.session_id)
        return AgentState(context=context)
