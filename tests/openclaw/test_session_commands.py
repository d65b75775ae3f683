"""The commands as a person or a scheduler runs them: a real process, its words and its exit code."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from assistant.openclaw.compression_options import Options
from assistant.openclaw.session_commands import COMMANDS, add_parsers, run
from tests.openclaw.sessions import Session, work_session

ROOT = Path(__file__).resolve().parents[2]
FIXED_TEXT = "Session主要由高优先级内容组成，无法进一步压缩。建议增大阈值或手动清理。"


def command(*words: object, home: Path, encoding: str = "utf-8") -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "HOME": str(home), "USERPROFILE": str(home), "PYTHONIOENCODING": encoding}
    arguments = [sys.executable, "-m", "assistant.openclaw", *map(str, words)]
    return subprocess.run(arguments, cwd=ROOT, env=environment, capture_output=True, check=False)


def call(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """The same in this process: exit code, output, errors."""
    parser = argparse.ArgumentParser()
    add_parsers(parser.add_subparsers(dest="command", required=True))
    code = run(parser.parse_args([str(word) for word in words]), mask=lambda text: text)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return work_session(outputs=20).write(tmp_path / "s1.jsonl")


def test_compress_ends_with_the_line_the_skill_asks_for(path: Path, tmp_path: Path) -> None:
    done = command("compress", path, "standard", "2", home=tmp_path)
    assert done.returncode == 0, done.stderr
    last = done.stdout.decode().splitlines()[-1]
    remaining = json.loads(path.read_bytes().splitlines()[2])["compressedTokens"]
    assert last == f"Compression complete. {remaining} tokens remaining."


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "gbk"])
def test_a_console_that_lacks_the_characters_does_not_end_the_run(tmp_path: Path, encoding: str) -> None:
    session = Session()
    for number in range(60):
        session.user(f"请保留需求 {number}：" + "这对我们很重要，不能丢。 " * 20)
        session.says("Noted. 👍")
    path = session.write(tmp_path / "会话 1.jsonl")
    done = command("compress", path, "light", "2", home=tmp_path, encoding=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    assert FIXED_TEXT.encode(encoding, "backslashreplace") in done.stdout


FORMS: dict[str, Sequence[str]] = {
    "mode-tail-dry-run": ("{}", "aggressive", "2", "dry-run"),
    "mode-tail-true": ("{}", "aggressive", "2", "true"),
    "dry-run-alone": ("{}", "dry-run", "--mode", "aggressive", "--keep-tail", "2"),
    "flags": ("--session-file", "{}", "--mode", "aggressive", "--keep-tail", "2", "--max-iter", "5000", "--dry-run"),
    "names-of-the-skill": ("{}", "--mode", "aggressive", "--keepTail", "2", "--maxIter", "5000", "--dry-run"),
    "flag-before-word": ("{}", "light", "60", "dry-run", "--mode", "aggressive", "--keep-tail", "2"),
}


@pytest.mark.parametrize("words", FORMS.values(), ids=FORMS.keys())
def test_every_form_of_the_command_means_the_same(
    path: Path, words: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = path.read_bytes()
    code, out, _ = call(capsys, "compress", *(word.format(path) for word in words), "--json")
    report = json.loads(out)
    assert (code, report["mode"], report["dry_run"], report["target_tokens"]) == (0, "aggressive", True, 2_500)
    assert report["classes"]["P7"]["lines"] == 2
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [("{}", "gentle"), ("{}", "light", "sixty"), ("{}", "light", "60", "dry-run", "more"), ()],
    ids=["mode", "tail", "too-many", "no-file"],
)
def test_wrong_words_are_wrong_use(path: Path, words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, "compress", *(word.format(path) for word in words))
    assert (code, out) == (2, "")
    assert err.startswith("palimpsest: ")


def test_a_dry_run_prints_what_would_go_per_class(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = call(capsys, "compress", path, "aggressive", "2", "dry-run")
    rows = {line.split()[0]: line.split()[-4:] for line in out.splitlines() if line.startswith("P")}
    assert rows["P1"][0] == "20" and rows["P2"][0] == "40"
    assert "would go" in out and out.splitlines()[-1].startswith("Dry run, nothing was changed: ")


def test_nothing_to_free_prints_the_fixed_text_and_leaves_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = work_session(outputs=0, turns=25).write(tmp_path / "s.jsonl")
    before = path.read_bytes()
    code, out, _ = call(capsys, "compress", path, "--force")
    assert (code, out.splitlines()[-1]) == (0, FIXED_TEXT)
    assert path.read_bytes() == before


def test_below_the_threshold_is_no_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = Session().turns(2).write(tmp_path / "s.jsonl")
    code, out, err = call(capsys, "compress", path)
    assert (code, err) == (0, "") and "below the threshold" in out
    assert call(capsys, "compress", path, "--quiet") == (0, "", "")


def test_the_nine_parameters_have_the_skills_names_and_defaults() -> None:
    parser = argparse.ArgumentParser()
    add_parsers(parser.add_subparsers(dest="command", required=True))
    given = parser.parse_args(["compress", "s", "--tokenThreshold", "1", "--charThreshold", "2", "--keepTail", "3"])
    assert (given.token_threshold, given.char_threshold, given.keep_tail) == (1, 2, 3)
    names = [
        "--autoBackup",
        "--maxIter",
        "4",
        "--truncateThreshold",
        "5",
        "--truncateSize",
        "6",
        "--cooldownMinutes",
        "7",
    ]
    given = parser.parse_args(["compress", "s", "--mode", "light", *names])
    assert (given.mode, given.auto_backup, given.max_iter) == ("light", True, 4)
    assert (given.truncate_threshold, given.truncate_size, given.cooldown_minutes) == (5, 6, 7)
    default = Options()
    assert (default.token_threshold, default.char_threshold, default.keep_tail, default.mode) == (
        8_000,
        32_000,
        60,
        "standard",
    )
    assert (default.auto_backup, default.truncate_threshold_chars, default.truncate_size_chars) == (True, 2_000, 500)
    assert (default.cooldown_minutes, default.max_iterations) == (5, 5_000)


def test_restore_lists_and_puts_back(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = path.read_bytes()
    call(capsys, "compress", path, "aggressive", "2")
    assert path.read_bytes() != before
    code, out, _ = call(capsys, "restore", path, "--list", "--json")
    assert (code, len(json.loads(out))) == (0, 1)
    code, out, _ = call(capsys, "restore", path)
    assert code == 0 and "is again what it was" in out
    assert path.read_bytes() == before


def test_a_failure_is_one_line_and_exit_code_1(tmp_path: Path) -> None:
    done = command("restore", tmp_path / "none.jsonl", home=tmp_path)
    assert done.returncode == 1
    assert done.stderr.decode().startswith("palimpsest: ") and done.stderr.count(b"\n") == 1
    done = command("compress", tmp_path / "none.jsonl", "--json", home=tmp_path)
    assert json.loads(done.stdout)["state"] == "failed" and done.returncode == 1


def agent(home: Path, name: str, session: Session) -> Path:
    return session.write(home / ".openclaw" / "agents" / "main" / "sessions" / f"{name}.jsonl")


def test_compress_all_says_where_it_looked_goes_on_after_a_failure_and_ends_with_a_table(tmp_path: Path) -> None:
    good = agent(tmp_path, "good", work_session(outputs=20))
    bad = agent(tmp_path, "bad", Session(version=9))
    small = agent(tmp_path, "small", Session().turns(1))
    before = small.read_bytes()
    done = command("compress-all", "--keep-tail", "2", home=tmp_path)
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 1
    assert lines[0] == f"Found {tmp_path / '.openclaw'}: 3 sessions."
    assert [line.split()[:2] for line in lines[1:]] == [
        ["session", "state"],
        [bad.name, "failed"],
        [good.name, "compressed"],
        [small.name, "skipped"],
    ]
    assert small.read_bytes() == before


def test_compress_all_is_quiet_when_nothing_is_due(tmp_path: Path) -> None:
    agent(tmp_path, "small", Session().turns(1))
    done = command("compress-all", home=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert b"skipped" in command("compress-all", "--verbose", home=tmp_path).stdout


def test_compress_all_of_a_live_session_is_no_failure(tmp_path: Path) -> None:
    path = agent(tmp_path, "live", work_session(outputs=20))
    path.with_name("live.jsonl.lock").write_text(f'{{"pid": {os.getpid()}}}', "utf-8")
    done = command("compress-all", home=tmp_path)
    assert done.returncode == 0 and b"busy" in done.stdout


def test_compress_all_without_any_state_folder_says_what_it_looked_for(tmp_path: Path) -> None:
    done = command("compress-all", home=tmp_path)
    assert done.returncode == 1
    assert b".openclaw, .openclaw-autoclaw, .clawdbot, .moltbot" in done.stderr


def test_compress_all_of_a_folder_in_json_is_one_line_a_session(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work_session(outputs=20).write(tmp_path / "x" / "a.jsonl")
    Session().turns(1).write(tmp_path / "x" / "b.jsonl")
    code, out, _ = call(capsys, "compress-all", tmp_path / "x", "--keep-tail", "2", "--json")
    assert (code, [json.loads(line)["state"] for line in out.splitlines()]) == (0, ["compressed", "skipped"])


def test_secrets_are_masked_by_the_program_itself(tmp_path: Path) -> None:
    secret = "sk-proj-" + "a1B2" * 12
    session = Session()
    session.user(f"We decided to use the key {secret} for the upload.")
    for number in range(60):
        session.tool(str(number), "make", "x" * 600)
    session.says("last")
    path = session.write(tmp_path / "s.jsonl")
    done = command("compress", path, "aggressive", "1", "--workspace", tmp_path / "w", home=tmp_path)
    assert done.returncode == 0, done.stderr
    diary = "".join(page.read_text("utf-8") for page in (tmp_path / "w").rglob("*.md"))
    assert "We decided to use the key" in diary and secret not in diary
    assert secret not in path.read_bytes().splitlines()[1].decode()


def test_the_diary_commands_work_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = Session()
    session.user("From now on answer in French. We decided to use plan A.")
    session.turns(40)
    path, workspace = session.write(tmp_path / "s.jsonl"), tmp_path / "w"
    code, out, _ = call(capsys, "diary", "extract", path, workspace)
    assert code == 0 and out.startswith("1 entries in ") and "1 preferences in SOUL.md" in out
    code, out, _ = call(capsys, "diary", "extract", path, workspace)
    assert code == 0 and out.startswith("Nothing important")
    words = ("--mode", "standard", "--before", "8000", "--after", "4000", "--removed", "45")
    assert call(capsys, "diary", "log-compression", workspace, *words)[0] == 0
    assert call(capsys, "diary", "validate", workspace)[0] == 1
    assert call(capsys, "diary", "update-index", workspace, "--note", "手动添加的备注")[0] == 0
    code, out, _ = call(capsys, "diary", "validate", workspace)
    assert (code, [line.split()[0] for line in out.splitlines()]) == (0, ["ok"] * 9)
    assert len(json.loads(call(capsys, "diary", "validate", workspace, "--json")[1])) == 9


def test_the_help_says_that_preferences_go_to_soul(tmp_path: Path) -> None:
    for words in (("compress", "--help"), ("diary", "extract", "--help"), ("compress-all", "--help")):
        text = " ".join(command(*words, home=tmp_path).stdout.decode().split())
        assert "Preferences are written to SOUL.md" in text and "USER.md" in text


def test_the_commands_are_the_ones_the_command_line_hands_over() -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command")
    add_parsers(commands)
    assert tuple(commands.choices) == COMMANDS
