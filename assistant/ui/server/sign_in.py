"""The page before the page: a form for name and password, and the cookie of who is signed in."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from functools import cache
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qs

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from assistant.config.accounts import Account
from assistant.config.settings import Settings
from assistant.config.words import say, spoken_language
from assistant.storage.workspace import Workspace
from assistant.ui.cards import ASSETS
from assistant.ui.server.app_routes import app_links
from assistant.ui.server.asgi import AsgiReceive, AsgiScope, AsgiSend, address_of, cookie_value
from assistant.ui.server.attempts import ANSWER_SECONDS, Attempt, Attempts, new_device

DEVICE_COOKIE = "palimpsest-device"
SESSION_SECONDS = 30 * 86_400
"""How long somebody stays signed in; no longer than the process lives."""
_DEVICE_SECONDS = 365 * 86_400
_MAX_SESSIONS = 10_000
_MAX_FIELDS = 8


class SignIn:
    """Who is signed in on which browser, and the two routes that change it."""

    def __init__(self, settings: Settings) -> None:
        self._attempts = Attempts(settings.accounts, time.monotonic, ANSWER_SECONDS)
        self._is_space = settings.is_space
        # Cookies know no ports: two pages of one machine would take each other's.
        self._cookie = f"palimpsest-session-{secrets.token_hex(4)}"
        self._people: OrderedDict[str, str] = OrderedDict()

    def who_comes(self, scope: AsgiScope) -> str | None:
        """The name of who is signed in; None for a stranger."""
        return self._people.get(cookie_value(scope, self._cookie))

    def routes(self) -> list[Route]:
        """Where one signs in and out."""
        return [
            Route("/login", self._sign_in, methods=["POST"]),
            Route("/logout", self._sign_out, methods=["POST"]),
        ]

    async def show(self, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        """The form, in place of the page."""
        await _form(Request(scope), HTTPStatus.OK)(scope, receive, send)

    async def _sign_in(self, request: Request) -> Response:
        fields = _fields_of(await request.body())
        name, password = (fields.get(field, [""])[0] for field in ("username", "password"))
        device = request.cookies.get(DEVICE_COOKIE, "")
        account = await self._attempts.check(Attempt(name.strip(), password, address_of(request.scope), device))
        if account is None:
            return _form(request, HTTPStatus.BAD_REQUEST)
        response = _back_to_the_page(request)
        self._keep(response, request, self._cookie, self._begin(account), SESSION_SECONDS)
        self._keep(response, request, DEVICE_COOKIE, new_device(account), _DEVICE_SECONDS)
        return response

    async def _sign_out(self, request: Request) -> Response:
        self._people.pop(request.cookies.get(self._cookie, ""), None)
        response = _back_to_the_page(request)
        response.delete_cookie(self._cookie)
        return response

    def _begin(self, account: Account) -> str:
        token = secrets.token_urlsafe(32)
        self._people[token] = account.name
        while len(self._people) > _MAX_SESSIONS:
            self._people.popitem(last=False)
        return token

    def _keep(self, response: Response, request: Request, name: str, value: str, seconds: int) -> None:
        # A Space is shown in a frame of another site, which gets no other cookies than these.
        response.set_cookie(
            name,
            value,
            max_age=seconds,
            httponly=True,
            secure=self._is_space or request.url.scheme == "https",
            samesite="none" if self._is_space else "lax",
            partitioned=self._is_space,
        )


def owner_of(settings: Settings) -> str:
    """The person who has the home itself, by the word that requests know them by."""
    return settings.accounts[0].name if settings.accounts else ""


def home_of(settings: Settings, person: str) -> Path | None:
    """The home of a person; None for a guest, whose home is made when it is opened."""
    if settings.has_guests:
        return None
    member = member_of(settings, person)
    return member_home(settings, member) if member else settings.home


def member_of(settings: Settings, person: str) -> Account | None:
    """The account of a person beside the owner; None for the owner."""
    return next((account for account in settings.accounts[1:] if account.name == person), None)


def member_home(settings: Settings, member: Account) -> Path:
    """The home of a person beside the owner."""
    return Workspace(settings.home).users_folder / member.folder


def _fields_of(body: bytes) -> dict[str, list[str]]:
    try:
        return parse_qs(body.decode("utf-8", "replace"), max_num_fields=_MAX_FIELDS)
    except ValueError:
        return {}


def _form(request: Request, status: HTTPStatus) -> HTMLResponse:
    html = _template().render(
        query=request.url.query,
        is_wrong=status is not HTTPStatus.OK,
        say=say,
        language=spoken_language(),
        app_links=Markup(app_links()),
    )
    return HTMLResponse(html, status_code=int(status), headers={"cache-control": "no-store"})


def _back_to_the_page(request: Request) -> RedirectResponse:
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"./{query}", status_code=int(HTTPStatus.SEE_OTHER))


@cache
def _template() -> Template:
    environment = Environment(loader=FileSystemLoader(ASSETS), autoescape=True, undefined=StrictUndefined)
    return environment.get_template("sign_in.html")
