"""The command line on a home without a model: what it prints, what it refuses beside another process."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from assistant.assembly.home import Store, open_store
from assistant.cli.main import main
from assistant.config.settings import Settings, load_settings
from assistant.memory.forget.forgetter import find_passages
from assistant.messages.blocks import UserMsg
from assistant.storage.ownership import HomeOwnership

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_PROVIDER", "offline")
    monkeypatch.setenv("PALIMPSEST_EMBEDDER", "none")


@pytest.fixture
def store(home: Path) -> Store:
    settings: Settings = load_settings(home)
    store = open_store(settings)
    store.notes.add_lines("USER.md", "About", ["My phone is 555-0142.", "likes green tea"], "owner")
    session = store.sessions.create("Tea")
    session.session_id, session.messages = "talk", [UserMsg("user", "Green tea again. My phone is 555-0142.")]
    store.journal.append_missing("talk", "owner", session.messages)
    store.sessions.save(session)
    return store


@pytest.fixture
def owned(store: Store) -> Generator[str]:
    """The home is owned by somebody else; what a refused command says of it."""
    with HomeOwnership(store.workspace) as ownership:
        ownership.tell_address("http://127.0.0.1:7860")
        yield f"is in use by process {os.getpid()}, its page is at http://127.0.0.1:7860"


def test_search_prints_file_line_and_words(store: Store, capsys: Capture) -> None:
    assert main(["search", "green tea"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split(":")[0] for line in lines} >= {"USER.md"}
    assert any("likes green tea" in line for line in lines)
    assert main(["search", "xylophone"]) == 0
    assert capsys.readouterr().out.startswith("Nothing was found.\n")


def test_search_prints_one_object_a_query(store: Store, tmp_path: Path, capsys: Capture) -> None:
    batch = tmp_path / "queries"
    batch.write_text("green tea\n\nphone\n", encoding="utf-8")
    assert main(["search", "--batch", str(batch), "-k", "1", "--json"]) == 0
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (first["query"], len(first["hits"]), second["query"], len(second["hits"])) == ("green tea", 1, "phone", 1)
    assert set(first["hits"][0]) >= {"path", "first_line", "last_line", "snippet", "relevance", "session_id"}


def test_a_search_finds_alone_what_it_finds_among_many_or_says_what_it_did_not_wait_for(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("PALIMPSEST_EMBEDDER", "default")
    question = "something hot to drink"
    batch = tmp_path / "queries"
    batch.write_text(f"phone\n{question}\n", encoding="utf-8")
    # The first command of a home has no vector yet.
    assert main(["search", question, "--json"]) == 0
    alone = json.loads(capsys.readouterr().out)
    assert main(["search", "--batch", str(batch), "--json"]) == 0
    among_many = json.loads(capsys.readouterr().out.splitlines()[1])
    assert [hit["path"] for hit in among_many["hits"]] != []
    assert alone == among_many or "vectors" in "".join(alone["notices"])


@pytest.mark.parametrize(
    "arguments",
    [
        ["sessions"],
        ["doctor"],
        ["export", "--all"],
        ["index"],
        ["search", "tea"],
        ["chat", "--once", "hello"],
        ["undo", "--session", "talk"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_whatever_command_comes_first_finishes_a_forget_that_was_cut_off(
    store: Store, home: Path, arguments: list[str], capsys: Capture
) -> None:
    preview = find_passages(store.places, "555-0142")
    store.forget_files.begin([item.key for item in preview.items])
    main(arguments)
    assert "555-0142" not in capsys.readouterr().out
    assert not store.workspace.forget_path.exists()
    left = [path.name for path in home.rglob("*") if path.is_file() and b"555-0142" in path.read_bytes()]
    assert left == []


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["search"], 2),
        (["search", "a", "--batch", "b"], 2),
        (["export"], 2),
        (["sessions", "rename", "talk", " "], 2),
        (["import", "missing"], 1),
    ],
)
def test_a_command_says_what_it_needs(home: Path, arguments: list[str], code: int, capsys: Capture) -> None:
    assert main(arguments) == code
    assert capsys.readouterr().err.startswith("palimpsest: ")


def test_search_refuses_a_count_that_makes_no_sense(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as wrong:
        main(["search", "tea", "-k", "0"])
    assert wrong.value.code == 2
    capsys.readouterr()


def test_the_index_tells_what_it_holds(store: Store, capsys: Capture) -> None:
    assert main(["index", "--rebuild", "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["files"] >= 3, status["pending"] > 0, status["mode"]) == (True, False, "text")
    assert main(["index"]) == 0
    assert "searched by text" in capsys.readouterr().out


def test_forget_asks_before_it_forgets(store: Store, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    answers = iter(["", "1"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(answers))
    assert main(["forget", "555-0142"]) == 0
    out = capsys.readouterr().out
    assert "1. My phone is 555-0142." in out
    assert out.endswith("Nothing was forgotten.\n")
    assert main(["forget", "555-0142"]) == 0
    assert "Gone from: 1 × USER.md (memory)" in capsys.readouterr().out
    assert store.sessions.load("talk").messages[0].get_text_content() == "Green tea again. ⟦forgotten⟧"


def test_forget_as_json_shows_first_and_forgets_only_the_very_words(store: Store, capsys: Capture) -> None:
    store.notes.add_lines("USER.md", "About", ["A phone, my old one, is 555-0199"], "owner")
    assert main(["forget", "my phone is", "--json"]) == 0
    items = json.loads(capsys.readouterr().out)["items"]
    assert [(item["text"], item["fit"]) for item in items] == [
        ("My phone is 555-0142.", "exact"),
        ("A phone, my old one, is 555-0199", "words"),
    ]
    assert main(["forget", "my phone is", "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["passages"] == 1
    assert "555-0199" in store.notes.read("USER.md").text
    assert "555-0142" not in store.notes.read("USER.md").text


def test_conversations_go_out_and_come_in(store: Store, home: Path, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "export.jsonl"
    assert main(["export", "--all", "--out", str(file)]) == 0
    assert main(["import", str(file), "--home", str(tmp_path / "other")]) == 0
    assert main(["import", str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "1 conversations were imported.",
        "0 conversations were imported. 1 were here already and are as they were.",
    ]
    assert main(["sessions", "--home", str(tmp_path / "other")]) == 0
    assert capsys.readouterr().out.endswith("  Tea\n")


def test_export_prints_the_file_where_none_is_named(store: Store, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["export", "--session", "talk"]) == 0
    kinds = [json.loads(line)["kind"] for line in capfdbinary.readouterr().out.splitlines()]
    assert kinds == ["palimpsest", "session", "row"]


@pytest.mark.parametrize(
    "arguments",
    [["forget", "tea"], ["index", "--rebuild"], ["compact", "--session", "talk"], ["undo", "--session", "talk"]],
    ids=lambda arguments: arguments[0],
)
def test_what_changes_the_home_needs_to_own_it(owned: str, arguments: list[str], capsys: Capture) -> None:
    assert main(arguments) == 1
    assert owned in capsys.readouterr().err


def test_import_needs_to_own_the_home(owned: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "file").write_text('{"kind":"palimpsest","version":1}\n', encoding="utf-8")
    assert main(["import", str(tmp_path / "file")]) == 1
    assert owned in capsys.readouterr().err


def test_what_changes_nothing_goes_on_beside_the_owner(store: Store, capsys: Capture) -> None:
    assert main(["index"]) == 0
    with HomeOwnership(store.workspace):
        capsys.readouterr()
        assert main(["search", "green tea", "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["hits"] != []
        assert "another process owns this home" in answer["notices"][0]
        assert main(["export", "--session", "talk"]) == 0
        assert main(["index", "--json"]) == 0
        capsys.readouterr()


def test_a_conversation_nobody_has_open_goes_on_beside_the_owner(owned: str, store: Store, capsys: Capture) -> None:
    assert main(["chat", "--once", "hello", "--session", "talk", "--json"]) == 0
    captured = capsys.readouterr()
    assert owned in captured.err
    assert json.loads(captured.out.splitlines()[-1])["type"] == "turn_finished"
    with store.sessions.open_lock("talk"):
        assert main(["chat", "--once", "hello", "--session", "talk"]) == 1
    assert "open in another process" in capsys.readouterr().err


def test_conversations_are_renamed_trashed_restored_and_deleted_for_good(
    store: Store, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def listed(*flags: str) -> list[str]:
        assert main(["sessions", "--json", *flags]) == 0
        return [json.loads(line)["title"] for line in capsys.readouterr().out.splitlines()]

    assert main(["sessions", "rename", "talk", "Tea  plans"]) == 0
    assert listed() == ["Tea plans"]
    assert main(["sessions", "pin", "talk"]) == 0
    assert [one.is_on_top for one in store.sessions.list()] == [True]
    assert main(["sessions", "unpin", "talk"]) == 0
    assert [one.is_on_top for one in store.sessions.list()] == [False]
    assert main(["sessions", "trash", "talk"]) == 0
    assert (listed(), listed("--trash")) == ([], ["Tea plans"])
    assert main(["sessions", "restore", "talk", "--home", str(home)]) == 0
    assert main(["sessions", "--home", str(home), "trash", "talk"]) == 0

    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    assert main(["sessions", "empty-trash"]) == 0
    assert "Delete 1 conversation for good?" in (said := capsys.readouterr().out)
    assert "Nothing was deleted." in said
    assert main(["sessions", "empty-trash", "--yes"]) == 0
    assert capsys.readouterr().out == "1 conversation is gone for good, from the journal and from search.\n"
    assert (listed(), listed("--trash")) == ([], [])
    assert main(["sessions", "empty-trash"]) == 0
    assert capsys.readouterr().out == "The trash is empty.\n"


@pytest.mark.parametrize(
    "arguments", [["rename", "none", "Tea"], ["pin", "none"], ["trash", "none"], ["restore", "talk"]]
)
def test_a_conversation_that_is_not_there_is_named(store: Store, arguments: list[str], capsys: Capture) -> None:
    assert main(["sessions", *arguments]) == 1
    assert capsys.readouterr().err.startswith("palimpsest: ")


@pytest.mark.parametrize("arguments", [["rename", "talk", "x"], ["trash", "talk"], ["empty-trash", "--yes"]])
def test_the_list_is_changed_by_the_owner_of_the_home_alone(owned: str, arguments: list[str], capsys: Capture) -> None:
    assert main(["sessions", *arguments]) == 1
    assert owned in capsys.readouterr().err


def test_what_needs_no_model_starts_without_the_agent() -> None:
    late = {"agentscope.agent", "assistant.agent.loop", "openai", "chromadb"}
    code = f"import assistant.cli.home_commands, sys; print({late} & {{*sys.modules}})"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=100)
    assert (finished.stdout.strip(), finished.returncode) == ("set()", 0), finished.stderr
