"""The text of a PDF's pages for the tool that reads files, or which problem of its words there is."""

from __future__ import annotations

from collections.abc import Mapping

from assistant.agent.readers.process import read_apart


async def read_pages(content: bytes, pages: str | None, environment: Mapping[str, str]) -> dict[str, object]:
    """What the reader says of a file: `total`, `first` and `texts`, or a `problem` by its name."""
    said = await read_apart("pdf", content, environment, pages or "")
    return {**said, "problem": f"pdf_{said['problem']}"} if "problem" in said else said
