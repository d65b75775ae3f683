"""The page: layout, wiring, and the server that shows it before the assistant is loaded."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import os
import shutil
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from assistant.config.plain_reasons import plain_reason
from assistant.config.settings import Settings
from assistant.config.words import say
from assistant.errors import PalimpsestError, SettingsError, WorkspaceError
from assistant.storage.workspace import Workspace
from assistant.ui.cards import card
from assistant.ui.server.loading import Loaded, Loading, Opener

if TYPE_CHECKING:
    from gradio import Blocks

    from assistant.assembly.assistant import Assistant
    from assistant.ui.server.listener import Listener
    from assistant.ui.server.site import Site
    from assistant.ui.server.user_sessions import UserSessions

_FIRST_PAGE_WAIT_SECONDS = 2.0
_NETWORK_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "ssl_cert_file", "ssl_cert_dir")
_PORTS = range(7860, 7960)
_MAX_PAGE_LOADS = 1_000
"""Of so many Gradio keeps a state, some 90 KB each: nothing tells it that a tab was closed."""
_SPACE_FRAMES = "https://huggingface.co https://*.hf.space"


def import_gradio() -> None:
    """Import gradio without its rewriting of `.pyi` files, which costs a third of the time.

    Gradio finds each component's source to write stubs beside it and gives up on OSError; should that change, the
    import is slow again, not broken.
    """
    real = inspect.getfile

    def getfile(subject: object) -> str:
        if isinstance(subject, type) and subject.__module__.split(".", 1)[0] == "gradio":
            raise OSError("no stubs")
        return real(subject)  # type: ignore[arg-type]

    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    # Gradio sums up its own run times with pandas after every event; once in a billion is enough.
    os.environ["GRADIO_ANALYTICS_CACHE_FREQUENCY"] = "1000000000"
    inspect.getfile = getfile
    try:
        with _without_network_variables():
            importlib.import_module("gradio")
    finally:
        inspect.getfile = real


@contextlib.contextmanager
def _without_network_variables() -> Generator[None]:
    """Meanwhile no proxy and no certificate is set: Gradio makes clients that no page uses, and fails over them."""
    hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.lower() in _NETWORK_VARIABLES}
    try:
        yield
    finally:
        os.environ.update(hidden)


@dataclass(frozen=True, slots=True)
class PageServer:
    """A page that is being served."""

    url: str
    close: Callable[[], None]
    wait: Callable[[], None]


def start(settings: Settings, opener: Opener, framed_by: str = "") -> PageServer:
    """Serve the page now and load the assistant behind it; returns as soon as the page answers.

    `framed_by` lists, as a content security policy does, the pages that may show this one in a frame.
    """
    _clear_scratch(settings)
    os.environ["GRADIO_TEMP_DIR"] = str(Workspace(settings.home).page_folder)
    import_gradio()
    # Where no event loop runs, Gradio makes one for every lock it needs and closes none.
    if _runs_in_loop():
        return _start(settings, opener, framed_by)

    async def start_in_loop() -> PageServer:
        return _start(settings, opener, framed_by)

    return asyncio.run(start_in_loop())


def _runs_in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _start(settings: Settings, opener: Opener, framed_by: str) -> PageServer:
    from assistant.storage.sessions.early_list import listed_by_files
    from assistant.ui.server.drawn_page import DrawnPage
    from assistant.ui.server.listener import Listener
    from assistant.ui.server.sign_in import home_of, owner_of
    from assistant.ui.server.site import Site
    from assistant.ui.server.user_sessions import UserSessions
    from assistant.ui.server.visitors import person_asking

    first_page = asyncio.Event()
    # Known to the thread that starts the server, wanted by the loop that serves.
    address: Future[str] = Future()

    async def keep_open(person: str, loading: Loading) -> None:
        if home := home_of(settings, person):
            loading.foresee(partial(listed_by_files, home))
        await _keep_open(loading, lambda url: opener(person, url), first_page, address)

    is_home_there = settings.home.exists()
    _make_scratch(settings)
    users = UserSessions(person_asking, keep_open)
    page = DrawnPage(partial(build, settings, users))
    demo = page.demo

    @asynccontextmanager
    async def lifespan(_: object) -> AsyncGenerator[None]:
        # The assistants live in the loop that serves the page, and end with it.
        if not settings.has_guests:
            users.open(owner_of(settings))
        sweeping = asyncio.create_task(users.keep_sweeping(), name="user sessions")
        try:
            yield
        finally:
            sweeping.cancel()
            await asyncio.gather(sweeping, return_exceptions=True)
            await users.close()

    demo.queue(default_concurrency_limit=16, max_size=128)
    demo.state_session_capacity = _MAX_PAGE_LOADS
    _let_queue_rest(demo)
    listening = _listen(settings)
    site = Site(settings, page, users, lifespan, _SPACE_FRAMES if settings.is_space else framed_by, first_page.set)
    # Gradio makes folders for what this page has not; whoever has guests only has no home.
    _clear_scratch(settings)
    if not is_home_there:
        with contextlib.suppress(OSError):
            settings.home.rmdir()
    listener = Listener(site.app, listening)
    listener.start()
    url = _address(listening)
    address.set_result(url.rstrip("/"))
    return PageServer(url, close=partial(_close, settings, site, listener), wait=listener.wait)


def _close(settings: Settings, site: Site, listener: Listener) -> None:
    site.end_streams()
    listener.close()
    _clear_scratch(settings)


def _make_scratch(settings: Settings) -> None:
    """The folder that Gradio makes its own in; raises `WorkspaceError` where the home cannot be written."""
    try:
        Workspace(settings.home).page_folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise WorkspaceError(say("storage", "home_unusable", root=settings.home, reason=plain_reason(error))) from None


def _clear_scratch(settings: Settings) -> None:
    shutil.rmtree(Workspace(settings.home).page_folder, ignore_errors=True)


def _listen(settings: Settings) -> socket.socket:
    """The port that is set, else the first free one; on a Space the platform's."""
    from gradio.http_server import INITIAL_PORT_VALUE, LOCALHOST_NAME

    from assistant.ui.server.listener import listen

    host = settings.host or (LOCALHOST_NAME if settings.is_space else "127.0.0.1")
    port = settings.port if settings.port is not None else INITIAL_PORT_VALUE if settings.is_space else None
    try:
        return listen(host, _PORTS if port is None else (port,))
    except OSError as error:
        raise _cannot_listen(settings, port, error) from None


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    shown = "localhost" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/"


