"""A strange machine: how it differs from an ordinary one, and what is tried on it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Address = Literal["loopback", "remote", "named", "own certificate", "none"]
"""Where the model is: on this machine, at another address of it, behind a proxy that knows its name, or nowhere."""
Command = Literal["chat", "doctor", "sessions", "search", "page"]
TALKING: tuple[Command, ...] = ("chat", "doctor")
ALL_BUT_PAGE: tuple[Command, ...] = ("chat", "doctor", "sessions", "search")
ALL: tuple[Command, ...] = (*ALL_BUT_PAGE, "page")

ROOT = Path(__file__).parents[2]
NOBODY = 4242
"""A user that no machine has."""
AS_NOBODY = f'setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups -- "$@"'


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine, and a pattern of what `chat` has to say there; empty where it has to work."""

    name: str
    variables: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    address: Address = "loopback"
    shell: str = 'exec "$@"'
    """Runs the command as "$@"; `$HOME_FOLDER` is the home, `$SCRATCH` a folder for anything else."""
    prepare: Callable[[Path], None] = lambda _: None
    told: str = ""
    commands: Sequence[Command] = TALKING
    home_name: str = "home"
    is_unread: bool = False
    """True where nobody reads the output, so that nothing has to be said."""


def can_mount() -> bool:
    """True where a namespace with mounts of its own can be made."""
    if shutil.which("unshare") is None:
        return False
    line = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs none /mnt"]
    return subprocess.run(line, capture_output=True, check=False).returncode == 0


def can_be_nobody() -> bool:
    """True where a command can run as a user that the machine does not know."""
    return shutil.which("setpriv") is not None and os.geteuid() == 0


def in_namespace(*arrange: str, run: str = '"$@"') -> str:
    """A shell line that arranges mounts which only the command sees."""
    kind = "-m" if os.geteuid() == 0 else "-rm"
    steps = " && ".join([*arrange, f"exec {run}"])
    return f"exec unshare {kind} sh -c '{steps}' sh \"$@\""
