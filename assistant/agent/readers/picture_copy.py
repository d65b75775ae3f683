"""A copy of a picture as models take it: of a size that they see, upright, without what a camera wrote beside it."""

from __future__ import annotations

import base64
import io

from PIL import Image, ImageOps

MAX_SIDE_PIXELS = 1_568
"""Of the longer side; larger ones are made smaller by the providers, which then count no more tokens.
https://platform.claude.com/docs/en/build-with-claude/vision"""
MAX_PIXELS = 100_000_000
"""Of the picture itself; one of more is taken for an attack on memory."""
_MAX_PNG_BYTES = 1_500_000
_JPEG_QUALITY = 85


def read(content: bytes, _: str, __: str) -> dict[str, object]:
    """`media_type`, `width`, `height`, and the copy in base64 as `data`; of a moving picture its first frame.

    A broken file raises anything.
    """
    Image.MAX_IMAGE_PIXELS = MAX_PIXELS // 2
    try:
        with Image.open(io.BytesIO(content)) as picture:
            if picture.width * picture.height > MAX_PIXELS:
                return {"problem": "too_large"}
            is_drawn = picture.format in ("PNG", "GIF", "BMP")
            upright = ImageOps.exif_transpose(picture)
            has_holes = upright.mode in ("RGBA", "LA", "PA") or "transparency" in upright.info
            plain = upright.convert("RGBA" if has_holes else "RGB")
    except Image.DecompressionBombError:
        return {"problem": "too_large"}
    plain.thumbnail((MAX_SIDE_PIXELS, MAX_SIDE_PIXELS))
    media_type, copy = _packed(plain, may_be_png=is_drawn or has_holes)
    data = base64.b64encode(copy).decode()
    return {"media_type": media_type, "width": plain.width, "height": plain.height, "data": data}


def _packed(picture: Image.Image, *, may_be_png: bool) -> tuple[str, bytes]:
    if may_be_png:
        out = io.BytesIO()
        picture.save(out, "PNG")
        if out.tell() <= _MAX_PNG_BYTES:
            return "image/png", out.getvalue()
    out = io.BytesIO()
    white = Image.new("RGB", picture.size, "white")
    white.paste(picture, mask=picture if picture.mode == "RGBA" else None)
    white.save(out, "JPEG", quality=_JPEG_QUALITY)
    return "image/jpeg", out.getvalue()
