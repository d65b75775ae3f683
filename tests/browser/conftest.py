"""One server and one browser for all browser tests, and a fresh tab with a new conversation for each.

The assistant behind the page is the real one, in a home of the session; a provider on loopback answers it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect, sync_playwright

from assistant.config.settings import Settings
from assistant.ui.page import PageServer, start
from assistant.ui.server.loading import Opener
from tests.browser.behind import Behind, opened_behind
from tests.fakes.page_player import PagePlayer

CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WAIT_MILLISECONDS = 20_000
# Between Enter and the first news of a turn its page looks as if nothing went on: the message has to stand there first.
TURN_HAS_ENDED = """newest => {
    const said = [...document.querySelectorAll('#chat .m-person')].at(-1);
    const ends = [...document.querySelectorAll('#chat :is(.p-foot, .p-failed, .p-stopped)')];
    const isAfter = end => said.compareDocumentPosition(end) & Node.DOCUMENT_POSITION_FOLLOWING;
    return said && said.dataset.key !== newest && ends.some(isAfter) && !document.querySelector('#stop button');
}"""
Serve = Callable[[Opener, Path], PageServer]


@dataclass
class Chat:
    """A tab, and what it asked for."""

    page: Page
    address: str
    requests: list[str] = field(default_factory=list)
    _newest: str | None = None

    def open(self, query: str = "") -> None:
        """Load the page and wait until it is the person's."""
        self.page.goto(f"{self.address}?{query}")
        self.page.locator("html.p-settled").wait_for()
        self.page.locator("#chat .m-node").first.wait_for()
        self.page.locator("#files .p-file").first.wait_for(state="attached")

    def start_new(self) -> None:
        """Begin a new conversation."""
        self.page.locator("#new-chat").click()
        self.page.locator(".p-welcome .p-suggestion").first.wait_for()

    def open_session(self, title: str) -> None:
        """Open a conversation from the list."""
        self.page.locator("#sessions .p-session", has_text=title).click()

    def say(self, text: str) -> None:
        """Type a message and press Enter."""
        self._note_newest()
        self.page.locator("#composer textarea").fill(text)
        self.page.locator("#composer textarea").press("Enter")

    def say_two(self, first: str, ferries: int = 60) -> None:
        """A conversation of two turns, the first of them so long that it can be folded."""
        self.act("send", f"1 answer {first} {'I have seen a ferry today. ' * ferries}")
        self.wait_for_end()
        self.say("and now?")
        expect(self.page.locator("#chat")).to_contain_text("You said: and now?")
        self.wait_for_end()

    def wait_for_end(self) -> None:
        """Wait until what was said last stands in the conversation and its turn has ended."""
        self.page.wait_for_function(TURN_HAS_ENDED, arg=self._newest, timeout=WAIT_MILLISECONDS)
        self._newest = None

    def _note_newest(self) -> None:
        self._newest = self.page.evaluate("[...document.querySelectorAll('#chat .m-person')].at(-1)?.dataset.key")

    def act(self, action: str, target: str) -> None:
        """What a click on a card's button sends, whether or not there is such a button."""
        if action == "send":
            self._note_newest()
        self.page.evaluate("([action, target]) => window.palimpsest.send(action, target)", [action, target])

    @property
    def answers(self) -> str:
        """All that the conversation shows."""
        return self.page.locator("#chat .m-column").inner_text()


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Generator[Serve]:
    """Serves the page of whatever assistant a factory opens, on a free port, until the session ends."""
    servers: list[PageServer] = []

    def serve_one(opener: Opener, home: Path) -> PageServer:
        servers.append(start(Settings(home=home), opener))
        return servers[-1]

    yield serve_one
    for server in servers:
        server.close()


@pytest.fixture(scope="session")
def player() -> Generator[PagePlayer]:
    """What answers the assistant behind the page."""
    player = PagePlayer()
    yield player
    player.gate.set()