def _cannot_listen(settings: Settings, port: int | None, error: OSError) -> SettingsError:
    host = settings.host or "127.0.0.1"
    if settings.host:
        return SettingsError(
            "PALIMPSEST_HOST", say("page", "cannot_listen", host=host, port=port, reason=plain_reason(error))
        )
    return SettingsError("PALIMPSEST_PORT", say("page", "port_taken", port=port))


def _let_queue_rest(demo: Blocks) -> None:
    """Gradio looks for events a thousand times a second; twenty times cost far less and nobody sees it."""
    queue = demo._queue  # pyright: ignore[reportPrivateUsage]
    queue.sleep_when_free = 0.05
    queue.progress_update_sleep_when_free = 1.0


def serve(settings: Settings) -> int:
    """Serve the page until the process is told to end; returns the exit code."""
    server = start(settings, partial(open_person, settings))
    print(say("page", "is_at", url=server.url), flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        server.wait()
    server.close()
    return 0


def open_person(settings: Settings, person: str, address: str) -> AbstractAsyncContextManager[Assistant]:
    """The assistant of a person, brought in with all it imports only now."""
    from assistant.ui import people

    return people.open_person(settings, person, address)


async def _keep_open(
    loading: Loading,
    opener: Callable[[str], AbstractAsyncContextManager[Assistant]],
    first_page: asyncio.Event,
    address: Future[str],
) -> None:
    # Loading competes with the first page for the processor, so the page goes first.
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(first_page.wait(), _FIRST_PAGE_WAIT_SECONDS)
    try:
        opened: AbstractAsyncContextManager[Assistant] = await asyncio.to_thread(
            opener, await asyncio.wrap_future(address)
        )
        async with opened as assistant:
            loading.finish(Loaded(assistant, await asyncio.to_thread(_token_counter, assistant)))
            await asyncio.Event().wait()
    except PalimpsestError as error:
        loading.fail(error)


def _token_counter(assistant: Assistant) -> Callable[[str], int]:
    from assistant.messages.tokens import TokenCounter, vocabulary_for

    return TokenCounter(vocabulary_for(assistant.model.name)).text


def build(settings: Settings, users: UserSessions) -> Blocks:
    """The page."""
    import gradio as gr

    from assistant.ui.components import PageComponents
    from assistant.ui.page_layout import lay_out
    from assistant.ui.server.open_routes import max_file_bytes
    from assistant.ui.wiring import wire

    page = PageComponents()
    with gr.Blocks(title="Palimpsest", analytics_enabled=False, fill_width=True, fill_height=True) as demo:
        banner = str(card("banner", text=say("page", "guest_banner"))) if settings.has_guests else ""
        lay_out(page, banner, max_file_bytes(settings))
        wire(demo, page, users)
    return demo
