"""The assistant's own tools on its memory: search it, read on in a file, save something at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from agentscope.tool import ToolBase, ToolChunk
from pydantic import Field

from assistant.agent.memory_room import SEARCH_TOKENS, MemoryRoom
from assistant.agent.session_state import SessionState
from assistant.agent.tools.own_tool import error_chunk, own_tool, text_chunk
from assistant.compaction.shorten.artifact_reference import rows_of
from assistant.config.prompts import render
from assistant.config.words import Language
from assistant.errors import PalimpsestError
from assistant.index.chunker import MEMORY_TOOLS
from assistant.index.memory_index import MemoryIndex
from assistant.memory.admission import Admission, Admitted
from assistant.memory.log import MemoryChange, Origin
from assistant.memory.notes import OWNER_WRITER
from assistant.messages.blocks import ToolResultBlock, block_text
from assistant.storage.artifacts import Artifacts
from assistant.storage.workspace import day_note

Category = Literal["about_person", "about_assistant", "lasting_fact", "how_to", "today"]
NamedCategory = Literal[
    "about_person",
    "about_assistant",
    "lasting_fact",
    "how_to",
    "today",
    "preference",
    "persona",
    "fact",
    "procedure",
    "context",
    "session_summary",
]
"""A category by its name, or by the one it had, which a model may have learnt from an older conversation."""

WRITER = "assistant"
_MAX_LINES = 400
_MAX_SEARCH_TOKENS = 20_000
_DIALOG = re.compile(r"dialog/\d{4}-\d{2}-\d{2}\.jsonl")
_LANGUAGES: tuple[Language, ...] = ("en", "zh")
_FILES: dict[Category, str] = {
    "about_person": "USER.md",
    "about_assistant": "SOUL.md",
    "lasting_fact": "MEMORY.md",
    "how_to": "MEMORY.md",
}


class MemoryTools:
    """What the model, and the person by commands, can do with memory in one conversation."""

    def __init__(
        self,
        state: SessionState,
        admission: Admission,
        index: MemoryIndex,
        artifacts: Artifacts,
        room: MemoryRoom,
        patience_seconds: float = 0.0,
    ) -> None:
        """`patience_seconds` is how long a search waits for an index that is only just being opened, beyond its own."""
        self.index = index
        self._state = state
        self.admission = admission
        """What lets the model's lines into memory."""
        self._notes = admission.notes
        self._artifacts = artifacts
        self._room = room
        self._patience_seconds = patience_seconds
        self._saved_turn_id = ""

    async def search(self, query: str, max_tokens: int = SEARCH_TOKENS, min_score: float = 0.1) -> str:
        """The passages as the model reads them: fenced, each with its file, lines and date, the best answers marked."""
        answer = await self.index.search_widely(query, min_score, self._patience_seconds)
        # They are found by the person alone.
        trashed_ids = self._state.journal.deleted_ids()
        hits = [hit for hit in answer.hits if hit.session_id not in trashed_ids]
        # What is in the context, the question itself above all, is no find.
        known_ids = {message.id for message in self._state.context}
        quotes = await self.index.quote(query, hits, self._room.for_search(max_tokens), known_ids)
        return render("memory_hits", self._state.language, quotes=quotes, notices=answer.notices, query=query)

    def read(self, path: str, from_line: int = 1, lines: int = _MAX_LINES) -> str:
        """Lines of a memory file, what was said on a day, or rows of the full text of a tool result, by number."""
        numbered = self._numbered(path)
        later = [row for row in numbered if row[0] >= from_line]
        shown = later[: min(max(1, lines), _MAX_LINES)]
        return render(
            "memory_lines",
            self._state.language,
            path=path,
            lines=shown,
            total=numbered[-1][0] if numbered else 0,
            next_line=later[len(shown)][0] if len(shown) < len(later) else None,
        )

    def save(self, content: str, named: NamedCategory = "lasting_fact", writer: str = WRITER) -> Admitted:
        """Add the content where its category belongs; what the person did not say may have to wait for them."""
        category = _category(named)
        file = _FILES.get(category, day_note(self._state.now().date()))
        heading = self._heading(self._notes.read(file).text, category)
        lines = [line.strip() for line in content.splitlines() if line.strip()]
        origin = Origin(writer, self._state.session_id, self._state.turn_id)
        if writer == OWNER_WRITER:
            return Admitted(self._notes.add_lines(file, heading, lines, origin))
        answered = self._answered()
        lines = [line for line in lines if _plain(line) not in answered]
        return self.admission.add_lines(file, heading, lines, origin) if lines else Admitted(None)

    def _answered(self) -> set[str]:
        """The lines that the memory tools answered in this conversation: a small model saves them as if just told."""
        blocks = (block for message in self._state.context for block in message.content)
        results = (block for block in blocks if isinstance(block, ToolResultBlock) and block.name in MEMORY_TOOLS)
        return {_plain(line) for result in results for line in block_text(result).splitlines()}

    def changes(self) -> list[MemoryChange]:
        """What was written to memory in this conversation, oldest first."""
        return self._notes.log.changes_in(self._state.session_id)

    def for_model(self) -> list[ToolBase]:
        """The three tools as the model calls them, described in the conversation's language."""

        async def memory_search(
            query: str,
            max_tokens: Annotated[int, Field(ge=100, le=_MAX_SEARCH_TOKENS)] = SEARCH_TOKENS,
            min_score: Annotated[float, Field(ge=0.0, le=1.0)] = 0.1,
        ) -> ToolChunk:
            return text_chunk(await self.search(query, max_tokens, min_score))

        async def memory_get(
            path: str, from_line: Annotated[int, Field(ge=1)] = 1, lines: Annotated[int, Field(ge=1, le=400)] = 100
        ) -> ToolChunk:
            try:
                return text_chunk(self.read(path, from_line, lines))
            except PalimpsestError as error:
                return error_chunk(str(error))

        async def memory_save(content: str, category: NamedCategory = "lasting_fact") -> ToolChunk:
            return self._save_for_model(content, category)

        language = self._state.language
        return [
            own_tool(memory_search, render("tool_memory_search", language), is_read_only=True),
            own_tool(memory_get, render("tool_memory_get", language), is_read_only=True),
            own_tool(memory_save, render("tool_memory_save", language)),
        ]

    def _save_for_model(self, content: str, category: NamedCategory) -> ToolChunk:
        """Save, but write only once a turn: each write changes the prompt, and the flush notes the rest."""
        name, turn_id = _FILES.get(_category(category), "memory/"), self._state.turn_id
        if turn_id and turn_id == self._saved_turn_id:
            return text_chunk(render("memory_result", self._state.language, outcome="once", name=name, place=name))
        try:
            admitted = self.save(content, category)
        except PalimpsestError as error:
            return error_chunk(str(error))
        place = name
        if admitted.change is not None:
            self._saved_turn_id, place = turn_id, admitted.change.path
        outcome = admitted.outcome(name)
        return text_chunk(render("memory_result", self._state.language, outcome=outcome, name=name, place=place))

    def _numbered(self, path: str) -> list[tuple[int, str]]:
        if _DIALOG.fullmatch(path):
            return [*self._said(path)]
        artifact_id = self._artifacts.id_in(path)
        if artifact_id is None:
            rows = self._notes.read(path).text.splitlines()
        else:
            rows = rows_of(self._artifacts.read(artifact_id))
        return [*enumerate(rows, 1)]

    def _said(self, path: str) -> Iterator[tuple[int, str]]:
        """The lines that a search can cite of a day, each with its number."""
        trashed_ids = self._state.journal.deleted_ids()
        for text in self.index.dialog(path):
            if text.session_id not in trashed_ids and text.name not in MEMORY_TOOLS:
                for line in f"{text.name or text.role}: {text.text}".splitlines():
                    yield text.line, line

    def _heading(self, text: str, category: Category) -> str:
        """The category's heading that the text has, in either language; else the one in the language of the talk."""
        language = self._state.language
        headings = [
            render("memory_heading", name, category=category) for name in sorted(_LANGUAGES, key=language.__ne__)
        ]
        return next((heading for heading in headings if f"# {heading}" in text), headings[0])


def _category(named: NamedCategory) -> Category:
    match named:
        case "preference":
            return "about_person"
        case "persona":
            return "about_assistant"
        case "fact":
            return "lasting_fact"
        case "procedure":
            return "how_to"
        case "context" | "session_summary":
            return "today"
        case _:
            return named


def _plain(line: str) -> str:
    return line.strip().lstrip("-*• ").casefold()
