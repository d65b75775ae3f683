"""One process owns a home; who else comes is told by whom and where."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import signal
import threading
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from assistant.errors import HomeInUseError, WorkspaceError
from assistant.storage.ownership import HomeOwnership, Owner, current_owner
from assistant.storage.workspace import Workspace
from tests.fakes.children import started


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "home")


def test_the_owner_is_known_while_it_owns_and_not_after(workspace: Workspace) -> None:
    assert current_owner(workspace) is None
    with HomeOwnership(workspace) as ownership:
        assert current_owner(workspace) == Owner(os.getpid(), None)
        ownership.tell_address("http://127.0.0.1:7860")
        assert current_owner(workspace) == Owner(os.getpid(), "http://127.0.0.1:7860")
        assert workspace.root.stat().st_mode & 0o777 == 0o700
    assert current_owner(workspace) is None
    assert not workspace.owner_path.exists()


def test_a_second_owner_is_refused_with_the_pid_and_address_of_the_first(workspace: Workspace) -> None:
    with HomeOwnership(workspace) as ownership:
        ownership.tell_address("http://127.0.0.1:7860")
        with pytest.raises(HomeInUseError) as refused, HomeOwnership(workspace):
            pass
    assert (refused.value.pid, refused.value.address) == (os.getpid(), "http://127.0.0.1:7860")
    with HomeOwnership(workspace):
        pass


def test_a_home_taken_in_one_thread_is_given_up_in_another(workspace: Workspace) -> None:
    ownership = HomeOwnership(workspace)
    taker = threading.Thread(target=ownership.__enter__)
    taker.start()
    taker.join()
    assert current_owner(workspace) == Owner(os.getpid(), None)
    ownership.__exit__(None, None, None)
    assert current_owner(workspace) is None


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"pid": "x", "address": 7}'])
def test_an_owner_file_that_cannot_be_read_still_refuses(workspace: Workspace, content: bytes) -> None:
    with HomeOwnership(workspace):
        workspace.owner_path.write_bytes(content)
        with pytest.raises(HomeInUseError, match="another process"), HomeOwnership(workspace):
            pass


def test_an_owner_file_that_a_killed_process_left_means_nothing(workspace: Workspace) -> None:
    workspace.root.mkdir()
    workspace.owner_path.write_text(json.dumps({"pid": 1, "address": "http://127.0.0.1:1"}))
    assert current_owner(workspace) is None
    with HomeOwnership(workspace):
        assert current_owner(workspace) == Owner(os.getpid(), None)


def test_a_home_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkspaceError, match="cannot be used"), HomeOwnership(Workspace(tmp_path / "file" / "home")):
        pass


def _own(root: Path, ready: Connection) -> None:
    with HomeOwnership(Workspace(root)) as ownership:
        ownership.tell_address("http://127.0.0.1:7861")
        ready.send("owns")
        ready.recv()


def test_a_killed_owner_gives_the_home_up(workspace: Workspace) -> None:
    ours, theirs = multiprocessing.Pipe()
    process = started(_own, workspace.root, theirs)
    assert ours.recv() == "owns"
    with pytest.raises(HomeInUseError) as refused, HomeOwnership(workspace):
        pass
    assert (refused.value.pid, refused.value.address) == (process.pid, "http://127.0.0.1:7861")
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join()
    with HomeOwnership(workspace):
        assert current_owner(workspace) == Owner(os.getpid(), None)
    ours.close()
    theirs.close()


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK])
def test_a_disk_without_locks_is_named_and_nobody_is_taken_for_the_owner(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, "no locks here")

    monkeypatch.setattr("fcntl.flock", refuse)
    for _ in range(2):
        with pytest.raises(WorkspaceError, match="the disk cannot lock files"), HomeOwnership(workspace):
            pass
