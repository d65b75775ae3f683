"""Every state of the page at five widths, in both themes and languages, as pictures in ./pictures, and what is wrong
with them: words too pale, cut off or covered, buttons too small; with `--axe` also what axe finds.

With `--readme` the pictures of the README, written into ./docs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from assistant.assembly.assistant import Assistant, open_assistant
from assistant.assembly.sample.show_command import with_show_command
from assistant.config.accounts import hash_password
from assistant.config.profiles import Profile, Profiles
from assistant.config.settings import Settings
from assistant.config.words import speak
from assistant.models.chat_model import ChatModel, connect_offline
from assistant.models.detect import ServerPlace
from assistant.storage.profile_file import keep_profiles
from assistant.ui.page import start
from assistant.ui.people import open_guest, open_person
from assistant.ui.server.loading import Opener
from benchmarks.readme_picture import take_readme_pictures
from tests.browser.behind import Behind, opened_behind
from tests.browser.conftest import CHROMIUM_FLAGS, Chat
from tests.browser.looks import TARGET_PIXELS, THEMES, TOUCHED_PIXELS, WIDTHS, axe_findings, faults_at_rest, settle
from tests.browser.states import STATES, Kind, Stage, State, show_panel
from tests.conftest import find_chromium
from tests.fakes.page_player import PagePlayer
from tests.fakes.players import RuleBasedPlayer
from tests.fakes.provider import StrictProvider
from tests.ui.open_page import write_memory

README_FOLDER = Path(__file__).parent.parent / "docs"
LANGUAGES = ("en", "zh")
TOUCHED_WIDTHS = (390, 820)
"""Widths of what is held in a hand."""
LARGEST_AXE_WIDTH = 1440
PATIENCE_MILLISECONDS = 60_000
_READY = {"people": "input[type=password]", "taken": "#chat .p-failed"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which pictures are taken, and what is done beside."""

    states: Sequence[State]
    languages: Sequence[str]
    widths: Sequence[tuple[int, int]]
    folder: Path
    has_axe: bool


class Pages:
    """The pages of all kinds of homes, each served from when it is first asked for."""

    def __init__(self, folder: Path, behind: Behind, stack: ExitStack) -> None:
        self._folder = folder
        self._behind = behind
        self._stack = stack
        self._addresses: dict[Kind, str] = {}

    def address(self, kind: Kind) -> str:
        """Where such a page is."""
        if kind not in self._addresses:
            settings, opener = self._opening(kind)
            server = start(settings, opener)
            self._stack.callback(server.close)
            self._addresses[kind] = server.url
        return self._addresses[kind]

    def _opening(self, kind: Kind) -> tuple[Settings, Opener]:
        """The settings and the assistants of such a page."""
        words_alone = {"home": self._folder / kind, "embedder": "none", "memory_store_backend": "local"}
        match kind:
            case "filled":
                return self._behind.settings, self._behind.open
            case "taken":
                return self._behind.settings, partial(open_person, self._behind.settings)
            case "people":
                pairs = f"ada:{hash_password('password one')},ben:{hash_password('password two')}"
                settings = Settings.model_validate(words_alone | {"users": pairs})
                return settings, partial(open_person, settings)
            case "guest":
                settings = Settings.model_validate(words_alone | {"provider": "offline"})
                return settings, lambda _person, _address: open_guest(settings)
            case "offline":
                settings = Settings.model_validate(words_alone | {"provider": "offline"})
                write_memory(settings.home)
                return settings, lambda _person, _address: with_show_command(open_assistant(settings))
            case "new":
                settings = Settings.model_validate(words_alone)
                found = StrictProvider(RuleBasedPlayer(), models=("small-7b", "large-70b"))
                port = self._stack.enter_context(found).port
                return settings, lambda _person, _address: with_show_command(_open_new(settings, port))


@asynccontextmanager
async def _open_new(settings: Settings, port: int) -> AsyncGenerator[Assistant]:
    """The assistant of a new home, on a machine where one model server runs."""

    async def connect(settings: Settings) -> ChatModel:
        return connect_offline(settings, "Nothing was chosen yet.")

    async with open_assistant(settings, connect=connect) as assistant:
        assistant.own_settings.places = (ServerPlace("Ollama", port),)
        yield assistant


@contextmanager
def serving(folder: Path) -> Generator[tuple[Pages, Behind, PagePlayer]]:
    """The pages, with a few conversations of other days behind that of a filled home."""
    player = PagePlayer()
    with ExitStack() as stack:
        behind = stack.enter_context(opened_behind(folder / "filled", player))
        behind.write_past("tax", "税表和收据", 3)
        behind.write_past("garden", "Plan for the balcony garden", 5)
        behind.write_past("lisbon", "Lisbon trip", 40, folded_turns=20)
        other = Profile(name="At home", provider="openai", base_url=str(behind.settings.base_url), model="strict-7b")
        keep_profiles(behind.home / "profiles.json", Profiles((other,)))
        pages = Pages(folder, behind, stack)
        stack.callback(player.gate.set)
        pages.address("filled")
        yield pages, behind, player


