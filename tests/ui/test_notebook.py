"""The page in a notebook: served by the process that runs the cells, shown in a frame under one."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from assistant.ui.notebook import open_page


async def test_a_cell_shows_the_page_in_a_frame_the_page_allows(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_PROVIDER", "offline")
    page = open_page(home, height=600)
    try:
        async with httpx.AsyncClient() as browser:
            answer = await browser.get(page.url)
        policy = answer.headers["content-security-policy"]
        shown = page._repr_html_()  # pyright: ignore[reportPrivateUsage]
    finally:
        page.close()

    assert (answer.status_code, repr(page)) == (200, f"Palimpsest is at {page.url}")
    assert policy.endswith("frame-ancestors 'self' http://localhost:* http://127.0.0.1:*")
    style = "width:100%;height:600px;max-height:85vh;border:0"
    assert shown.startswith(f'<iframe src="{page.url}" title="Palimpsest" style="{style}">')
