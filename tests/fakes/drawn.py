"""Files of pictures, drawn for a test."""

from __future__ import annotations

import io

from PIL import Image


def picture_bytes(form: str, width: int, height: int) -> bytes:
    """A picture of one colour, as a file of this form: PNG, JPEG, …"""
    out = io.BytesIO()
    Image.new("RGB", (width, height), "navy").save(out, form)
    return out.getvalue()
