"""The text of the pages of a PDF."""

from __future__ import annotations

import io
import re

MAX_PAGES = 20
"""Pages of one reading, where not all are asked for."""
MAX_CHARS = 2_000_000
"""Characters of one reading; a page has some thousands."""


def read(content: bytes, _: str, wanted: str) -> dict[str, object]:
    """`total`, `first` and `texts` of the pages that are wanted: `3`, `2-9`, `all`, or none for a short file's.

    `is_cut` is True, and else not there, where they have more text than is read. A broken file raises anything.
    """
    # Who only wants the limits must not wait for the library.
    from pypdf import PdfReader  # noqa: PLC0415

    reader = PdfReader(io.BytesIO(content))
    total = len(reader.pages)
    whole = f"1-{max(total, 1)}"
    match = re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", whole if wanted in ("", "all") else wanted)
    first = int(match[1]) if match else 0
    last = min(int(match[2] or first), total) if match else 0
    if not 1 <= first <= last:
        return {"problem": "no_such_pages", "total": total}
    if last - first >= MAX_PAGES and wanted != "all":
        return {"problem": "too_many_pages", "total": total}
    texts: list[str] = []
    left = MAX_CHARS
    for number in range(first - 1, last):
        texts.append((reader.pages[number].extract_text() or "")[:left])
        left -= len(texts[-1])
        if left <= 0:
            break
    said: dict[str, object] = {"total": total, "first": first, "texts": texts}
    return {**said, "is_cut": True} if left <= 0 else said
