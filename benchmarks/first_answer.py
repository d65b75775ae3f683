"""From an empty home to a first answer: a person's clicks and seconds, with a model server on the machine.

The program is started as a person starts it; the seconds begin with its command and hold its start. What answers is
a server on loopback that a model does not slow down, so to these seconds comes what a model takes.
"""

from __future__ import annotations

import socket
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from assistant.models.detect import PLACES
from benchmarks.figures import Figure, report
from benchmarks.opened_page import CHROMIUM_FLAGS, WAIT_SECONDS, installed_environment, read_address, started_program
from tests.conftest import find_chromium
from tests.fakes.free_port import free_port
from tests.fakes.players import RuleBasedPlayer
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import ChatRequest, Reply

ANSWER = "You told me nothing yet. What should I call you?"
MAX_CLICKS, MAX_SECONDS = 5, 60
_COUNT_CLICKS = "window.clicks = 0; addEventListener('click', event => event.isTrusted && window.clicks++, true)"


def main() -> int:
    """Measure one first run."""
    chromium = find_chromium()
    if chromium is None:
        print("no Chromium was found on the PATH", file=sys.stderr)
        return 1
    with (
        StrictProvider(_answer, port=_known_port(), models=("small-7b", "large-70b")),
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=list(CHROMIUM_FLAGS))
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(WAIT_SECONDS * 1000)
        page.add_init_script(_COUNT_CLICKS)
        started = time.monotonic()
        with _new_program(Path(folder)) as address:
            page.goto(address)
            clicks = _ask_first(page)
            seconds = time.monotonic() - started
        browser.close()
    return report(
        [
            Figure("clicks to the first answer", clicks, at_most=MAX_CLICKS),
            Figure("from the command to the first answer", seconds, "s", at_most=MAX_SECONDS),
        ]
    )


def _ask_first(page: Page) -> int:
    """Take what was found, press a suggestion and send it; how many clicks that took."""
    page.get_by_role("button", name="Begin").click()
    page.locator("#chat .p-suggestion", has_text="What do you know about me?").click()
    page.get_by_role("button", name="Send message").click()
    page.locator("#chat .m-column").get_by_text(ANSWER).first.wait_for()
    return page.evaluate("window.clicks")


def _answer(request: ChatRequest) -> Reply:
    """The test of the connection as asked; to a person a sentence."""
    return RuleBasedPlayer()(request) if "connection_check" in request.tools else Reply(text=ANSWER)


def _known_port() -> int:
    """A port that the program looks at by itself and that nothing else of this machine has."""
    for place in PLACES[1:]:
        with closing(socket.socket()) as trial:
            if trial.connect_ex(("127.0.0.1", place.port)):
                return place.port
    raise SystemExit("every port of a known model server is taken on this machine")


@contextmanager
def _new_program(folder: Path) -> Generator[str]:
    """The program with an empty home and nothing set; the address of its page, as soon as it tells it."""
    chosen = ("PALIMPSEST_", "OPENAI_", "DASHSCOPE_", "ANTHROPIC_", "OLLAMA_", "GEMINI_", "GOOGLE_", "MEMORY_STORE_")
    environment = {name: value for name, value in installed_environment().items() if not name.startswith(chosen)}
    environment |= {
        "HOME": str(folder),
        "USERPROFILE": str(folder),
        "PALIMPSEST_HOME": str(folder / "home"),
        "PALIMPSEST_PORT": str(free_port()),
    }
    with started_program(environment) as process:
        yield read_address(process)


if __name__ == "__main__":
    sys.exit(main())
