"""The player behind the page of the browser tests: what it answers is named by the first word of the message.

Anything but these words is echoed; summaries and connection tests are written from the request alone,
and a flush finds nothing to write.
"""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Callable, Mapping, Sequence

from tests.fakes.hostile import HOSTILE
from tests.fakes.players import RuleBasedPlayer, newest_said
from tests.fakes.wire import ChatRequest, Reply, ReplyCall

_STREAMED_WORDS = (
    "after", "again", "along", "always", "anchor", "autumn", "basket", "before", "bicycle", "boat", "bread", "bridge",
    "candle", "captain", "city", "cloud", "coast", "coffee", "corner", "dinner", "early", "evening", "ferry", "garden",
    "harbour", "island", "journey", "kitchen", "ladder", "lantern", "letter", "market", "meadow", "midnight", "morning",
    "mountain", "north", "ocean", "orange", "paper", "pebble", "quarter", "quiet", "railway", "river", "roof", "sailor",
    "salt", "season", "shadow", "silver", "slowly", "south", "station", "stone", "storm", "summer", "sunrise", "café",
    "thunder", "ticket", "tower", "travel", "under", "valley", "village", "voyage", "waiting", "water", "渡船",
)  # fmt: skip


def _streamed_part(number: int) -> str:
    """A heading, words, a list, code and a table; no two parts are alike, as what repeats itself packs too well."""
    chosen = random.Random(number)

    def words(count: int = 1) -> str:
        return " ".join(chosen.choices(_STREAMED_WORDS, k=count))

    return (
        f"## {words(4)}\n\n{words(9)} **{words(2)}** {words(7)}, and `{words()} --{words()} {number}` {words(16)}. "
        f"{words(13)}.\n\n- {words(3)}\n- {words(5)}\n- {words(4)}\n\n"
        f"```python\ndef {words()}(count: float) -> float:\n    return count * {number + 60}\n```\n\n"
        f"| {words()} | {words()} | {words()} |\n|---|---|---:|\n| {words()} | {words()} | {number} |\n"
        f"| {words()} | {words()} | 1 |\n\n"
    )


STREAMED_TEXT = "".join(map(_streamed_part, range(40)))
STREAMED_PIECES = 200
ANSWER_WITH_TABLE = (
    "Friday is free after **15:00**, so I suggest 15:30:\n\n1. Leave at 14:30\n2. Tram 12 to Langstrasse\n"
    "3. Back by 17:00\n\n```python\ndef minutes(hours: int, rest: int) -> int:\n\treturn hours * 60 + rest\n"
    "html = '<b>bold</b>'\n```\n\n今天的日程已更新。\n\n| Day | Free from |\n|---|---|\n| Thursday | – |\n"
    "| Friday | 15:00 |"
)
RISKY_COMMAND = "rm -rf build/ && echo $$ done"
MAX_STEPS = 4
"""The limit that the page's assistant has for a turn."""
WENT_ON = "Going on where it was cut."
_GO_ON = re.compile(r"Go on from where you stopped")

Scenario = Callable[["PagePlayer", ChatRequest, str], Reply]


