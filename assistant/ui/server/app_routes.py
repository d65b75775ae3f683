"""What a browser needs to keep the page as an app of its own: a manifest, icons, and where both are."""

from __future__ import annotations

import json
import re
from functools import partial

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from assistant.config.words import say, spoken_language
from assistant.ui.cards import ASSETS, asset

ICONS_FOLDER = ASSETS / "icons"
FAVICON_PATH = ICONS_FOLDER / "icon-192.png"
# Made anew by `python -m benchmarks.icons`; a name is looked up here, so no other file is sent.
_ICON_TYPES = {
    "icon.svg": "image/svg+xml",
    "icon-192.png": "image/png",
    "icon-512.png": "image/png",
    "maskable-512.png": "image/png",
}
_KEPT_A_DAY = {"cache-control": "public, max-age=86400"}


def app_routes() -> list[Route]:
    """The manifest and the icons; they are the same for everybody, and hold nothing of anybody."""
    return [Route("/manifest.webmanifest", _manifest, methods=["GET"])] + [
        Route(f"/icons/{name}", partial(_icon, name), methods=["GET"]) for name in _ICON_TYPES
    ]


def app_links() -> str:
    """The elements of a head that name them, relative to the page: it may stand behind a path of another server."""
    light, dark = _papers()
    return (
        # A page that asks who comes may stand behind a server that asks as well, and knows its browsers by cookies.
        '<link rel="manifest" href="manifest.webmanifest" crossorigin="use-credentials">'
        '<link rel="icon" type="image/svg+xml" href="icons/icon.svg">'
        '<link rel="apple-touch-icon" href="icons/maskable-512.png">'
        f'<meta name="theme-color" content="{light}" media="(prefers-color-scheme: light)">'
        f'<meta name="theme-color" content="{dark}" media="(prefers-color-scheme: dark)">'
    )


async def _manifest(_: Request) -> Response:
    light, _dark = _papers()
    manifest = {
        "name": "Palimpsest",
        "short_name": "Palimpsest",
        "description": say("page", "app_description"),
        "lang": spoken_language(),
        "start_url": "./",
        "scope": "./",
        "display": "standalone",
        # A manifest has one colour; once the page is there, its own in the theme of the person takes over.
        "theme_color": light,
        "background_color": light,
        "icons": [
            {"src": "icons/icon.svg", "sizes": "any", "type": "image/svg+xml"},
            {"src": "icons/icon-192.png", "sizes": "192x192", "type": "image/png"},
            {"src": "icons/icon-512.png", "sizes": "512x512", "type": "image/png"},
            {"src": "icons/maskable-512.png", "sizes": "512x512", "type": "image/png", "purpose": "maskable"},
        ],
    }
    return Response(json.dumps(manifest, ensure_ascii=False), media_type="application/manifest+json")


async def _icon(name: str, _: Request) -> Response:
    return FileResponse(ICONS_FOLDER / name, media_type=_ICON_TYPES[name], headers=_KEPT_A_DAY)


def _papers() -> tuple[str, str]:
    """What the page is written on in the light theme and in the dark one."""
    light, dark = re.findall(r"--p-paper: (#[0-9a-f]{6});", asset("tokens.css"))
    return light, dark
