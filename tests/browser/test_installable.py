"""The page as an app of its own, as Chromium sees it."""

from __future__ import annotations

import json

import pytest

from tests.browser.conftest import Chat

pytestmark = pytest.mark.browser


def test_chromium_would_install_the_page_as_an_app(chat: Chat) -> None:
    devtools = chat.page.context.new_cdp_session(chat.page)
    read = devtools.send("Page.getAppManifest")
    found = devtools.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert (read["errors"], json.loads(read["data"])["name"]) == ([], "Palimpsest")
    # A browser of a test keeps nothing, and so installs nothing.
    assert [error["errorId"] for error in found if error["errorId"] != "in-incognito"] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_frame_of_the_window_has_the_colour_of_the_paper(chat: Chat, theme: str) -> None:
    chat.page.evaluate("theme => localStorage.setItem('palimpsest-theme', theme)", theme)
    chat.open()
    chat.page.wait_for_function(
        """theme => {
            const paper = getComputedStyle(document.body).getPropertyValue("--p-paper");
            const frames = [...document.querySelectorAll("meta[name=theme-color]")];
            return document.body.classList.contains("dark") === (theme === "dark")
                && frames.length === 2 && frames.every(frame => frame.content === paper);
        }""",
        arg=theme,
    )
