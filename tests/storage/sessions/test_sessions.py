"""Sessions: what is in a context survives crashes, damage, other people's files and other programs' versions."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from assistant.errors import SessionError, SessionInUseError, SessionNotFoundError, SessionVersionError
from assistant.messages.blocks import (
    AssistantMsg,
    BlockKey,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
    block_keys,
)
from assistant.storage.journal.journal import Journal, artifact_ids_of
from assistant.storage.journal.rows import BlockRow, DroppedRow, Row
from assistant.storage.sessions.early_list import listed_by_files
from assistant.storage.sessions.session_file import Session
from assistant.storage.sessions.session_head import SessionSummary
from assistant.storage.sessions.sessions import Sessions
from assistant.storage.workspace import Workspace
from tests.fakes.children import started
from tests.fakes.records import folding

NOON = datetime(2026, 5, 2, 12, 0, tzinfo=timezone(timedelta(hours=8)))
AT = "2026-05-02T12:00:00.000+08:00"
CREATED = "2026-05-02T12:00:00"


class Home:
    """A workspace with a journal and sessions on a clock that is set by hand."""

    def __init__(self, folder: Path) -> None:
        self.workspace = Workspace(folder)
        self.time = NOON
        self.journal = Journal(self.workspace, lambda: self.time)
        self.sessions = Sessions(self.workspace, self.journal, lambda: self.time)

    def path(self, name: str = "owner_s.json") -> Path:
        return self.workspace.sessions_folder / name

    def files(self) -> list[str]:
        return sorted(path.name for path in self.workspace.sessions_folder.glob("*.json"))

    def journalled(self, session: Session) -> Session:
        self.journal.append_missing(session.session_id, session.user_id, session.messages)
        self.sessions.save(session)
        return session


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def question(number: int, text: str = "") -> Msg:
    block = TextBlock(id=f"q{number}", text=text or f"question {number}", created_at=CREATED)
    return UserMsg("user", [block], id=f"user-{number}", created_at=CREATED)


def answer(number: int) -> Msg:
    thinking = ThinkingBlock(id=f"t{number}", thinking="hm", created_at=CREATED)
    call = ToolCallBlock(id="c", name="Bash", input="{}", state=ToolCallState.FINISHED, created_at=CREATED)
    result = ToolResultBlock(
        id="c", name="Bash", output="out", state=ToolResultState.SUCCESS, created_at=CREATED, finished_at=CREATED
    )
    text = TextBlock(id=f"a{number}", text=f"answer {number}", created_at=CREATED)
    return AssistantMsg("palimpsest", [thinking, call, result, text], id=f"reply-{number}", created_at=CREATED)


def turns(*numbers: int) -> list[Msg]:
    return [message for number in numbers for message in (question(number), answer(number))]


def session_of(*numbers: int, session_id: str = "s") -> Session:
    return Session("owner", session_id, messages=turns(*numbers))


def test_a_session_is_loaded_as_it_was_saved(home: Home) -> None:
    session = session_of(1, 2)
    session.summary, session.compaction_id = "earlier: tea", "c1"
    session.agent_state = {"permission_context": {"mode": "default"}, "numbers": [1, 2.5, None]}
    session.pins = (BlockKey("user-1", "text", "q1"),)
    home.sessions.save(session)
    assert home.sessions.load("s") == session
    assert (session.title, session.updated_at) == ("question 1", AT)


def test_the_file_says_what_the_design_says(home: Home) -> None:
    home.sessions.save(replace(session_of(), messages=[question(1)], summary="old", compaction_id="c"))
    stored = json.loads(home.path().read_bytes())
    assert list(stored) == [
        "version",
        "user_id",
        "session_id",
        "title",
        "updated_at",
        "is_on_top",
        "content",
        "_compressed_summary",
        "compaction_id",
        "pins",
        "agent_state",
    ]
    assert stored["content"] == [[question(1).model_dump(mode="json"), []]]
    assert home.path().stat().st_mode & 0o777 == 0o600


def test_a_new_conversation_has_an_id_of_its_own_and_no_file_until_it_is_saved(home: Home) -> None:
    first, second = home.sessions.create(), home.sessions.create("  About\n tea ")
    assert first.session_id != second.session_id
    assert (second.title, second.user_id, second.messages) == ("About tea", "owner", [])
    assert home.sessions.list() == []


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("  two\n\tlines ", "two lines"),
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 59 + "…"),
        ("春眠不觉晓" * 20, "春眠不觉晓" * 11 + "春眠不觉…"),
        (" ", ""),
    ],
    ids=["one line", "fits", "cut", "chinese", "blank"],
)
def test_the_title_is_what_the_person_said_first(home: Home, said: str, title: str) -> None:
    session = Session("owner", "s", messages=[question(1, said)])
    home.sessions.save(session)
    assert session.title == title


def test_a_file_older_than_the_journal_is_completed_from_it(home: Home) -> None:
    home.journalled(session_of(1))
    home.journal.append_missing("s", "owner", turns(1, 2))
    assert home.sessions.load("s").messages == turns(1, 2)


def test_a_result_shortened_in_context_stays_short(home: Home) -> None:
    session = home.journalled(session_of(1))
    block = session.messages[1].content[2].model_copy(update={"output": "o…"})
    session.messages[1] = session.messages[1].model_copy(
        update={"content": [*answer(1).content[:2], block, answer(1).content[3]]}
    )
    home.sessions.save(session)
    assert home.sessions.load("s").messages == session.messages


def test_a_missing_file_is_rebuilt_from_the_journal(home: Home) -> None:
    session = home.journalled(session_of(1, 2, 3))
    home.journal.append([folding("c1", None, turns(1), AT)])
    shutil.rmtree(home.workspace.sessions_folder)
    assert home.sessions.list() == [SessionSummary("s", "owner", "question 1", AT, has_file=False)]
    assert home.sessions.load("s") == replace(session, messages=turns(2, 3), summary="summary c1", compaction_id="c1")


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"[]", b"\x00" * 500, b'{"version": 1, "session_id": "s"}', b'{"version": 1, "session_id": "s", "x'],
    ids=["empty", "cut", "no object", "zeros", "nothing in it", "cut later"],
)
def test_a_damaged_file_is_rebuilt_and_the_next_save_is_whole(home: Home, damage: bytes) -> None:
    session = home.journalled(session_of(1, 2))
    home.path().write_bytes(damage)
    loaded = home.sessions.load("s")
    assert loaded == session
    assert home.path().read_bytes() == damage
    home.sessions.save(loaded)
    assert home.files() == ["owner_s.json"]
    assert Home(home.workspace.root).sessions.load("s") == session


def test_a_file_cut_anywhere_loses_no_message(home: Home) -> None:
    session = home.journalled(session_of(1, 2))
    whole = home.path().read_bytes()
    for size in range(0, len(whole), 97):
        home.path().write_bytes(whole[:size])
        assert home.sessions.load("s").messages == session.messages
        assert [line.session_id for line in home.sessions.list()] == ["s"]


def test_damage_without_a_journal_is_told(home: Home) -> None:
    home.sessions.save(session_of(1))
    home.path().write_bytes(home.path().read_bytes()[:300])
    with pytest.raises(SessionError, match="is damaged, and the journal has nothing"):
        home.sessions.load("s")


def test_garbage_behind_a_valid_file_is_damage_and_is_healed(home: Home) -> None:
    session = home.journalled(session_of(1))
    home.path().write_bytes(home.path().read_bytes() + b'"tail"}')
    assert home.sessions.load("s").messages == session.messages


def test_a_newer_version_is_refused_and_left_untouched(home: Home) -> None:
    home.journalled(session_of(1))
    content = home.path().read_bytes().replace(b'"version":1', b'"version":99')
    home.path().write_bytes(content)
    for act in (
        lambda: home.sessions.load("s"),
        lambda: home.sessions.save(session_of(2)),
        lambda: home.sessions.rename("s", "new"),
    ):
        with pytest.raises(SessionVersionError, match="99"):
            act()
    assert home.path().read_bytes() == content
    assert [line.title for line in home.sessions.list()] == ["question 1"]


def test_an_unknown_conversation_is_not_found(home: Home) -> None:
    for act in (home.sessions.load, home.sessions.trash, home.sessions.restore):
        with pytest.raises(SessionNotFoundError):
            act("nobody")


@pytest.mark.parametrize(
    "session_id", ["../../evil", "/etc/passwd", "a/b", "..", "", "a\0b", "é\ud800", "x" * 300, "CON:"]
)
def test_no_session_id_leaves_the_folder(home: Home, session_id: str) -> None:
    session = home.journalled(replace(session_of(1), session_id=session_id, user_id="../../" + session_id))
    outside = [path for path in home.workspace.root.parent.rglob("*") if path.is_file()]
    assert all(path.is_relative_to(home.workspace.root) for path in outside)
    assert len(home.files()) == 1
    assert home.sessions.load(home.sessions.list()[0].session_id).messages == session.messages
    with home.sessions.open_lock(session_id):
        pass


def test_ids_are_read_from_inside_the_file_and_never_from_its_name(home: Home) -> None:
    home.journalled(session_of(1))
    home.path().rename(home.path("owner_other.json"))
    assert home.sessions.list() == [SessionSummary("s", "owner", "question 1", AT, has_file=True)]
    session = home.sessions.load("s")
    session.messages += turns(2)
    home.sessions.save(session)
    assert home.files() == ["owner_other.json"]

    home.sessions.save(session_of(3, session_id="other"))
    assert len(home.files()) == 2
    assert home.sessions.load("other").messages == turns(3)
    assert home.sessions.load("s").messages == turns(1, 2)


def test_a_folder_where_the_file_should_be_does_not_stop_a_save(home: Home) -> None:
    home.path().mkdir(parents=True)
    session = home.journalled(session_of(1))
    assert home.sessions.load("s") == session
    assert home.path().is_dir()


def test_a_call_that_a_crash_cut_off_is_paired(home: Home) -> None:
    cut = answer(2).model_copy(update={"content": answer(2).content[:2]})
    home.journalled(replace(session_of(1), messages=[*turns(1), question(2), cut]))
    last = home.sessions.load("s").messages[-1].content[-1]
    assert isinstance(last, ToolResultBlock)
    assert (last.id, last.state, last.output) == ("c", ToolResultState.INTERRUPTED, "[interrupted]")


def test_a_parked_approval_is_still_parked(home: Home) -> None:
    call = ToolCallBlock(id="c", name="Bash", input="{}", state=ToolCallState.ASKING, created_at=CREATED)
    parked = AssistantMsg("palimpsest", [call], id="reply-1", created_at=CREATED)
    home.journalled(replace(session_of(), messages=[question(1), parked]))
    assert home.sessions.load("s").messages[-1].content == [call]
    home.path().unlink()
    assert home.sessions.load("s").messages[-1].content == [call]


def test_a_record_that_the_file_does_not_reach_never_happened(home: Home) -> None:
    session = home.journalled(session_of(1, 2))
    home.journal.append([folding("killed", None, turns(1), AT)])
    assert home.sessions.load("s") == session


def test_folded_messages_do_not_come_back_where_the_record_was_lost(home: Home) -> None:
    home.journalled(session_of(1, 2))
    home.time = NOON + timedelta(days=1)
    home.journal.commit("s", "owner", turns(3), [folding("c1", None, turns(1, 2), AT)])
    home.sessions.save(replace(session_of(3), summary="summary c1", compaction_id="c1"))
    (home.workspace.dialog_folder / "2026-05-03.jsonl").unlink()
    loaded = home.sessions.load("s")
    assert (loaded.messages, loaded.summary) == (turns(3), "summary c1")


def test_a_clear_that_the_file_does_not_know_yet_counts_with_its_summary(home: Home) -> None:
    home.journal.commit("s", "owner", turns(1, 2), [folding("c1", None, turns(1), AT)])
    home.sessions.save(replace(session_of(2), summary="summary c1", compaction_id="c1"))
    home.journal.append([DroppedRow("s", tuple(block_keys(turns(2))), "clear", AT)])
    loaded = home.sessions.load("s")
    assert (loaded.messages, loaded.summary, loaded.compaction_id) == ([], "", None)


def test_the_list_is_made_from_the_files_newest_first(home: Home) -> None:
    for minutes, name in enumerate(["a", "b", "c"]):
        home.time = NOON + timedelta(minutes=minutes)
        home.sessions.save(replace(session_of(1), session_id=name, title=f"About {name}"))
    home.time = NOON + timedelta(minutes=9)
    home.sessions.save(replace(session_of(1), session_id="a", title="About a"))
    home.path("owner_broken.json").write_bytes(b"{")
    home.path("readme.json").write_bytes(b"[1]")
    home.path("owner_folder.json").mkdir()
    assert [(line.session_id, line.title, line.has_file) for line in home.sessions.list()] == [
        ("a", "About a", True),
        ("c", "About c", True),
        ("b", "About b", True),
    ]


def test_a_copied_file_is_listed_once(home: Home) -> None:
    home.sessions.save(session_of(1))
    shutil.copy(home.path(), home.path("copy.json"))
    assert [line.session_id for line in home.sessions.list()] == ["s"]


def test_a_head_longer_than_what_is_read_first_is_read_whole(home: Home) -> None:
    home.sessions.save(replace(session_of(1), user_id="u" * 9000))
    assert [line.user_id for line in home.sessions.list()] == ["u" * 9000]


def test_a_renamed_conversation_keeps_its_name_when_the_running_one_saves(home: Home) -> None:
    session = home.journalled(session_of(1))
    home.sessions.rename("s", "Tea  plans")
    assert home.sessions.load("s").title == "Tea plans"
    home.sessions.save(session)
    assert home.sessions.list()[0].title == "Tea plans"
    assert Home(home.workspace.root).sessions.load("s").title == "Tea plans"


def test_a_conversation_put_on_top_stays_there_after_a_start_and_keeps_its_time(home: Home) -> None:
    home.journalled(session_of(1))
    before = home.sessions.load("s")
    home.sessions.put_on_top("s", True)
    on_top = SessionSummary("s", "owner", "question 1", AT, has_file=True, is_on_top=True)
    assert home.sessions.list() == [on_top]
    assert listed_by_files(home.workspace.root) == [on_top]
    assert home.sessions.load("s") == replace(before, is_on_top=True)
    home.sessions.save(replace(home.sessions.load("s"), messages=turns(2)))
    assert [one.is_on_top for one in home.sessions.list()] == [True]
    home.sessions.put_on_top("s", False)
    assert [one.is_on_top for one in home.sessions.list()] == [False]


def test_a_file_of_an_older_program_is_put_on_top_in_its_head(home: Home) -> None:
    home.journalled(session_of(200))
    values = json.loads(home.path().read_bytes())
    del values["is_on_top"]
    home.path().write_text(json.dumps(values, separators=(",", ":")), "utf-8")
    assert [one.is_on_top for one in home.sessions.list()] == [False]
    home.sessions.put_on_top("s", True)
    assert home.path().read_bytes().index(b'"is_on_top":true') < home.path().read_bytes().index(b'"content"')
    assert [one.is_on_top for one in home.sessions.list()] == [True]


def test_a_conversation_without_a_file_can_be_renamed(home: Home) -> None:
    home.journal.append_missing("s", "owner", turns(1))
    home.sessions.rename("s", "Tea")
    assert Home(home.workspace.root).sessions.load("s").title == "Tea"


def test_a_conversation_without_a_file_can_be_deleted_right_after_a_start(home: Home) -> None:
    home.journal.append_missing("s", "owner", turns(1))
    started = Home(home.workspace.root)
    started.sessions.trash("s")
    assert (started.sessions.list(), [one.session_id for one in started.sessions.trashed()]) == ([], ["s"])


def test_a_deleted_conversation_is_gone_until_it_is_restored(home: Home) -> None:
    session = home.journalled(session_of(1))
    home.sessions.trash("s")
    assert (home.sessions.list(), home.files()) == ([], [])
    assert home.sessions.trashed() == [SessionSummary("s", "owner", "question 1", AT, has_file=True)]
    with pytest.raises(SessionNotFoundError):
        home.sessions.load("s")

    home.sessions.restore("s")
    assert home.sessions.load("s") == session
    assert home.sessions.trashed() == []
    assert home.files() == ["owner_s.json"]


def test_a_conversation_deleted_twice_is_restored_as_it_was_last(home: Home) -> None:
    session = home.journalled(session_of(1))
    home.sessions.trash("s")
    home.sessions.restore("s")
    session.messages += turns(2)
    home.journalled(session)
    home.sessions.trash("s")
    home.sessions.restore("s")
    assert home.sessions.load("s").messages == turns(1, 2)


def test_a_kill_between_the_deleted_row_and_the_move_leaves_it_deleted(home: Home) -> None:
    home.journalled(session_of(1))
    content = home.path().read_bytes()
    home.sessions.trash("s")
    home.path().write_bytes(content)
    assert home.sessions.list() == []
    assert len(home.sessions.trashed()) == 1
    home.sessions.restore("s")
    assert home.sessions.load("s").messages == turns(1)


def test_emptying_the_trash_removes_files_and_rows_of_what_is_in_it(home: Home) -> None:
    result = ToolResultBlock(id="c", name="Bash", output="cut", metadata={"artifact_id": "full-text"})
    call = ToolCallBlock(id="c", name="Bash", input="{}")
    reply = AssistantMsg("palimpsest", [call, result], id="reply-9")
    home.journalled(replace(session_of(1), session_id="gone", messages=[question(1, "secret words"), reply]))
    kept = home.journalled(session_of(2))
    home.sessions.trash("gone")
    named: list[list[str]] = []

    def remove_rest(session_ids: set[str]) -> None:
        named.extend(artifact_ids_of(home.journal.rows(session_id)) for session_id in session_ids)

    assert home.sessions.empty_trash(remove_rest) == {"gone"}
    assert named == [["full-text"]]
    assert home.sessions.trashed() == []
    assert home.sessions.empty_trash(remove_rest) == set()
    assert [path for path in home.workspace.root.rglob("*") if path.is_file() and b"secret" in path.read_bytes()] == []
    assert home.sessions.load("s") == kept


def test_a_session_is_open_once(home: Home) -> None:
    other = Sessions(home.workspace, home.journal, lambda: NOON)
    with home.sessions.open_lock("s"), other.open_lock("t"), pytest.raises(SessionInUseError), other.open_lock("s"):
        pass
    with other.open_lock("s"):
        pass


def test_fifty_saves_at_once_leave_a_file_that_parses_at_any_moment(home: Home) -> None:
    session = session_of(*range(20))
    home.sessions.save(session)
    done = threading.Event()
    failures: list[Exception] = []

    def save(number: int) -> None:
        sessions = Sessions(home.workspace, home.journal, lambda: NOON)
        sessions.save(replace(session, summary="x" * 1000 * number))

    def read() -> None:
        while not done.is_set():
            try:
                json.loads(home.path().read_bytes())
            except ValueError as error:
                failures.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    writers = [threading.Thread(target=save, args=(number,)) for number in range(50)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    done.set()
    reader.join()
    assert failures == []
    assert home.sessions.load("s").messages == session.messages
    assert [path.name for path in home.workspace.sessions_folder.iterdir()] == ["owner_s.json"]


def test_a_lone_surrogate_does_not_break_a_save(home: Home) -> None:
    home.sessions.save(replace(session_of(), messages=[question(1, "caf\ud83d!")], summary="\udfff"))
    loaded = home.sessions.load("s")
    assert (loaded.title, loaded.summary) == ("caf\ufffd!", "\ufffd")


def _save_over_the_limit(folder: Path) -> None:
    home = Home(folder)
    size = home.path().stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, size + 10))
    try:
        home.sessions.save(session_of(*range(50)))
    except OSError:
        os._exit(0)
    os._exit(4)


def _append_then_die(folder: Path) -> None:
    home = Home(folder)
    home.journal.commit("s", "owner", turns(1, 2, 3), [folding("c1", None, turns(1), AT)])
    os.kill(os.getpid(), signal.SIGKILL)


def _exit_code_of(target: Callable[[Path], None], folder: Path) -> int | None:
    child = started(target, folder)
    child.join(60)
    return child.exitcode


def test_a_disk_that_is_full_leaves_the_file_as_it_was(home: Home) -> None:
    home.journalled(session_of(1))
    before = home.path().read_bytes()
    assert _exit_code_of(_save_over_the_limit, home.workspace.root) == 0
    assert home.path().read_bytes() == before
    assert home.files() == ["owner_s.json"]


def test_a_kill_between_the_journal_and_the_session_file_leaves_the_state_before_with_every_word(home: Home) -> None:
    home.journalled(session_of(1, 2))
    assert _exit_code_of(_append_then_die, home.workspace.root) == -signal.SIGKILL
    loaded = home.sessions.load("s")
    assert (loaded.messages, loaded.summary, loaded.compaction_id) == (turns(1, 2, 3), "", None)


def test_a_row_changed_by_hand_so_that_no_message_can_hold_it_is_left_out(home: Home) -> None:
    odd: Row = BlockRow("s", "owner", "user-1", "user", "user", ThinkingBlock(thinking="?"), AT, CREATED)
    home.journal.append_missing("s", "owner", turns(1))
    home.journal.append([odd])
    assert home.sessions.load("s").messages == turns(1)


def test_every_session_file_is_rewritten_and_keeps_its_place_in_time(home: Home) -> None:
    home.journalled(Session("owner", "s", messages=[question(1, "secret")]))
    home.journalled(Session("owner", "t", messages=[question(2, "secret")]))
    home.sessions.rename("s", "secret title")
    home.sessions.trash("t")
    damaged = home.workspace.trash_folder / "x.damaged"
    damaged.write_bytes(b"secret {")
    os.utime(home.path(), (1_000, 1_000))
    home.sessions.rewrite_files(lambda content: content.replace(b"secret", b"------"))
    kept = [home.path(), damaged, home.workspace.trash_folder / "owner_t.json"]
    assert [b"secret" in path.read_bytes() for path in kept] == [False, False, False]
    assert home.path().stat().st_mtime == 1_000
    session = home.sessions.load("s")
    home.sessions.save(session)
    assert home.sessions.load("s").title == "------ title"


def test_an_open_conversation_is_known_from_outside(home: Home) -> None:
    other = Sessions(home.workspace, home.journal, lambda: NOON)
    assert not other.are_open_elsewhere()
    with home.sessions.open_lock("s"):
        assert other.are_open_elsewhere()
    assert not other.are_open_elsewhere()
