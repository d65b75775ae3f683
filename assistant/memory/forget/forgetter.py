"""One fact out of everything: found by its words, ticked by the person, gone from every place, with a receipt."""

from __future__ import annotations

import asyncio
import json
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import TypeAdapter, ValidationError

from assistant.config.plain_reasons import plain_reason
from assistant.config.words import say
from assistant.errors import IndexingError, PalimpsestError
from assistant.index.memory_index import MemoryIndex
from assistant.memory.forget.places import ForgetPlace, Gone, Places
from assistant.memory.forgotten import ForgottenLines
from assistant.storage.atomic_io import replace_text
from assistant.storage.sessions.sessions import Sessions
from assistant.storage.workspace import Workspace
from assistant.text.passages import Fit, PassageSet, Wanted, passages_of

_ALL = ("all", "全部", "都")
_NUMBERS = re.compile(r"\s*#?\d{1,4}(?:\s*[-,，、 ]\s*#?\d{1,4})*\s*")
_RANGE = re.compile(r"(\d+)(?:\s*-\s*(\d+))?")


@dataclass(frozen=True, slots=True)
class ForgetItem:
    """One sentence or line that can be forgotten, as it is in the first of its places."""

    key: str
    text: str
    fit: Fit
    places: tuple[ForgetPlace, ...]


@dataclass(frozen=True, slots=True)
class ForgetPreview:
    """What was found: sentences with the words as they were typed first, then those with all of the words."""

    wanted: str
    items: tuple[ForgetItem, ...]

    @property
    def exact(self) -> tuple[ForgetItem, ...]:
        """The sentences with the words as they were typed."""
        return tuple(item for item in self.items if item.fit == "exact")


@dataclass(frozen=True, slots=True)
class Receipt:
    """What went where, and whether anything is still to be done."""

    passages: int
    gone: tuple[Gone, ...]
    notices: tuple[str, ...] = ()


@dataclass(slots=True)
class _Intent:
    """What is on disk from the decision until all is done."""

    at: str
    keys: list[str] = field(default_factory=list[str])


_INTENT: TypeAdapter[_Intent] = TypeAdapter(_Intent)


def find_passages(places: Places, text: str) -> ForgetPreview:
    """Every sentence of the home in which the words of `text` stand, once, with all its places."""
    wanted = Wanted(text)
    if not wanted.sentences:
        raise PalimpsestError(say("memory", "forget_what"))
    found: dict[str, list[ForgetPlace]] = defaultdict(list)
    first: dict[str, str] = {}
    fits: dict[str, Fit] = {}
    for placed in places.texts(wanted.touches):
        for passage in passages_of(placed.text):
            if fit := wanted.fit(passage.key):
                fits[passage.key] = fit
                first.setdefault(passage.key, passage.text)
                found[passage.key].append(placed.place)
    items = [ForgetItem(key, first[key], fits[key], tuple(places)) for key, places in found.items()]
    return ForgetPreview(text, tuple(sorted(items, key=lambda item: item.fit != "exact")))


class ForgetFiles:
    """Forgets in the files of one home. From `begin` on it is decided: a kill changes when it is done, not whether."""

    def __init__(
        self, workspace: Workspace, places: Places, forgotten: ForgottenLines, now: Callable[[], datetime]
    ) -> None:
        self._path = workspace.forget_path
        self._places = places
        self._forgotten = forgotten
        self._now = now

    def begin(self, keys: Sequence[str]) -> None:
        """Write down what is to be forgotten, beside what was not finished."""
        pending = self._read()
        intent = {"at": self._now().isoformat(), "keys": sorted({*keys, *(pending.keys if pending else ())})}
        replace_text(self._path, json.dumps(intent, ensure_ascii=False))

    def carry_out(self) -> list[Gone]:
        """Take what was written down out of every file; nothing where nothing was."""
        intent = self._read()
        if intent is None:
            return []
        self._forgotten.add(intent.keys, intent.at)
        gone = self._places.forget(PassageSet(intent.keys))
        self._places.remove_temporary_files(self._now())
        return gone

    @property
    def is_pending(self) -> bool:
        """True from `begin` to `end`."""
        return self._path.exists()

    def end(self) -> None:
        """The index has let go of it too: nothing is left to be done."""
        self._path.unlink(missing_ok=True)

    def _read(self) -> _Intent | None:
        try:
            return _INTENT.validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            return None


