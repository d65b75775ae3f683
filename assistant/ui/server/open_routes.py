"""What is open: every route, method and form of query that the page needs. Nothing else of Gradio's is reachable."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qsl

from assistant.agent.attachments.file_reading import MAX_FILE_BYTES
from assistant.config.settings import Settings

TabIn = Literal["nowhere", "query", "path", "body"]
"""Where a request names the tab it speaks for."""

# Gradio's client makes the name of a tab of Math.random.
_TAB = r"(?P<tab>[0-9a-z]{1,40})"
# A segment never begins with a dot, so a path never leaves its folder.
_FILE = r"(?:[\w-][\w.-]*/)*[\w-][\w.-]*"
# A conversation, and what the browser's theme switch and the frame of a private Space add to the address.
_PAGE_QUERY = frozenset({"c", "__theme", "__sign"})
_MAX_QUERY_CHARS = 4_096
MAX_GUEST_FILE_BYTES = 5_000_000
"""Of one attached file, where anybody may be a guest."""
_MAX_QUERY_FIELDS = 8


@dataclass(frozen=True, slots=True)
class Opening:
    """One route that is open to the methods listed, with no other query fields than those listed.

    `is_for_all` is true where a person is not known yet; all else is for people only. A body is read before the request
    goes on, but for one of up to `streamed_bytes` (0: none), which its route takes piece by piece.
    """

    methods: frozenset[str]
    path: re.Pattern[str]
    query: frozenset[str] = frozenset()
    tab_in: TabIn = "nowhere"
    is_for_all: bool = False
    streamed_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Entrance:
    """The opening that a request goes through, and the tab its address names; empty where it names none."""

    opening: Opening
    tab: str = ""


def _read(
    path: str, query: frozenset[str] = frozenset(), tab_in: TabIn = "nowhere", is_for_all: bool = False
) -> Opening:
    return Opening(frozenset({"GET", "HEAD"}), re.compile(path, re.ASCII), query, tab_in, is_for_all)


def _write(path: str, tab_in: TabIn = "nowhere", is_for_all: bool = False) -> Opening:
    return Opening(frozenset({"POST"}), re.compile(path, re.ASCII), _PAGE_QUERY, tab_in, is_for_all)


OPENINGS = (
    _read(r"/", _PAGE_QUERY, is_for_all=True),
    _read(rf"/assets/{_FILE}", is_for_all=True),
    _read(rf"/static/(?:fonts|img|js)/{_FILE}", is_for_all=True),
    _read(r"/theme\.css", frozenset({"v"}), is_for_all=True),
    _read(r"/favicon\.ico", is_for_all=True),
    _read(r"/manifest\.webmanifest", is_for_all=True),
    _read(r"/icons/(?:icon\.svg|(?:icon-192|icon-512|maskable-512)\.png)", is_for_all=True),
    _read(r"/health", is_for_all=True),
    _write(r"/login", is_for_all=True),
    _write(r"/logout"),
    # What a tab asks when its connection broke: whether the server is the same.
    _read(r"/gradio_api/app_id"),
    _write(r"/gradio_api/queue/join", tab_in="body"),
    _read(r"/gradio_api/queue/data", frozenset({"session_hash"}), tab_in="query"),
    _write(r"/gradio_api/run/predict", tab_in="body"),
    _read(rf"/gradio_api/heartbeat/{_TAB}", frozenset({"__sign"}), tab_in="path"),
    _write(r"/leave", tab_in="body"),
    # Whether there is news, and the words of an answer as they come.
    _read(r"/news", frozenset({"session_hash", "given", "edited", "shown"}), tab_in="query"),
    _read(r"/patches", frozenset({"session_hash", "version"}), tab_in="query"),
    # Gradio's own cancel is not here: a turn is stopped by an event of the page, which knows whose it is.
    # A file that a tab attaches, and one that it takes back.
    Opening(
        frozenset({"POST"}),
        re.compile(r"/attach"),
        frozenset({"session_hash", "name"}),
        "query",
        streamed_bytes=MAX_FILE_BYTES,
    ),
    _write(r"/detach", tab_in="body"),
    # A conversation as a file, out and in.
    _read(r"/export/(?:json|markdown)", frozenset({"session_hash", "c"}), tab_in="query"),
    Opening(
        frozenset({"POST"}), re.compile(r"/import"), frozenset({"session_hash"}), "query", streamed_bytes=MAX_FILE_BYTES
    ),
    # A picture of a conversation, for the person whose it is.
    _read(r"/pictures/[0-9a-f]{32}\.(?:png|jpg)", frozenset({"session_hash"}), tab_in="query"),
)
_TAB_NAME = re.compile(_TAB)


def max_file_bytes(settings: Settings) -> int:
    """How large an attached file may be."""
    return MAX_GUEST_FILE_BYTES if settings.has_guests else MAX_FILE_BYTES


def entrance(method: str, path: str, raw_path: bytes, query: bytes) -> Entrance | None:
    """Where a request comes in; None where nothing is open.

    `path` is what the router reads. A path that was written in any other way, with an escape say, is not open.
    """
    if raw_path != path.encode() or len(query) > _MAX_QUERY_CHARS:
        return None
    for opening in OPENINGS:
        match = opening.path.fullmatch(path)
        if match and method in opening.methods:
            return _with_query(opening, match.groupdict().get("tab", ""), query)
    return None


def is_tab_name(name: object) -> bool:
    """Whether Gradio's client could have made this name of a tab."""
    return isinstance(name, str) and _TAB_NAME.fullmatch(name) is not None


def _with_query(opening: Opening, tab: str, query: bytes) -> Entrance | None:
    try:
        fields = parse_qsl(query.decode("ascii"), keep_blank_values=True, max_num_fields=_MAX_QUERY_FIELDS)
    except ValueError:
        return None
    names = [name for name, _ in fields]
    if len(set(names)) != len(names) or not opening.query.issuperset(names):
        return None
    if opening.tab_in != "query":
        return Entrance(opening, tab)
    tab = dict(fields).get("session_hash", "")
    return Entrance(opening, tab) if is_tab_name(tab) else None
