"""The text of a PDF's pages for the tool that reads files, or which problem there is with it."""

from __future__ import annotations

from collections.abc import Mapping

from assistant.agent.readers.process import read_apart


async def read_pages(content: bytes, pages: str | None, environment: Mapping[str, str]) -> dict[str, object]:
    """What the reader says of a file: `total`, `first` and `texts`, or a `problem` by its name."""
    return await read_apart("pdf", content, environment, pages or "")