class Forgetter:
    """Finds and forgets in one home that this process owns."""

    def __init__(
        self,
        *,
        places: Places,
        files: ForgetFiles,
        sessions: Sessions,
        index: MemoryIndex,
        stop: Callable[[], Awaitable[None]],
    ) -> None:
        """`stop` closes every conversation: what a model was told before must not be written after."""
        self._places = places
        self._files = files
        self._sessions = sessions
        self._index = index
        self._stop = stop
        self._lock = asyncio.Lock()
        self._offered: dict[str, ForgetPreview] = {}

    async def find(self, text: str) -> ForgetPreview:
        """What can be forgotten; nothing is changed."""
        return await asyncio.to_thread(find_passages, self._places, text)

    def offer(self, session_id: str, preview: ForgetPreview) -> None:
        """Remember what a conversation was shown, so that its numbers can be answered."""
        self._offered[session_id] = preview

    def offered(self, session_id: str) -> ForgetPreview | None:
        """What a conversation was shown last and has not answered."""
        return self._offered.get(session_id)

    async def forget(self, items: Sequence[ForgetItem]) -> Receipt:
        """Take these sentences out of every place.

        Raises `PalimpsestError` where another process has a conversation open, which could write them again, and where
        the disk refused; the latter goes on at the next start.
        """
        async with self._lock:
            await self._stop()
            if self._sessions.are_open_elsewhere():
                raise PalimpsestError(say("memory", "forget_open_elsewhere"))
            self._offered.clear()
            self._files.begin([item.key for item in items])
            try:
                # Not in a thread: no conversation may be opened while its file is half done.
                gone = self._files.carry_out()
            except OSError as error:
                raise PalimpsestError(say("memory", "forget_unfinished", reason=plain_reason(error))) from None
            return Receipt(len(items), tuple(gone), await self.clear_index())

    async def clear_index(self) -> tuple[str, ...]:
        """Let the index forget what is in no file any more; notices where it could not."""
        try:
            await self._index.purge()
        except IndexingError as error:
            return (say("memory", "forget_index_holds", error=error),)
        self._files.end()
        return ()


def chosen_items(preview: ForgetPreview, answer: str, max_items: int) -> list[ForgetItem]:
    """The items of those shown that an answer such as `1 3`, `2-4` or `all` names; none for anything else."""
    shown = preview.items[:max_items]
    if answer.strip().casefold() in _ALL:
        return list(shown)
    if not _NUMBERS.fullmatch(answer):
        return []
    chosen: set[int] = set()
    for first, last in _RANGE.findall(answer):
        chosen.update(range(int(first), int(last or first) + 1))
    known = set(range(1, len(shown) + 1))
    return [shown[number - 1] for number in sorted(chosen)] if chosen <= known else []


def preview_lines(preview: ForgetPreview, max_items: int) -> list[str]:
    """The sentences, numbered, each with the number of its places and the first of them."""
    lines: list[str] = []
    for number, item in enumerate(preview.items[:max_items], 1):
        shown = ", ".join(dict.fromkeys(_place_text(place) for place in item.places[:3]))
        more = say("memory", "forget_more_places", count=len(item.places) - 3) if len(item.places) > 3 else ""
        lines.append(f"{number}. {item.text}\n   {shown}{more}")
    if len(preview.items) > max_items:
        lines.append(say("memory", "forget_more_items", count=len(preview.items) - max_items))
    return lines


def receipt_text(receipt: Receipt) -> str:
    """What went where, in words."""
    places = [f"{gone.count} × {_gone_text(gone)}" for gone in receipt.gone]
    sentences = say("memory", "one_sentence" if receipt.passages == 1 else "sentences", count=receipt.passages)
    head = say("memory", "forgotten", sentences=sentences)
    went = say("memory", "forget_gone_from", places="; ".join(places)) if places else say("memory", "forget_nowhere")
    rest = receipt.notices or (say("memory", "forget_index_clear"),)
    return "\n".join([head, went, *rest])


def _place_text(place: ForgetPlace) -> str:
    return f"{place.name}:{place.line} ({place.kind})" if place.line else f"{place.name} ({place.kind})"


def _gone_text(gone: Gone) -> str:
    return f"{gone.name} ({gone.kind})"
