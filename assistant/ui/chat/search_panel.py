"""The search box: places in memory files and past conversations, and how far the index has come."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from markupsafe import Markup

from assistant.config.words import say
from assistant.storage.journal.versions import version_of_message
from assistant.storage.sessions.session_head import SessionSummary
from assistant.ui.cards import card
from assistant.ui.safe_text import one_line
from assistant.ui.server.loading import Loaded
from assistant.ui.times import parse_time

if TYPE_CHECKING:
    # They bring the agent library and the index with them, which the page does not wait for.
    from assistant.assembly.assistant import Assistant
    from assistant.index.memory_index import IndexStatus, SearchAnswer
    from assistant.index.search import SearchHit

MAX_HITS = 12
MAX_QUERY_CHARS = 400
_SNIPPET_CHARS = 180
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    is_marked: bool


@dataclass(frozen=True, slots=True)
class _ShownHit:
    title: str
    where: str
    snippet: list[_Piece]
    action: str
    target: str
    is_further: bool = False
    """One more of the conversation above it, whose title stands there."""


async def find_html(assistant: Assistant, typed: str) -> str:
    """The hits for the words in the box; empty for an empty box."""
    query = one_line(typed, MAX_QUERY_CHARS)
    if not query:
        return ""
    found = await assistant.index.search(query, MAX_HITS)
    conversations = assistant.conversations
    return str(hits_html(query, found, conversations.summaries(), conversations.trashed()))


def hits_html(
    query: str, found: SearchAnswer, sessions: Sequence[SessionSummary], trashed: Sequence[SessionSummary] = ()
) -> Markup:
    """Hits, best first, each a button that leads to its place; what is in the trash is found until it is emptied."""
    titles = {session.session_id: one_line(session.title, 80) for session in sessions}
    titles |= {
        session.session_id: say("page", "in_the_trash", title=one_line(session.title, 80)) for session in trashed
    }
    hits = [
        replace(_shown(hit, titles, query), is_further=number > 0)
        for group in _by_conversation(found.hits)
        for number, hit in enumerate(group)
    ]
    return card("hits", query=query, hits=hits, notices=found.notices)


def index_html(state: IndexStatus) -> Markup:
    """How far the index has come, while it is not complete."""
    if not state.pending:
        return Markup("")
    return card("index_state", percent=int(100 * state.progress), pending=state.pending, notices=state.notices)


async def index_state_html(loaded: Loaded) -> str:
    """How far the index of an assistant has come."""
    return str(index_html(await asyncio.to_thread(loaded.assistant.index.status)))


def find_question(assistant: Assistant, session_id: str, message_ids: Sequence[str]) -> str:
    """The question that led to the first of these messages, or that it is; empty where the journal has none of them."""
    question_id, questions = "", dict[str, str]()
    for row in assistant.store.journal.rows(session_id, include_dropped=True):
        if row.kind == "block" and row.role == "user":
            question_id = row.message_id
        if row.kind == "block":
            questions.setdefault(row.message_id, question_id)
    return next((questions[message_id] for message_id in message_ids if message_id in questions), "")


def version_of_hit(assistant: Assistant, session_id: str, message_ids: Sequence[str]) -> int:
    """Which version of an answer or a message the first of these is in, from 1; 0 where it stands there."""
    rows = assistant.store.journal.rows(session_id, include_dropped=True)
    return version_of_message(rows, message_ids[0])


def hit_target(session_id: str, message_ids: Sequence[str]) -> str:
    """A place in a conversation as the target of a button."""
    return " ".join([session_id, *dict.fromkeys(identifier for identifier in message_ids if identifier)])


def _by_conversation(hits: Sequence[SearchHit]) -> list[list[SearchHit]]:
    """The hits of one conversation together, where its best one stands; each line of a memory file by itself."""
    groups: dict[str, list[SearchHit]] = {}
    for hit in hits:
        groups.setdefault(hit.session_id or f"{hit.path}:{hit.line}", []).append(hit)
    return list(groups.values())


def _marked(text: str, query: str) -> list[_Piece]:
    """The text in pieces, those marked that begin with a word of the query, in whatever case."""
    words = sorted(set(_WORD.findall(query)), key=len, reverse=True)
    if not words:
        return [_Piece(text, False)]
    # A word begins at a letter that none stands before; in Chinese every character may begin one.
    begins = re.compile("|".join(f"{_begin(word)}{re.escape(word)}" for word in words), re.IGNORECASE)
    pieces: list[_Piece] = []
    at = 0
    for found in begins.finditer(text):
        pieces += [_Piece(text[at : found.start()], False), _Piece(found[0], True)]
        at = found.end()
    return [piece for piece in (*pieces, _Piece(text[at:], False)) if piece.text]


def _begin(word: str) -> str:
    return r"(?<!\w)" if word[0].isascii() else ""


def _shown(hit: SearchHit, titles: dict[str, str], query: str) -> _ShownHit:
    snippet = _marked(one_line(hit.snippet, _SNIPPET_CHARS), query)
    place = f"{hit.path}:{hit.line}"
    if not hit.session_id:
        return _ShownHit(place, _day(hit.day), snippet, "open-hit", place)
    title = titles.get(hit.session_id) or say("page", "a_conversation")
    target = hit_target(hit.session_id, [hit.message_id, *hit.message_ids])
    return _ShownHit(title, _day(hit.day) or place, snippet, "open-message", target)


def _day(day: str) -> str:
    moment = parse_time(day)
    return "" if moment is None else f"{moment.day} {moment:%b %Y}"
