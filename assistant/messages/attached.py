"""Files that the person gave with a message: what is known of one, and the tag under which its text stands there.

The text begins with a tag that says which file it is, and ends with one that holds the same mark, which nobody who
wrote the file can know.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Literal

ShownPart = Literal["whole", "beginning", "picture"]
"""What of a file stands in the message."""

IMAGE_TOKENS = 2000
"""What a picture takes in a request; providers count from some hundreds to about so many."""
_TAG = re.compile(r"<attached ((?:\w+=\"[^\"<>\n]*\" ?)+)>\n")
_ATTRIBUTE = re.compile(r"(\w+)=\"([^\"]*)\"")
_UNSAFE = re.compile(r"[\"<>\x00-\x1f]")


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file that was given with a message. `tokens` is what it takes there; `kept` its path from the home."""

    name: str
    kept: str
    size_bytes: int
    tokens: int
    shown: ShownPart
    picture: str = ""
    """The name of the copy that a model sees; empty for anything but a picture."""
    kept_text: str = ""
    """The path of its text from the home, where that is kept beside it."""


def tagged(file: AttachedFile, content: str, mark: str) -> str:
    """The text of a file, or what is said of it, between its tags."""
    values = asdict(file) | {"mark": mark}
    attributes = " ".join(f'{name}="{_UNSAFE.sub("_", str(value))}"' for name, value in values.items() if value != "")
    return f'<attached {attributes}>\n{content}\n</attached mark="{mark}">'


def file_of(text: str) -> AttachedFile | None:
    """The file whose text this is; None where it does not begin with a tag of ours."""
    tag = _TAG.match(text)
    values: dict[str, str] = dict(_ATTRIBUTE.findall(tag[1])) if tag else {}
    try:
        return AttachedFile(
            name=values["name"],
            kept=values["kept"],
            size_bytes=int(values["size_bytes"]),
            tokens=int(values["tokens"]),
            shown=_shown(values["shown"]),
            picture=values.get("picture", ""),
            kept_text=values.get("kept_text", ""),
        )
    except (KeyError, ValueError):
        return None


def _shown(value: str) -> ShownPart:
    match value:
        case "whole" | "beginning" | "picture":
            return value
        case _:
            raise ValueError(value)
