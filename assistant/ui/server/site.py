"""The whole site: Gradio's page and the routes beside it, behind the guard."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from fastapi import FastAPI
from gradio import Blocks, mount_gradio_app  # pyright: ignore[reportUnknownVariableType]
from gradio.routes import App
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.routing import Mount, Route

from assistant.config.settings import Settings
from assistant.storage.workspace import Workspace
from assistant.ui.cards import asset
from assistant.ui.page_layout import head, theme
from assistant.ui.server.app_routes import FAVICON_PATH, app_links, app_routes
from assistant.ui.server.asgi import PERSON, AsgiApp, AsgiReceive, AsgiScope, AsgiSend
from assistant.ui.server.attach_route import AttachRoute
from assistant.ui.server.drawn_page import DrawnPage, SpokenPage
from assistant.ui.server.first_in_head import FirstInHead
from assistant.ui.server.guard import Guard, Hosts, WhoComes, known_hosts
from assistant.ui.server.health_route import health_route
from assistant.ui.server.news_route import NewsRoute
from assistant.ui.server.open_routes import max_file_bytes
from assistant.ui.server.packed_streams import PackedStreams
from assistant.ui.server.patch_streams import PatchStreams
from assistant.ui.server.personal_names import NamesInAnswers, PersonalNames
from assistant.ui.server.portable_route import PortableRoute
from assistant.ui.server.sign_in import SignIn
from assistant.ui.server.user_sessions import UserSessions
from assistant.ui.server.visitors import VisitorCookie, Visitors

Lifespan = Callable[[object], AbstractAsyncContextManager[None]]


class Site:
    """Serves a page to whoever may see it; `on_first_page` is called once the first page was sent."""

    def __init__(
        self,
        settings: Settings,
        page: DrawnPage,
        users: UserSessions,
        lifespan: Lifespan,
        framed_by: str,
        on_first_page: Callable[[], None],
    ) -> None:
        self._demo = page.demo
        sign_in = SignIn(settings) if settings.accounts else None
        visitors = Visitors(time.monotonic) if settings.has_guests else None
        within = [Middleware(VisitorCookie, visitors=visitors, is_space=settings.is_space)] if visitors else []  # type: ignore[arg-type]
        names = PersonalNames()
        self._streams = PatchStreams(users, names)
        within.append(Middleware(NamesInAnswers, names=names))  # type: ignore[arg-type]
        # Of two manifests a browser takes the first, and Gradio names one that is not open.
        first = f"{app_links()}<script>{asset('first.js')}</script>"
        within.append(Middleware(FirstInHead, elements=first))  # type: ignore[arg-type]
        ours = [
            *(sign_in.routes() if sign_in else ()),
            *self._streams.routes(),
            *NewsRoute(users).routes(),
            *app_routes(),
            health_route(),
        ]
        folder = Workspace(settings.home).page_folder / "attached"
        ours += AttachRoute(users, folder, max_file_bytes(settings)).routes()
        ours += PortableRoute(users, max_file_bytes(settings)).routes()
        within.append(Middleware(SpokenPage, page=page, settings=settings, users=users))  # type: ignore[arg-type]
        self.routes = _routes(page.demo, lifespan, within, ours, has_accounts=sign_in is not None)
        who_comes: WhoComes = sign_in.who_comes if sign_in else visitors.who_comes if visitors else _the_owner
        self.app: AsgiApp = Guard(
            PackedStreams(_first_page_told(self.routes, on_first_page)),  # type: ignore[arg-type]
            Hosts(known_hosts(settings.host, settings.space_host), any_address=settings.is_public),
            who_comes,
            sign_in.show if sign_in else None,
            framed_by,
        )

    def end_streams(self) -> None:
        """Let what is sent without end come to one, so that the server can close."""
        self._streams.end()
        self._demo.is_running = False
        self._demo._queue.close()  # pyright: ignore[reportPrivateUsage]
        gradio_app(self.routes).stop_event.set()


def gradio_app(site: FastAPI) -> App:
    """Gradio's own app within the site."""
    return next(route.app for route in site.routes if isinstance(route, Mount) and isinstance(route.app, App))


def _routes(
    demo: Blocks, lifespan: Lifespan, within: list[Middleware], ours: list[Route], *, has_accounts: bool
) -> FastAPI:
    site = FastAPI(
        routes=[*ours],
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
    )
    # Streams are kept alive, and pages made for this server, only where Gradio believes that it runs.
    demo.is_running = True
    return mount_gradio_app(
        site,
        demo,
        path="/",
        app_kwargs={"middleware": within},
        auth_dependency=_signed_in_name if has_accounts else None,
        show_error=False,
        ssr_mode=False,
        run_history=False,
        enable_monitoring=False,
        footer_links=[],
        favicon_path=str(FAVICON_PATH),
        pwa=False,
        max_file_size="1mb",
        theme=theme(),
        head=head(),
    )


def _the_owner(_: AsgiScope) -> str:
    return ""


def _signed_in_name(request: Request) -> str | None:
    return request.scope.get(PERSON)


def _first_page_told(app: AsgiApp, on_first_page: Callable[[], None]) -> AsgiApp:
    is_told = False

    async def serve(scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        nonlocal is_told
        await app(scope, receive, send)
        if not is_told and scope.get("path") == "/":
            is_told = True
            on_first_page()

    return serve