class PagePlayer:
    """Answers by the first word. A slow answer waits for `gate`; `summaries_asked` says how each was asked for."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self._rules = RuleBasedPlayer()
        self.summaries_asked: list[str] = []
        self._has_failed = False

    def __call__(self, request: ChatRequest) -> Reply:
        if "memory_save" not in request.tools:
            return self._by_rules(request)
        if _GO_ON.search(request.last_user):
            return Reply(text=WENT_ON)
        said = newest_said(request)
        scenario = _SCENARIOS.get(said.split(maxsplit=1)[0].lower().rstrip(":,"), _echo)
        return scenario(self, request, said)

    def fail_once(self) -> Reply:
        """An answer that breaks off, and the next time one that does not."""
        self._has_failed = not self._has_failed
        if self._has_failed:
            return Reply(text="I was just about to say how it goes.", breaks_after_chunks=3)
        return Reply(text="The second try worked.")

    def _by_rules(self, request: ChatRequest) -> Reply:
        """What is not a turn of a conversation; a summary of a hostile one is hostile too."""
        if "add_lines" in request.tools:
            return Reply(text="NO_REPLY")
        reply = self._rules(request)
        if not request.tools:
            self.summaries_asked.append(request.last_user)
        if "## " in reply.text and "hostile please" in request.last_user:
            return Reply(text=re.sub(r"^- ", f"- {HOSTILE.splitlines()[0]} ", reply.text, flags=re.MULTILINE))
        return reply


def _echo(player: PagePlayer, request: ChatRequest, said: str) -> Reply:
    return Reply(text=f"You said: **{said}**")


def _answer(player: PagePlayer, request: ChatRequest, said: str) -> Reply:
    """What comes behind the first word, as it is."""
    words = said.partition(" ")[2]
    return Reply(text=words, chunk_chars=max(20, len(words) // 100))


def _stream(player: PagePlayer, request: ChatRequest, said: str) -> Reply:
    """Twenty pieces a second of a long answer."""
    return Reply(text=STREAMED_TEXT, chunk_chars=-(-len(STREAMED_TEXT) // STREAMED_PIECES), chunk_seconds=0.05)


def _slow(player: PagePlayer, request: ChatRequest, said: str) -> Reply:
    return Reply(text="It begins … and it goes on, and it ends.", gate=player.gate)


def _tools(player: PagePlayer, request: ChatRequest, said: str) -> Reply:
    if request.results_since_user():
        return Reply(text=ANSWER_WITH_TABLE)
    return Reply(
        thinking="The person wants Friday. I look into the notes and the calendar first.",
        calls=(
            ReplyCall("memory_search", {"query": "dentist"}),
            ReplyCall("Bash", {"command": "cat calendar/friday.md"}),
            ReplyCall("Read", {"file_path": "calendar/missing.md"}),
        ),
    )


def _full(player: PagePlayer, request: ChatRequest, said: str) -> Reply:
    """A result that is too long to be kept whole."""
    return _one_call(request, ReplyCall("Bash", {"command": "cat all.txt"}), "That is all of it.")


def _approve(player: PagePlayer, request: ChatRequest, said: str) -> Reply:
    if results := request.results_since_user():
        is_done = results[-1].rstrip().endswith("done")
        return Reply(text="Done: the build folder is gone." if is_done else "All right, I leave it as it is.")
    return Reply(text="I would tidy the build folder.", calls=(ReplyCall("Bash", {"command": RISKY_COMMAND}),))


def _edit(player: PagePlayer, request: ChatRequest, said: str) -> Reply:
    """A change to the file that is named behind the first word."""
    path = said.partition(" ")[2]
    change: dict[str, object] = {
        "file_path": path,
        "old_string": "Dentist on Thursday",
        "new_string": "Dentist on Friday",
    }
    return _one_call(request, ReplyCall("Edit", change), "The plan says Friday now.")


def _remember(player: PagePlayer, request: ChatRequest, said: str) -> Reply:
    """Notes what comes behind the first word."""
    line = said.partition(" ")[2]
    return _one_call(
        request, ReplyCall("memory_save", {"content": line, "category": "preference"}), "I wrote that down."
    )


def _guess(player: PagePlayer, request: ChatRequest, said: str) -> Reply:
    """Notes two things about the person that nobody said."""
    save: dict[str, object] = {"content": "Collects stamps\nPlays chess", "category": "preference"}
    return _one_call(request, ReplyCall("memory_save", save), "I wrote down what I think of you.")


def _hostile(player: PagePlayer, request: ChatRequest, said: str) -> Reply:
    calls: Sequence[ReplyCall] = (
        ReplyCall("<img src=x onerror=window.pwned=8>", {"command": "<b>x</b>"}),
        ReplyCall("memory_save", {"content": HOSTILE.splitlines()[0], "category": "fact"}),
        ReplyCall("Bash", {"command": "cat hostile.txt"}),
    )
    results = request.results_since_user()
    return Reply(thinking=HOSTILE, text=HOSTILE, calls=() if results else tuple(calls))


def _fail(player: PagePlayer, request: ChatRequest, said: str) -> Reply:
    return player.fail_once()


def _refuse(player: PagePlayer, request: ChatRequest, said: str) -> Reply:
    """What a provider answers whose key is wrong or whose quota is used up, as the second word says."""
    if "quota" in said:
        return Reply(status=429, text="You exceeded your current quota.", error_code="insufficient_quota")
    return Reply(status=401, text="Incorrect API key provided.", error_code="invalid_api_key")


def _cut(player: PagePlayer, request: ChatRequest, said: str) -> Reply:
    """An answer that reaches the limit of what a model may write."""
    return Reply(text="The first of ten reasons is the sea, and the second", is_cut=True)


def _long(player: PagePlayer, request: ChatRequest, said: str) -> Reply:
    """A command of many lines, of which the card shows a part."""
    lines = "\n".join(f"rm -rf build/part-{number}" for number in range(400))
    return _one_call(request, ReplyCall("Bash", {"command": lines}), "All right, I leave them as they are.")


def _steps(player: PagePlayer, request: ChatRequest, said: str) -> Reply:
    """Looks at one part after the other, until the turn was cut and goes on."""
    count = len(request.results_since_user())
    if count >= MAX_STEPS:
        return Reply(text=WENT_ON)
    text = "I have read 40 of 90 files." if not count else ""
    return Reply(text=text, calls=(ReplyCall("Bash", {"command": f"head -n {count + 1} calendar/friday.md"}),))


def _one_call(request: ChatRequest, call: ReplyCall, text: str) -> Reply:
    return Reply(text=text) if request.results_since_user() else Reply(calls=(call,))


_SCENARIOS: Mapping[str, Scenario] = {
    "answer": _answer,
    "slow": _slow,
    "stream": _stream,
    "tools": _tools,
    "full": _full,
    "approve": _approve,
    "edit": _edit,
    "remember": _remember,
    "guess": _guess,
    "hostile": _hostile,
    "fail": _fail,
    "steps": _steps,
    "refuse": _refuse,
    "cut": _cut,
    "long": _long,
}
