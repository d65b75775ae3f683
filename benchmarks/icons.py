"""Draws the icons of the page, as the machine of a person shows them, from the one that is drawn by hand."""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from assistant.ui.cards import ASSETS
from benchmarks.opened_page import CHROMIUM_FLAGS
from tests.conftest import find_chromium

_FOLDER = ASSETS / "icons"
_ROUND_CORNERS = 'rx="112"'


def main() -> int:
    """Write the icons beside the drawing; the one that a system cuts to its own shape has no corners of its own."""
    chromium = find_chromium()
    if chromium is None:
        print("no Chromium was found on the PATH", file=sys.stderr)
        return 1
    drawing = (_FOLDER / "icon.svg").read_text("utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(CHROMIUM_FLAGS))
        for size in (192, 512):
            _draw(browser, drawing, size, _FOLDER / f"icon-{size}.png")
        _draw(browser, drawing.replace(_ROUND_CORNERS, ""), 512, _FOLDER / "maskable-512.png")
        browser.close()
    return 0


def _draw(browser: Browser, drawing: str, size: int, path: Path) -> None:
    page = browser.new_page(viewport={"width": size, "height": size})
    page.set_content(f"<style>body {{ margin: 0 }} svg {{ display: block; width: {size}px }}</style>{drawing}")
    page.screenshot(path=path, omit_background=True)
    page.close()


if __name__ == "__main__":
    sys.exit(main())
