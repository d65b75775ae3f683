"""A file is compressed or it is as it was: refused, failed, changed meanwhile, or killed between any two steps."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assistant.errors import DiaryError, SessionBusyError, TranscriptError
from assistant.openclaw.backups import COPIES_FOLDER, copies_of
from assistant.openclaw.compression_options import Options
from assistant.openclaw.file_compression import CompressionJob, CompressionStep, compress_file
from tests.openclaw.sessions import NOW, Session, load_like_openclaw, utc, work_session

STEPS: tuple[CompressionStep, ...] = (
    *("read", "planned", "noted", "backed_up", "written", "checked", "replaced", "put_away", "logged"),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return work_session(outputs=20).write(tmp_path / "sessions" / "s1.jsonl")


def job(path: Path, **changes: object) -> CompressionJob:
    made = CompressionJob(
        path=path,
        options=Options(keep_tail=2),
        now=NOW,
        workspace=path.parent.parent / "workspace",
        mask=lambda text: text,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def at(step: CompressionStep, action: Callable[[], object]) -> Callable[[CompressionStep], None]:
    def stop_at(done: CompressionStep) -> None:
        if done == step:
            action()

    return stop_at


def files(path: Path) -> list[str]:
    return sorted(str(file.relative_to(path.parent)) for file in path.parent.rglob("*") if file.is_file())


def test_a_due_session_is_shrunk_logged_and_copied(path: Path) -> None:
    before = path.read_bytes()
    report = compress_file(job(path))
    assert report.has_changed
    assert report.copy is not None and report.copy.read_bytes() == before
    assert files(path) == [f"{COPIES_FOLDER}/{report.copy.name}", "s1.jsonl"]
    assert load_like_openclaw(path.read_bytes().splitlines(keepends=True))[0].startswith("summary: ")
    diary = (path.parent.parent / "workspace" / "memory" / "2026-04-21.md").read_text("utf-8")
    assert "## 压缩执行 12:00" in diary


def test_the_permissions_of_the_file_stay(path: Path) -> None:
    path.chmod(0o640)
    compress_file(job(path))
    assert path.stat().st_mode & 0o777 == 0o640


def test_below_the_threshold_the_file_is_not_touched(tmp_path: Path) -> None:
    path = Session().turns(2).write(tmp_path / "small.jsonl")
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    report = compress_file(job(path))
    assert (report.verdict.reason, report.outcome) == ("below_threshold", None)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert files(path) == ["small.jsonl"]


def test_a_dry_run_changes_nothing_and_still_tells(path: Path) -> None:
    before = path.read_bytes()
    report = compress_file(job(path, is_dry_run=True))
    assert report.outcome is not None and report.outcome.status == "done"
    assert path.read_bytes() == before
    assert files(path) == ["s1.jsonl"] and not (path.parent.parent / "workspace").exists()


def test_a_second_run_waits_and_a_forced_one_says_so_in_the_diary(path: Path) -> None:
    compress_file(job(path))
    after = path.read_bytes()
    assert compress_file(job(path, now=utc(2))).verdict.reason == "below_threshold"
    assert path.read_bytes() == after
    with path.open("ab") as file:
        file.writelines(work_session(outputs=30).lines[1:])
    assert compress_file(job(path, now=utc(2))).verdict.reason == "cooldown"
    forced = compress_file(job(path, now=utc(2), options=Options(keep_tail=2, force=True)))
    assert forced.has_changed and forced.verdict.overruled == "cooldown"
    assert "**Forced**: yes" in (path.parent.parent / "workspace" / "memory" / "2026-04-21.md").read_text("utf-8")


def test_when_the_diary_cannot_be_written_the_session_is_not_touched(path: Path) -> None:
    session = Session()
    session.user("From now on answer in French.")
    for number in range(60):
        session.tool(str(number), "make", "x" * 600)
    session.says("last")
    session.write(path)
    before = path.read_bytes()
    workspace = path.parent.parent / "workspace"
    workspace.write_text("a file where the folder should be", "utf-8")
    with pytest.raises(DiaryError, match="not touched"):
        compress_file(job(path))
    assert path.read_bytes() == before
    assert files(path) == ["s1.jsonl"]


def test_extraction_is_left_out_only_when_asked(path: Path) -> None:
    report = compress_file(job(path, workspace=None))
    assert report.has_changed and report.extracted is None
    assert not (path.parent.parent / "workspace").exists()


def test_nothing_important_makes_no_entry(path: Path) -> None:
    report = compress_file(job(path))
    assert report.extracted is not None and report.extracted.is_empty
    assert "压缩提取" not in (path.parent.parent / "workspace" / "memory" / "2026-04-21.md").read_text("utf-8")


@pytest.mark.parametrize("step", ["planned", "backed_up", "written"])
def test_a_session_that_grew_during_the_run_is_left_as_it_now_is(path: Path, step: CompressionStep) -> None:
    def grow() -> None:
        with path.open("ab") as file:
            file.write(b'{"type":"message","id":"live"}\n')

    before = path.read_bytes()
    with pytest.raises(SessionBusyError):
        compress_file(job(path, at_step=at(step, grow)))
    assert path.read_bytes() == before + b'{"type":"message","id":"live"}\n'
    assert files(path) == ["s1.jsonl"]


def test_a_locked_session_is_left_alone(path: Path) -> None:
    lock = path.with_name("s1.jsonl.lock")
    lock.write_text(f'{{"pid": {os.getpid()}, "createdAt": "2026-04-21T04:00:00Z"}}', "utf-8")
    before = path.read_bytes()
    with pytest.raises(SessionBusyError, match="locked by process"):
        compress_file(job(path))
    assert path.read_bytes() == before and lock.exists()


def test_the_lock_of_a_process_that_is_gone_is_taken_over(path: Path) -> None:
    child = multiprocessing.get_context("fork").Process(target=os.getpid)
    child.start()
    child.join()
    path.with_name("s1.jsonl.lock").write_text(f'{{"pid": {child.pid}}}', "utf-8")
    assert compress_file(job(path)).has_changed
    assert not path.with_name("s1.jsonl.lock").exists()


def test_a_task_that_is_running_is_not_disturbed(path: Path) -> None:
    session = work_session(outputs=20)
    session.calls(("live", "exec", {"command": "make"}))
    session.write(path)
    with pytest.raises(TranscriptError, match="a task is running"):
        compress_file(job(path, now=datetime.now(UTC)))


def test_without_a_backup_no_copy_is_kept_and_a_failure_still_leaves_the_old_file(path: Path) -> None:
    options = Options(keep_tail=2, auto_backup=False)
    before = path.read_bytes()

    def fail() -> None:
        raise TranscriptError("stop here")

    with pytest.raises(TranscriptError, match="stop here"):
        compress_file(job(path, options=options, at_step=at("written", fail)))
    assert path.read_bytes() == before
    assert compress_file(job(path, options=options)).copy is None
    assert files(path) == ["s1.jsonl"]


@pytest.mark.parametrize("step", STEPS[:6])
def test_any_failure_before_the_replacement_leaves_every_byte(path: Path, step: CompressionStep) -> None:
    def fail() -> None:
        raise OSError(28, "no space left")

    before = path.read_bytes()
    with pytest.raises((TranscriptError, OSError)):
        compress_file(job(path, at_step=at(step, fail)))
    assert path.read_bytes() == before
    assert files(path) == ["s1.jsonl"]


def test_a_log_that_cannot_be_written_is_told_and_the_session_stays_compressed(path: Path) -> None:
    workspace = path.parent.parent / "workspace"
    report = compress_file(job(path, at_step=at("put_away", lambda: workspace.write_text("no folder", "utf-8"))))
    assert report.has_changed
    assert "could not be logged" in report.notices[0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a child is killed, which needs fork")
@pytest.mark.parametrize("step", STEPS)
def test_killed_between_any_two_steps_there_is_the_old_file_or_the_new_one(path: Path, step: CompressionStep) -> None:
    before = path.read_bytes()
    expected = path.with_name("other.jsonl")
    expected.write_bytes(before)
    compress_file(job(expected))

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    child = multiprocessing.get_context("fork").Process(target=compress_file, args=(job(path, at_step=at(step, die)),))
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    old, new = before, expected.read_bytes()
    assert path.read_bytes() == (new if step in ("replaced", "put_away", "logged") else old)
    # The next run clears up after it, and the file from before is never lost.
    report = compress_file(job(path, now=utc(60 * 24 * 2), options=Options(keep_tail=2, force=True)))
    assert old in [copy.read_bytes() for copy in copies_of(path)]
    assert report.path.read_bytes() != old
    leftovers = {name for name in files(path) if not name.startswith(COPIES_FOLDER)}
    assert leftovers == {"s1.jsonl", "other.jsonl"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a child is killed, which needs fork")
def test_a_kill_in_the_middle_of_writing_leaves_the_old_file(path: Path) -> None:
    before = path.read_bytes()
    half = path.with_name(".s1.jsonl.new.tmp")

    def die_half_way() -> None:
        half.write_bytes(before[:100])
        os.kill(os.getpid(), signal.SIGKILL)

    child = multiprocessing.get_context("fork").Process(
        target=compress_file, args=(job(path, at_step=at("backed_up", die_half_way)),)
    )
    child.start()
    child.join(60)
    assert path.read_bytes() == before
    assert compress_file(job(path)).has_changed
    assert not half.exists()


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="no session file"):
        compress_file(job(tmp_path / "none.jsonl"))


def test_with_a_model_gists_and_bullets_are_its_own(path: Path) -> None:
    session = Session()
    for number in range(40):
        session.user(f"Please do step {number} of the plan.")
        session.says(f"Step {number} is done. " + "It was done with care. " * 40)
    session.write(path)

    def ask(prompt: str) -> str:
        if "numbered lines" in prompt:
            return "\n".join(f"{number}. gist {number}" for number in range(1, 21))
        return "[SESSION SUMMARY]\n• [State] The plan is half done\n• [Decision] Go on"

    report = compress_file(job(path, ask=ask))
    text = path.read_text("utf-8")
    assert report.notices == ()
    assert "• [State] The plan is half done" in text and "gist 7 ...[condensed, " in text
    assert "• [Decision] Go on → memory/2026-04-21.md" in text


@pytest.mark.parametrize(
    "answer", ["", "I cannot do that.", "[SESSION SUMMARY]\n" + "• [Fact] x\n" * 9], ids=["empty", "talk", "too-many"]
)
def test_an_answer_that_cannot_be_used_is_told_and_code_decides_alone(path: Path, answer: str) -> None:
    session = Session()
    for number in range(40):
        session.user(f"Please do step {number} of the plan.")
        session.says(f"Step {number} is done. " + "It was done with care. " * 40)
    session.write(path)
    report = compress_file(job(path, ask=lambda prompt: answer))
    assert len(report.notices) == 2
    assert "• [State] Please do step 39 of the plan." in path.read_text("utf-8")
