"""Hands a command over to palimpsest, wherever this folder was copied to."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

MODULE = "assistant.openclaw"


def hand_over(command: list[str]) -> int:
    """Run one of palimpsest's session commands and return its exit code."""
    found = _find_program()
    if found is None:
        print(
            "palimpsest is not installed here: `pip install palimpsest-assistant`, or run this with its Python.",
            file=sys.stderr,
        )
        return 1
    program, folder = found
    return subprocess.run([*program, *command], env=_environment(folder), check=False).returncode


def _find_program() -> "tuple[list[str], Path | None] | None":
    """The program and, for a checkout, the folder its package stands in."""
    for folder in Path(__file__).resolve().parents:
        if (folder / "assistant" / "openclaw" / "__main__.py").is_file():
            python = _python_of(folder)
            if python is not None:
                return [python, "-m", MODULE], folder
    if _is_installed():
        return [sys.executable, "-m", MODULE], None
    program = shutil.which("palimpsest")
    return ([program], None) if program else None


def _is_installed() -> bool:
    try:
        return importlib.util.find_spec(MODULE) is not None and importlib.util.find_spec("filelock") is not None
    except ModuleNotFoundError:
        return False


def _python_of(folder: Path) -> "str | None":
    """The Python of a checkout: its own environment, else this one where it has what palimpsest needs."""
    for name in ("bin/python", "Scripts/python.exe"):
        python = folder / ".venv" / name
        if python.is_file():
            return str(python)
    return sys.executable if importlib.util.find_spec("filelock") else None


def _environment(folder: "Path | None") -> "dict[str, str] | None":
    if folder is None:
        return None
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))}
