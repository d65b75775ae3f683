"""A model gets a copy of a picture: upright, not larger than it sees, and without what a camera wrote beside it."""

from __future__ import annotations

import base64
import io
import struct
import zlib

import pytest
from PIL import Image

from assistant.agent.readers.picture_copy import MAX_SIDE_PIXELS
from assistant.agent.readers.process import read_apart
from assistant.agent.tools.tool_backend import shell_environment

_ORIENTATION, _MAKER = 0x0112, 0x010F


def drawn(form: str, size: tuple[int, int] = (40, 20), mode: str = "RGB", turned: int = 1) -> bytes:
    """A picture whose left half is red; `turned` is how a camera says that it was held."""
    picture = Image.new(mode, size, "blue")
    picture.paste("red", (0, 0, size[0] // 2, size[1]))
    exif, out = Image.Exif(), io.BytesIO()
    exif[_ORIENTATION], exif[_MAKER] = turned, "a camera"
    picture.save(out, form, **({"exif": exif} if form == "JPEG" else {}))
    return out.getvalue()


def bomb() -> bytes:
    """A small file that says it is a picture of many thousand million points."""
    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 999)) + chunk(b"IEND", b"")
    )


async def copy_of(content: bytes) -> tuple[str, Image.Image]:
    """The media type of the copy, and the copy."""
    said = await read_apart("picture", content, shell_environment())
    copy = Image.open(io.BytesIO(base64.b64decode(str(said["data"]))))
    assert (said["width"], said["height"]) == copy.size
    return str(said["media_type"]), copy


@pytest.mark.parametrize(
    ("form", "mode", "media_type"),
    [
        ("PNG", "RGBA", "image/png"),
        ("GIF", "RGB", "image/png"),
        ("BMP", "RGB", "image/png"),
        ("JPEG", "RGB", "image/jpeg"),
        ("TIFF", "RGB", "image/jpeg"),
        ("WEBP", "RGB", "image/jpeg"),
    ],
)
async def test_every_form_becomes_one_that_every_provider_takes(form: str, mode: str, media_type: str) -> None:
    found, copy = await copy_of(drawn(form, mode=mode))
    assert (found, copy.size) == (media_type, (40, 20))


async def test_a_photograph_is_upright_and_says_nothing_of_its_camera() -> None:
    _, copy = await copy_of(drawn("JPEG", turned=6))
    assert copy.size == (20, 40)
    assert dict(copy.getexif()) == {}


async def test_a_large_one_is_made_smaller() -> None:
    _, copy = await copy_of(drawn("JPEG", size=(4_000, 3_000)))
    assert copy.size == (MAX_SIDE_PIXELS, MAX_SIDE_PIXELS * 3 // 4)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (drawn("PNG")[:60], "unreadable"),
        (b"\x89PNG\r\n\x1a\n", "unreadable"),
        (b"<svg/>", "unreadable"),
        (bomb(), "too_large"),
    ],
    ids=["cut", "only a head", "no picture of points", "a bomb"],
)
async def test_what_is_no_picture_is_named(content: bytes, problem: str) -> None:
    assert await read_apart("picture", content, shell_environment()) == {"problem": problem}
