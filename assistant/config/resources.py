"""Where the files that ship beside the code are: at the top of a checkout, inside the package of a wheel."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

_PACKAGE = Path(__file__).parent.parent


def resource_folder(name: Literal["prompts", "working_dir_template"]) -> Path:
    """The folder `name` of this installation."""
    installed = _PACKAGE / f"_{name}"
    return installed if installed.is_dir() else _PACKAGE.parent / name