def take_all(browser: Browser, wanted: Wanted) -> list[str]:
    """Take the pictures; what is wrong with them, a line for each thing and state."""
    wrong: list[str] = []
    for language in wanted.languages:
        speak(language)  # type: ignore[arg-type]
        with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as (pages, behind, player):
            for state in wanted.states:
                context = browser.new_context(reduced_motion="reduce", viewport={"width": 1440, "height": 900})
                context.set_default_timeout(PATIENCE_MILLISECONDS)
                chat = Chat(context.new_page(), pages.address(state.kind))
                lines = [
                    f"{state.name} {language} {line}"
                    for line in _visit(Stage(chat, behind, player), state, language, wanted)
                ]
                print(*lines, f"{state.name} {language}: {len(lines)} findings", sep="\n", flush=True)
                wrong += lines
                context.close()
    return wrong


def _visit(stage: Stage, state: State, language: str, wanted: Wanted) -> list[str]:
    """Take the pictures of a state; what is wrong with it, with the looks in which it is."""
    try:
        _open(stage, state.kind)
        state.reach(stage)
    except PlaywrightError as error:
        stage.page.screenshot(path=wanted.folder / f"{state.name}-{language}-not-reached.png")
        return [f"was not reached: {error}"]
    seen: dict[str, list[str]] = {}
    touch = stage.page.context.new_cdp_session(stage.page)
    for number, (width, height) in enumerate(wanted.widths):
        _resize(stage.page, touch, width, height)
        if state.is_brief and number:
            state.reach(stage)
        if state.panel:
            show_panel(stage.page, state.panel)
        for theme in THEMES:
            stage.page.emulate_media(color_scheme=theme)
            settle(stage.page)
            for fault in _found(stage.page, width, wanted.has_axe):
                seen.setdefault(fault, []).append(f"{width}-{theme}")
            stage.page.screenshot(path=wanted.folder / f"{state.name}-{language}-{width}-{theme}.png")
    stage.player.gate.set()
    return [f"{fault} ({', '.join(looks)})" for fault, looks in seen.items()]


def _open(stage: Stage, kind: Kind) -> None:
    """Open the page, with a new conversation in a home that has some."""
    if kind != "filled":
        stage.page.goto(stage.chat.address)
        stage.page.locator(_READY.get(kind, "html.p-settled #chat .p-welcome")).wait_for()
        return
    stage.chat.open()
    stage.prepare()
    stage.chat.start_new()


def _resize(page: Page, touch: CDPSession, width: int, height: int) -> None:
    """Show the page at this size, pressed with a finger where it is held in a hand."""
    page.set_viewport_size({"width": width, "height": height})
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": width in TOUCHED_WIDTHS})  # pyright: ignore[reportUnknownMemberType]
    page.mouse.move(width / 2, 4)
    settle(page)


def _found(page: Page, width: int, has_axe: bool) -> list[str]:
    found = faults_at_rest(page, TOUCHED_PIXELS if width in TOUCHED_WIDTHS else TARGET_PIXELS)
    lines = [f"{kind}: {place}" for kind, places in found.items() for place in places]
    return lines + (axe_findings(page) if has_axe and width <= LARGEST_AXE_WIDTH else [])


def main() -> int:
    """Take all pictures, or those of the states that are named; the exit code is 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"states, by default all of: {', '.join(s.name for s in STATES)}")
    parser.add_argument("--folder", type=Path, default=Path("pictures"))
    parser.add_argument("--language", choices=LANGUAGES, help="one of the languages, by default both")
    parser.add_argument("--width", type=int, choices=[width for width, _ in WIDTHS], help="one of the widths")
    parser.add_argument("--axe", action="store_true", help="ask axe, too")
    parser.add_argument("--readme", action="store_true", help="take the pictures of the README alone, into docs/")
    options = parser.parse_args()
    executable = find_chromium()
    if executable is None:
        print("no Chromium on the PATH", file=sys.stderr)
        return 1
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(CHROMIUM_FLAGS))
        if options.readme:
            take_readme_pictures(browser, README_FOLDER)
            return 0
        options.folder.mkdir(parents=True, exist_ok=True)
        wanted = Wanted(
            [state for state in STATES if not options.names or state.name in options.names],
            [options.language] if options.language else LANGUAGES,
            [size for size in WIDTHS if options.width in (None, size[0])],
            options.folder,
            options.axe,
        )
        wrong = take_all(browser, wanted)
        browser.close()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
