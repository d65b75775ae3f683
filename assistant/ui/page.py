"""The page: layout, wiring, and the server that shows it before the assistant is loaded."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import os
import socket
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from assistant.config.settings import Settings
from assistant.errors import PalimpsestError, SettingsError
from assistant.ui.cards import card
from assistant.ui.server.guard import Guard, known_hosts
from assistant.ui.server.loading import Loaded, Loading, Opener

if TYPE_CHECKING:
    from gradio import Blocks

    from assistant.assembly.assistant import Assistant
    from assistant.ui.server.rooms import Rooms

_FIRST_PAGE_WAIT_SECONDS = 2.0
_PORTS = range(7860, 7960)
_GUEST_BANNER = (
    "This page is reachable by others. You have a temporary home that nobody else sees, with the built-in assistant "
    "and without tools; half an hour after you leave, or five minutes where others wait for a place, it is wiped. "
    "Run it on your own machine to keep your words."
)
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
        importlib.import_module("gradio")
    finally:
        inspect.getfile = real


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
    from starlette.middleware import Middleware

    from assistant.ui.layout import head, sign_in_message, theme
    from assistant.ui.server.rooms import Rooms
    from assistant.ui.server.sign_in import check_password, owner_of, who_asks
    from assistant.ui.server.visitors import VisitorCookie

    first_page = asyncio.Event()
    # Known to the thread that starts the server, wanted by the loop that serves.
    address: Future[str] = Future()

    async def keep_open(person: str, loading: Loading) -> None:
        await _keep_open(loading, lambda url: opener(person, url), first_page, address)

    rooms = Rooms(who_asks(settings), keep_open)
    demo = build(settings, rooms)

    @asynccontextmanager
    async def lifespan(_: object) -> AsyncGenerator[None]:
        # The assistants live in the loop that serves the page, and end with it.
        if not settings.has_guests:
            rooms.open(owner_of(settings))
        sweeping = asyncio.create_task(rooms.keep_sweeping(), name="rooms")
        try:
            yield
        finally:
            sweeping.cancel()
            await asyncio.gather(sweeping, return_exceptions=True)
            await rooms.close()

    guard = Middleware(
        Guard,  # type: ignore[arg-type]
        hosts=known_hosts(settings.host, settings.space_host),
        any_address=settings.is_public,
        framed_by=_SPACE_FRAMES if settings.is_space else framed_by,
        on_first_page=first_page.set,
    )
    cookie = Middleware(VisitorCookie, is_space=settings.is_space)  # type: ignore[arg-type]
    demo.queue(default_concurrency_limit=16, max_size=128)
    _let_queue_rest(demo)
    port = _port(settings)
    try:
        _, url, _ = demo.launch(
            server_name=settings.host or (None if settings.is_space else "127.0.0.1"),
            server_port=port,
            prevent_thread_lock=True,
            inline=False,
            quiet=True,
            show_error=False,
            ssr_mode=False,
            run_history=False,
            enable_monitoring=False,
            footer_links=[],
            max_file_size="1mb",
            theme=theme(),
            head=head(),
            auth=check_password(settings.accounts) if settings.accounts else None,  # type: ignore[arg-type]
            auth_message=sign_in_message(),
            app_kwargs={"middleware": [guard, *([cookie] if settings.has_guests else [])], "lifespan": lifespan},
        )
    except OSError as error:
        raise _cannot_listen(settings, port, error) from None
    address.set_result(url.rstrip("/"))
    return PageServer(url, close=lambda: demo.close(verbose=False), wait=demo.block_thread)


def _port(settings: Settings) -> int | None:
    """The port that is set, else the first free one; on a Space the platform's."""
    if settings.port is not None or settings.is_space:
        return settings.port
    for port in _PORTS:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as opened, contextlib.suppress(OSError):
            opened.bind((settings.host or "127.0.0.1", port))
            return port
    return None


def _cannot_listen(settings: Settings, port: int | None, error: OSError) -> SettingsError:
    host = settings.host or "127.0.0.1"
    if settings.host:
        return SettingsError(
            "PALIMPSEST_HOST", f"the page cannot listen at {host}, port {port}: {error.strerror or error}"
        )
    return SettingsError("PALIMPSEST_PORT", f"port {port} is taken by another program. Set another, or none.")


def _let_queue_rest(demo: Blocks) -> None:
    """Gradio looks for events a thousand times a second; twenty times cost far less and nobody sees it."""
    queue = demo._queue  # pyright: ignore[reportPrivateUsage]
    queue.sleep_when_free = 0.05
    queue.progress_update_sleep_when_free = 1.0


def serve(settings: Settings) -> int:
    """Serve the page until the process is told to end; returns the exit code."""
    server = start(settings, partial(open_person, settings))
    print(f"Palimpsest is at {server.url}", flush=True)
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


def build(settings: Settings, rooms: Rooms) -> Blocks:
    """The page."""
    import gradio as gr

    from assistant.ui.components import PageComponents
    from assistant.ui.layout import lay_out
    from assistant.ui.wiring import wire

    page = PageComponents()
    with gr.Blocks(title="Palimpsest", analytics_enabled=False, fill_width=True, fill_height=True) as demo:
        lay_out(page, str(card("banner", text=_GUEST_BANNER)) if settings.has_guests else "")
        wire(demo, page, rooms)
    return demo
