"""The command line gives the same without a browser, with exit codes a script can rely on."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from assistant.cli.main import main
from assistant.config.accounts import is_password
from assistant.config.profiles import Profile, Profiles
from assistant.storage.profile_file import keep_profiles
from tests.fakes.players import SequencePlayer
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import Reply, ReplyCall

SUMMARY = "\n\n".join(
    f"## {title}\n- kept" for title in ("Goal", "Constraints and preferences", "Progress", "Key decisions")
)


@pytest.fixture
def player(monkeypatch: pytest.MonkeyPatch) -> Generator[SequencePlayer]:
    """What the model of the environment answers, in order."""
    player = SequencePlayer()
    with StrictProvider(player) as provider:
        for name, value in {
            "PALIMPSEST_PROVIDER": "openai",
            "PALIMPSEST_BASE_URL": provider.base_url,
            "PALIMPSEST_MAX_INPUT_LENGTH": "16000",
            "PALIMPSEST_MEMORY": "off",
            "PALIMPSEST_EMBEDDER": "none",
            "PALIMPSEST_LANGUAGE": "en",
        }.items():
            monkeypatch.setenv(name, value)
        yield player


def printed_events(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def session_id(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["sessions", "--json"]) == 0
    return str(printed_events(capsys)[0]["session_id"])


def test_one_message_is_answered(player: SequencePlayer, capsys: pytest.CaptureFixture[str]) -> None:
    player.replies = [Reply(text="Hello there.")]

    assert main(["chat", "--once", "Hi"]) == 0
    assert capsys.readouterr().out == "Hello there.\n"


def test_events_are_printed_as_lines_of_json(player: SequencePlayer, capsys: pytest.CaptureFixture[str]) -> None:
    player.replies = [Reply(text="Hello.")]

    assert main(["chat", "--once", "Hi", "--json"]) == 0
    events = printed_events(capsys)
    assert [event["type"] for event in events if event["type"] != "context_measured"] == [
        "turn_started",
        "text_delta",
        "turn_finished",
    ]


def test_a_profile_answers_by_its_name_and_an_unknown_one_is_refused(
    player: SequencePlayer, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home.mkdir(exist_ok=True)
    keep_profiles(home / "profiles.json", Profiles((Profile(name="Nobody", provider="offline"),)))
    assert main(["chat", "--once", "Hi", "--profile", "nobody"]) == 0
    assert "built-in offline assistant" in capsys.readouterr().out
    assert main(["chat", "--once", "Hi", "--profile", "Elsewhere"]) == 1
    assert "There are: Main, Nobody" in capsys.readouterr().err
    assert player.replies == []


def test_a_conversation_goes_on(player: SequencePlayer, capsys: pytest.CaptureFixture[str]) -> None:
    player.replies = [Reply(text="Hello."), Reply(text="Still here.")]
    main(["chat", "--once", "Hi"])
    capsys.readouterr()
    known = session_id(capsys)

    assert main(["chat", "--session", known, "--once", "Are you there?"]) == 0
    assert [message.text for message in player.requests[1].messages[1:]] == ["Hi", "Hello.", "Are you there?"]


LONG_FACT = f"I am allergic to oats. {'The cellar key hangs behind the door, as it always has. ' * 5}"


def test_what_was_said_in_one_message_is_in_memory_when_the_command_ends(
    player: SequencePlayer, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALIMPSEST_MEMORY", "on")
    line: dict[str, object] = {"file": "USER.md", "heading": "Health", "lines": ["I am allergic to oats."]}
    player.replies = [Reply(text="Noted."), Reply(calls=(ReplyCall("add_lines", line),)), Reply(text="NO_REPLY")]

    assert main(["chat", "--once", LONG_FACT]) == 0
    assert "- I am allergic to oats.\n" in (home / "USER.md").read_text("utf-8")


def test_where_the_model_is_too_slow_for_that_the_command_writes_the_note_by_code(
    player: SequencePlayer, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALIMPSEST_MEMORY", "on")
    monkeypatch.setattr("assistant.agent.flush_tasks.CLOSE_SECONDS", 0.0)
    line: dict[str, object] = {"file": "USER.md", "heading": "Health", "lines": ["I am allergic to oats."]}
    player.replies = [Reply(text="Noted."), Reply(calls=(ReplyCall("add_lines", line),)), Reply(text="NO_REPLY")]

    assert main(["chat", "--once", LONG_FACT]) == 0
    (note,) = (home / "memory").glob("*.md")
    assert "- I am allergic to oats.\n" in note.read_text("utf-8")
    assert "allergic" not in (home / "USER.md").read_text("utf-8")


def test_a_chat_in_the_terminal_is_in_memory_when_it_ends(
    player: SequencePlayer, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALIMPSEST_MEMORY", "on")
    monkeypatch.setattr("sys.stdin", io.StringIO("I am allergic to oats.\nAnd I live in Oslo.\n"))
    line: dict[str, object] = {"file": "USER.md", "heading": "Health", "lines": ["I am allergic to oats."]}
    player.replies = [
        Reply(text="Noted."),
        Reply(text="Noted."),
        Reply(calls=(ReplyCall("add_lines", line),)),
        Reply(text="NO_REPLY"),
    ]

    assert main(["chat"]) == 0
    assert "- I am allergic to oats.\n" in (home / "USER.md").read_text("utf-8")


def test_a_call_that_asks_ends_with_its_own_exit_code(player: SequencePlayer, home: Path) -> None:
    player.replies = [Reply(calls=(ReplyCall("Bash", {"command": "touch made.txt"}),))]

    assert main(["chat", "--once", "Make it"]) == 3
    assert not (home / "files" / "made.txt").exists()


def test_every_call_is_allowed_with_yes(player: SequencePlayer, home: Path) -> None:
    call = ReplyCall("Bash", {"command": "touch made.txt"})
    player.replies = [Reply(calls=(call,)), Reply(text="Made.")]

    assert main(["chat", "--once", "Make it", "--yes"]) == 0
    assert (home / "files" / "made.txt").exists()


def test_a_model_that_fails_is_one_line_and_a_failure(
    player: SequencePlayer, capsys: pytest.CaptureFixture[str]
) -> None:
    player.replies = [Reply(text="The key is wrong.", status=401)]

    assert main(["chat", "--once", "Hi"]) == 1
    printed = capsys.readouterr()
    assert printed.out.strip().startswith("! ")
    assert (printed.err.startswith("palimpsest: http://"), len(printed.err.splitlines())) == (True, 1)


def test_a_message_that_cannot_be_written_is_a_failure(
    player: SequencePlayer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("assistant.storage.journal.journal.append_lines", refuse)
    assert main(["chat", "--once", "Hi"]) == 1
    printed = capsys.readouterr()
    assert "not sent" in printed.out
    assert (printed.err.startswith("palimpsest: "), len(printed.err.splitlines())) == (True, 1)


def test_a_terminal_opens_without_its_model_and_says_why(
    player: SequencePlayer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PALIMPSEST_MODEL", "strict-7b")
    monkeypatch.setenv("PALIMPSEST_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setattr(sys, "stdin", io.StringIO("/help\n"))

    assert main(["chat"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith(
        "The built-in assistant answers, no language model. Nothing answers at http://127.0.0.1:9/v1. "
    )
    assert printed.err == ""


def test_a_compaction_is_previewed_made_and_taken_back(
    player: SequencePlayer, capsys: pytest.CaptureFixture[str]
) -> None:
    long_message = "word " * 3_000
    player.replies = [Reply(text="Noted."), Reply(text="Noted."), Reply(text=SUMMARY + "\n" + "- more of it\n" * 20)]
    main(["chat", "--once", long_message])
    capsys.readouterr()
    known = session_id(capsys)
    main(["chat", "--session", known, "--once", "And now?"])
    capsys.readouterr()

    assert main(["compact", "--session", known, "--preview"]) == 0
    preview = capsys.readouterr().out
    assert main(["compact", "--session", known, "--json"]) == 0
    compacted = [event["type"] for event in printed_events(capsys)]
    assert main(["undo", "--session", known, "--json"]) == 0
    undone = [event["type"] for event in printed_events(capsys)]

    assert preview.startswith("Compacting now would fold ")
    assert "context_compressed" in compacted
    assert "compaction_undone" in undone


def test_an_unknown_conversation_is_one_line_on_standard_error(
    player: SequencePlayer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["chat", "--session", "nobody", "--once", "Hi"]) == 1
    assert capsys.readouterr().err == (
        "palimpsest: No conversation has the id 'nobody'. `python -m assistant sessions` lists them.\n"
    )


def test_wrong_use_is_told_by_the_parser(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["chatter"])
    assert ended.value.code == 2
    assert "invalid choice: 'chatter'" in capsys.readouterr().err


def test_an_impossible_setting_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PALIMPSEST_MAX_STEPS", "none at all")

    assert main(["sessions"]) == 1
    assert capsys.readouterr().err.startswith("palimpsest: PALIMPSEST_MAX_STEPS: ")


def test_an_empty_home_is_wrong_use_and_not_this_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["sessions", "--home", ""])
    assert ended.value.code == 2
    assert list(tmp_path.iterdir()) == []
    assert "--home: a folder, not an empty text" in capsys.readouterr().err


def test_a_model_that_asks_for_ever_is_bounded_though_all_is_allowed(
    player: SequencePlayer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PALIMPSEST_MAX_STEPS", "3")
    player.replies = [Reply(calls=(ReplyCall("Bash", {"command": "touch made.txt"}),))] * 20

    assert main(["chat", "--once", "Go on", "--yes"]) == 0
    assert len(player.requests) == 3
    assert "The turn stopped after 3 model calls" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full")
@pytest.mark.parametrize("redirection", ["> /dev/full", ">&-", "<&- > /dev/full", "| head -c 1"])
def test_output_that_nobody_takes_is_no_traceback(home: Path, redirection: str) -> None:
    command = f"{sys.executable} -m assistant sessions --home '{home}' {redirection}"
    ended = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in ended.stderr
    assert len(ended.stderr.splitlines()) <= 1


def test_a_terminal_without_input_ends(home: Path, tmp_path: Path) -> None:
    command = (
        f"PALIMPSEST_PROVIDER=offline PALIMPSEST_EMBEDDER=none {sys.executable} -m assistant chat --home '{home}' <&-"
    )
    ended = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.skipif(os.name == "nt", reason="pseudo terminals")
def test_ctrl_c_ends_a_terminal_that_waits_for_a_line(home: Path) -> None:
    master, terminal = os.openpty()
    environment = {**os.environ, "PALIMPSEST_PROVIDER": "offline", "PALIMPSEST_EMBEDDER": "none"}
    command = [sys.executable, "-m", "assistant", "chat", "--home", str(home)]
    with subprocess.Popen(
        command, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True, env=environment
    ) as process:
        os.close(terminal)
        told = b""
        while b"> " not in told:
            told += os.read(master, 1024)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 1
    os.close(master)


def test_a_password_becomes_a_hash_that_fits_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PALIMPSEST_USERS", "not a pair")
    monkeypatch.setattr(sys, "stdin", io.StringIO("password one\n"))
    code = main(["hash-password"])
    assert (code, is_password("password one", capsys.readouterr().out.strip())) == (0, True)


def test_a_short_password_makes_no_hash(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("short\n"))
    code = main(["hash-password"])
    assert (code, *capsys.readouterr()) == (1, "", "palimpsest: a password needs at least 8 characters\n")


def test_an_undo_with_nothing_to_take_back_fails_with_a_line(
    player: SequencePlayer, capsys: pytest.CaptureFixture[str]
) -> None:
    player.replies = [Reply(text="Hello there.")]
    assert main(["chat", "--once", "Hi"]) == 0
    capsys.readouterr()
    known = session_id(capsys)

    assert main(["undo", "--session", known]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("palimpsest: ")
    assert len(printed.err.splitlines()) == 1


def test_a_file_goes_with_the_message(
    player: SequencePlayer, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    player.replies = [Reply(text="On Friday.")]
    notes = tmp_path / "notes.txt"
    notes.write_text("The meeting is on Friday.", "utf-8")

    assert main(["chat", "--once", "When?", "--attach", str(notes)]) == 0
    assert capsys.readouterr().out == "On Friday.\n"
    assert "The meeting is on Friday." in player.requests[0].last_user


def test_a_file_that_cannot_be_attached_is_named_and_nothing_is_sent(
    player: SequencePlayer, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    missing = tmp_path / "missing.txt"
    assert main(["chat", "--once", "When?", "--attach", str(missing)]) == 1
    assert f"{missing} could not be opened" in capsys.readouterr().err
    assert main(["chat", "--attach", str(missing)]) == 2
    assert "--attach gives a file with the message of --once TEXT" in capsys.readouterr().err
    assert player.requests == []
