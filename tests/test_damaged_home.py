"""Whatever stands in a home, every conversation that can be read goes on, and nothing waits for ever."""

from __future__ import annotations

import json
import os
import resource
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assistant.assembly.assistant import Assistant
from assistant.errors import SessionVersionError, WorkspaceError
from assistant.messages.events import Event, Notice, TurnFailed, TurnStarted
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import call, said_in, say, scripted_assistant, text

Damage = Callable[[Path], object]
SAID = ["What is a palimpsest?", "And a codex?"]
DEEP = b"[" * 200_000


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("whole") / "home"


async def make(home: Path) -> str:
    """A home with one conversation; its id."""
    async with scripted_assistant(home, ScriptedModel([[text("A page.")], [text("A book.")]])) as assistant:
        conversation = assistant.conversations.create()
        for question in SAID:
            await say(assistant, conversation, question)
        return conversation.session_id


async def go_on(assistant: Assistant, session_id: str) -> tuple[list[str], list[Event]]:
    """What was said before, and what another question tells."""
    conversation = assistant.conversations.open(session_id)
    past = [event.text for event in conversation.attach().history if isinstance(event, TurnStarted)]
    return past, await say(assistant, conversation, "Are you there?")


def session_file(home: Path) -> Path:
    return next((home / "sessions").glob("*.json"))


def journal_file(home: Path) -> Path:
    return next((home / "dialog").glob("*.jsonl"))


def clear_away(path: Path) -> Path:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    return path


def filled(find: Callable[[Path], Path], content: bytes) -> Damage:
    return lambda home: clear_away(find(home)).write_bytes(content)


def folder(find: Callable[[Path], Path]) -> Damage:
    return lambda home: clear_away(find(home)).mkdir()


def linked(find: Callable[[Path], Path], target: str) -> Damage:
    return lambda home: clear_away(find(home)).symlink_to(target)


def piped(find: Callable[[Path], Path]) -> Damage:
    return lambda home: os.mkfifo(clear_away(find(home)))


def named(name: str) -> Callable[[Path], Path]:
    return lambda home: home / name


def changed(**values: object) -> Damage:
    def change(home: Path) -> None:
        path = session_file(home)
        path.write_text(json.dumps({**json.loads(path.read_bytes()), **values}), encoding="utf-8")

    return change


def kept(**values: object) -> Damage:
    """What the agent's state keeps beside the messages."""
    return changed(agent_state={"middle_context": values})


def cut(find: Callable[[Path], Path], keep: float) -> Damage:
    return lambda home: os.truncate(find(home), int(find(home).stat().st_size * keep))


def more(content: bytes) -> Damage:
    return lambda home: journal_file(home).write_bytes(journal_file(home).read_bytes() + content)


HARMLESS: dict[str, Damage] = {
    "session: no JSON": filled(session_file, b"\0\xff"),
    "session: empty": filled(session_file, b""),
    "session: too deep": filled(session_file, DEEP),
    "session: cut": cut(session_file, 0.5),
    "session: a folder": folder(session_file),
    "session: a link to nothing": linked(session_file, "/nowhere/at/all"),
    "session: a pipe": piped(session_file),
    "session: wrong types": changed(content=[[1, 2], "x"], title=5, updated_at={}),
    "session: the agent's state is junk": changed(agent_state={"reply_id": ["x"], "permission_context": 5}),
    "session: the counts are junk": kept(provider_usage=[1], compaction_guards="x"),
    "session: the counts are words": kept(provider_usage={"reported_tokens": "x"}, compaction_guards={"paused": []}),
    "session: the beginning is junk": kept(prompt_basis=5, language=["en"], recalled_marks=[1]),
    "session: the beginning is another's": kept(prompt_basis={"day": "x", "digests": {"SOUL.md": "y"}}, language="xx"),
    "session: half a character": changed(title="\ud800"),
    "session: an id that climbs": changed(session_id="../../evil"),
    "session: unknown compaction": changed(compaction_id="nowhere"),
    "journal: lines of all kinds": more(b'\xff\n{}\n[]\nnull\n{"session_id":"x"}\n' + DEEP + b"\n"),
    "journal: zeros at the end": more(b"\0" * 5_000),
    "journal: cut": cut(journal_file, 0.98),
    "journal: twice": lambda home: journal_file(home).write_bytes(journal_file(home).read_bytes() * 2),
    "journal: odd names": lambda home: (home / "dialog" / "9999-99-99.jsonl").write_bytes(b"junk\n"),
    "journal: a folder of another day": lambda home: (home / "dialog" / "2001-01-01.jsonl").mkdir(),
    "memory log: a folder": folder(named("memory_log.jsonl")),
    "memory log: junk": filled(named("memory_log.jsonl"), b"\xff\n{}\n" + DEEP + b'\n{"path":5}\n'),
    "index: junk": filled(named("index/full_text.sqlite"), b"junk" * 5_000),
    "index: a folder": folder(named("index/full_text.sqlite")),
    "SOUL.md: a link": linked(named("SOUL.md"), "elsewhere.md"),
    "USER.md: a folder": folder(named("USER.md")),
    "USER.md: bytes": filled(named("USER.md"), bytes(range(256)) * 40),
    "USER.md: a pipe": piped(named("USER.md")),
    "pictures: a file": filled(named("pictures"), b"x"),
    "attached: a file": filled(named("files/attached"), b"x"),
    "attached: a link to nothing": linked(named("files/attached"), "/nowhere/at/all"),
    "AGENTS.md: a pipe": piped(named("AGENTS.md")),
    "memory: a link": linked(named("memory"), "files"),
    "a note: a folder": folder(named("memory/2026-11-30.md")),
    "a note: a pipe": piped(named("memory/2026-11-30.md")),
    "owner: junk": filled(named("owner.json"), b"\xff"),
    "owner: a pipe": piped(named("owner.json")),
}


