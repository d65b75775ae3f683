"""The manifest and the icons by which a browser keeps the page as an app of its own."""

from __future__ import annotations

import io
import re
from urllib.parse import urljoin

import httpx
import pytest
from PIL import Image
from pydantic import SecretStr

from assistant.config.accounts import hash_password
from assistant.config.settings import Settings
from assistant.ui.cards import asset
from tests.ui.server.conftest import ServePage

ACCOUNTS = Settings(users=SecretStr(f"ada:{hash_password('password one')}"))
GUESTS = Settings(host="0.0.0.0")
# Within a circle of this share of the width nothing is cut off by any system's shape.
SAFE_SHARE = 0.8


def links(html: str) -> dict[str, str]:
    """Where the first element of each kind leads that names a manifest or an icon."""
    found = re.findall(r'<link rel="(manifest|icon|apple-touch-icon)"[^>]*? href="([^"]+)"', html)
    return dict(reversed(found))


@pytest.mark.parametrize("settings", [Settings(), ACCOUNTS, GUESTS], ids=["owner", "who signs in", "guest"])
def test_the_page_names_a_manifest_and_icons_that_anybody_may_read(serve_page: ServePage, settings: Settings) -> None:
    page = serve_page(settings)
    named = links(page.get("/").text)
    assert named == {
        "manifest": "manifest.webmanifest",
        "icon": "icons/icon.svg",
        "apple-touch-icon": "icons/maskable-512.png",
    }
    manifest = page.get(named["manifest"])
    icons = [urljoin(f"/{named['manifest']}", icon["src"]) for icon in manifest.json()["icons"]]
    answers = {path: page.get(path) for path in (*icons, "/favicon.ico", "/icons/maskable-512.png")}
    assert manifest.headers["content-type"] == "application/manifest+json"
    assert {(answer.status_code, answer.headers["x-content-type-options"]) for answer in answers.values()} == {
        (200, "nosniff")
    }


def test_the_manifest_has_what_a_browser_asks_of_an_app(serve_page: ServePage) -> None:
    page = serve_page(Settings())
    manifest = page.get("/manifest.webmanifest").json()
    light, dark = re.findall(r"--p-paper: (#\w+);", asset("tokens.css"))
    icons = {(icon["sizes"], icon["type"], icon.get("purpose", "any")): icon["src"] for icon in manifest.pop("icons")}
    assert manifest == {
        "name": "Palimpsest",
        "short_name": "Palimpsest",
        "description": "An assistant for one person and many years: it compresses its context, and loses nothing.",
        "lang": "en",
        "start_url": "./",
        "scope": "./",
        "display": "standalone",
        "theme_color": light,
        "background_color": light,
    }
    assert icons == {
        ("any", "image/svg+xml", "any"): "icons/icon.svg",
        ("192x192", "image/png", "any"): "icons/icon-192.png",
        ("512x512", "image/png", "any"): "icons/icon-512.png",
        ("512x512", "image/png", "maskable"): "icons/maskable-512.png",
    }
    colours = re.findall(r'<meta name="theme-color" content="(#\w+)" media="\(([^)]+)\)">', page.get("/").text)
    assert colours == [(light, "prefers-color-scheme: light"), (dark, "prefers-color-scheme: dark")]


def test_the_icons_have_their_sizes_and_one_can_be_cut_to_any_shape(serve_page: ServePage) -> None:
    page = serve_page(Settings())
    small, large, maskable = (picture(page, name) for name in ("icon-192.png", "icon-512.png", "maskable-512.png"))
    assert (small.size, large.size, maskable.size) == ((192, 192), (512, 512), (512, 512))
    assert (large.getpixel((0, 0)), large.getpixel((256, 4))[3]) == ((0, 0, 0, 0), 255)  # type: ignore[index]
    ground = maskable.getpixel((0, 0))
    drawn = [
        (x - 256, y - 256) for x in range(0, 512, 2) for y in range(0, 512, 2) if maskable.getpixel((x, y)) != ground
    ]
    assert ground == maskable.getpixel((511, 511))
    assert 0 < max(x * x + y * y for x, y in drawn) < (SAFE_SHARE * 256) ** 2


def picture(page: httpx.Client, name: str) -> Image.Image:
    """An icon as a browser decodes it."""
    return Image.open(io.BytesIO(page.get(f"/icons/{name}").content)).convert("RGBA")