@pytest.fixture(scope="session")
def behind(tmp_path_factory: pytest.TempPathFactory, player: PagePlayer) -> Generator[Behind]:
    """The assistant behind the page; its home has memory, files for the tools, and past conversations."""
    with opened_behind(tmp_path_factory.mktemp("behind") / "home", player) as behind:
        behind.write_past("lisbon", "Lisbon trip", 40, folded_turns=20)
        yield behind


@pytest.fixture(scope="session")
def server(serve: Serve, behind: Behind) -> PageServer:
    """The page that all tests of this folder share."""
    return serve(behind.open, behind.home)


@pytest.fixture
def new_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that does not exist yet, in an environment that sets nothing but the search by words."""
    for name in ("PALIMPSEST_PROVIDER", "PALIMPSEST_BASE_URL", "OPENAI_API_KEY", "DASHSCOPE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PALIMPSEST_EMBEDDER", "none")
    monkeypatch.setenv("MEMORY_STORE_BACKEND", "local")
    # Nothing of what this machine has of models is found.
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    return tmp_path / "home"


@pytest.fixture
def recall(behind: Behind) -> Generator[None]:
    """Memory is searched before each turn."""
    behind.assistant.is_recall_on = True
    yield
    behind.assistant.is_recall_on = False


@pytest.fixture(scope="session")
def browser(chromium_path: str) -> Generator[Browser]:
    """One Chromium a run: while Playwright drives it no asynchronous test can run, so browser tests are the last."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=list(CHROMIUM_FLAGS))
        yield browser
        browser.close()


leaves_the_page = pytest.mark.console_says(
    "signal is aborted", "Connection errored out", "network error", "Failed to fetch"
)
"""What Gradio's client says of an event that was under way when the page was loaded again."""


@pytest.fixture
def context(browser: Browser, request: pytest.FixtureRequest) -> Generator[BrowserContext]:
    """A browser that knows nothing of other tests. Its console holds nothing but what `console_says` names."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(WAIT_MILLISECONDS)
    expect.set_options(timeout=WAIT_MILLISECONDS)
    said: list[str] = []
    context.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    context.on("weberror", lambda error: said.append(str(error.error)))
    yield context
    context.close()
    marker = request.node.get_closest_marker("console_says")
    expected = [str(words) for words in marker.args] if marker else []
    assert sorted({fault for fault in said if not any(words in fault for words in expected)}) == []


@pytest.fixture
def panel_left_open(context: BrowserContext) -> None:
    """The person has opened the right panel before and left it so."""
    context.add_init_script("if (location.host) localStorage['palimpsest-right'] ??= 'open'")


@pytest.fixture
def open_tab(context: BrowserContext, server: PageServer) -> Callable[[], Chat]:
    """Opens one more tab of the page."""

    started = time.monotonic()

    def note(kind: str, request: Request) -> None:
        # What a test that fails shows of its page.
        print(
            f"{time.monotonic() - started:8.3f} {kind} {request.method} {request.url} {(request.post_data or '')[:300]}"
        )

    def open_one() -> Chat:
        chat = Chat(context.new_page(), server.url)
        chat.page.on("request", lambda request: chat.requests.append(request.url))
        chat.page.on("request", partial(note, "asked"))
        chat.page.on("requestfinished", partial(note, "ended"))
        chat.page.on("requestfailed", partial(note, "broke"))
        return chat

    return open_one


@pytest.fixture
def chat(open_tab: Callable[[], Chat], player: PagePlayer) -> Generator[Chat]:
    """A tab with a new conversation. Whatever a test does, the page asks nobody outside."""
    player.gate.clear()
    chat = open_tab()
    chat.open()
    chat.start_new()
    yield chat
    player.gate.set()
    outside = [url for url in chat.requests if not re.match(r"(http://127\.0\.0\.1:\d+/|data:|blob:)", url)]
    assert outside == []