@pytest.mark.skipif(os.name == "nt", reason="links and pipes")
@pytest.mark.parametrize("damage", HARMLESS.values(), ids=HARMLESS.keys())
async def test_a_damaged_file_stops_no_conversation(home: Path, damage: Damage) -> None:
    session_id = await make(home)
    damage(home)
    async with scripted_assistant(home, ScriptedModel([[text("Yes.")]]), memory="on") as assistant:
        assert session_id in {summary.session_id for summary in assistant.conversations.summaries()}
        past, told = await go_on(assistant, session_id)
    assert (past, said_in(told)) == (SAID, "Yes.")


@pytest.mark.parametrize(
    "damage",
    [filled(session_file, b"junk"), cut(session_file, 0.5), cut(session_file, 0.97), filled(session_file, b"")],
    ids=["junk", "half", "all but its end", "empty"],
)
async def test_a_session_file_that_was_made_again_is_told_once_and_kept(home: Path, damage: Damage) -> None:
    session_id = await make(home)
    damage(home)
    damaged = session_file(home).read_bytes()
    heard: list[list[str]] = []
    for _ in range(2):
        async with scripted_assistant(home, ScriptedModel([[text("Yes.")]])) as assistant:
            conversation = assistant.conversations.open(session_id)
            kept = [event.text for event in conversation.kept if isinstance(event, Notice)]
            heard.append([words for words in kept if "made again from the journal" in words])
            past, told = await go_on(assistant, session_id)
            assert (past[:2], said_in(told)) == (SAID, "Yes.")
    (aside,) = (home / "trash").glob("*.damaged")
    assert aside.read_bytes() == damaged
    assert [len(words) for words in heard] == [1, 0]
    assert f"kept as trash/{aside.name}" in heard[0][0]


FATAL: dict[str, Damage] = {
    name: filled(named(name), b"x") for name in ("sessions", "dialog", "memory", "files", "trash", "index")
} | {"owner.json": folder(named("owner.json"))}


@pytest.mark.parametrize("damage", FATAL.values(), ids=FATAL.keys())
async def test_a_home_that_cannot_be_one_is_named_in_one_line(home: Path, damage: Damage) -> None:
    await make(home)
    damage(home)
    with pytest.raises(WorkspaceError, match=r"The home .* cannot be used: .* Set PALIMPSEST_HOME") as caught:
        async with scripted_assistant(home, ScriptedModel([])):
            pass
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("version", [99, "x", None, -1.5])
async def test_a_session_of_another_version_is_refused_and_left_as_it_is(home: Path, version: object) -> None:
    session_id = await make(home)
    changed(version=version)(home)
    content = session_file(home).read_bytes()
    async with scripted_assistant(home, ScriptedModel([])) as assistant:
        with pytest.raises(SessionVersionError):
            assistant.conversations.open(session_id)
    assert session_file(home).read_bytes() == content


async def test_a_home_may_be_called_anything(tmp_path: Path) -> None:
    home = tmp_path / """it's 我的 "home" $(x) ; & %s {} #""" / "home"
    session_id = await make(home)
    listing = call("Bash", '{"command": "pwd"}', "call_pwd00000001")
    async with scripted_assistant(home, ScriptedModel([[listing], [text("Yes.")]]), memory="on") as assistant:
        past, told = await go_on(assistant, session_id)
    assert (past, said_in(told)) == (SAID, "Yes.")


@contextmanager
def full_disk(max_bytes: int) -> Generator[None]:
    """No file may grow beyond `max_bytes`; the system says so as it does of a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("max_bytes", [0, 100, 700, 2_000, 6_000])
async def test_a_full_disk_loses_nothing_and_is_told(home: Path, max_bytes: int) -> None:
    session_id = await make(home)
    saving = call("memory_save", json.dumps({"content": "Likes tea. " * 900}), "call_save0000001")
    async with scripted_assistant(home, ScriptedModel([[saving], [text("Yes.")]] * 2), memory="on") as assistant:
        conversation = assistant.conversations.open(session_id)
        with full_disk(max_bytes):
            told = await say(assistant, conversation, "Is there room?")
        assert [event for event in told if isinstance(event, Notice | TurnFailed)]
        again = await say(assistant, conversation, "And now?")
    async with scripted_assistant(home, ScriptedModel([[text("Yes.")]]), memory="on") as assistant:
        past, told = await go_on(assistant, session_id)
    assert said_in(again) == "Yes."
    assert [question for question in past if question != "Is there room?"] == [*SAID, "And now?"]
    assert said_in(told) == "Yes."
