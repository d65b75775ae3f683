"""What is open is listed, and nothing that Gradio has besides, in whatever way it is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from fastapi import APIRouter
from hypothesis import given
from hypothesis import strategies as st
from starlette.routing import BaseRoute, Mount, Route

from assistant.config.settings import Settings
from assistant.ui.server.open_routes import entrance, is_tab_name
from tests.ui.server.conftest import site_of

OPEN_ROUTES = {
    ("GET", "/"),
    ("HEAD", "/"),
    ("GET", "/assets/{path:path}"),
    ("GET", "/static/{path:path}"),
    ("GET", "/theme.css"),
    ("GET", "/favicon.ico"),
    ("POST", "/login"),
    ("POST", "/logout"),
    ("GET", "/gradio_api/app_id"),
    ("POST", "/gradio_api/queue/join"),
    ("GET", "/gradio_api/queue/data"),
    ("POST", "/gradio_api/run/{api_name}"),
    ("GET", "/gradio_api/heartbeat/{session_hash}"),
    ("HEAD", "/gradio_api/heartbeat/{session_hash}"),
    ("GET", "/patches"),
    ("HEAD", "/patches"),
    ("POST", "/leave"),
    ("POST", "/attach"),
    ("POST", "/detach"),
    ("GET", "/export/{form}"),
    ("HEAD", "/export/{form}"),
    ("POST", "/import"),
    ("GET", "/pictures/{name}"),
    ("HEAD", "/pictures/{name}"),
    ("GET", "/manifest.webmanifest"),
    ("HEAD", "/manifest.webmanifest"),
    ("GET", "/icons/icon.svg"),
    ("HEAD", "/icons/icon.svg"),
    ("GET", "/icons/icon-192.png"),
    ("HEAD", "/icons/icon-192.png"),
    ("GET", "/icons/icon-512.png"),
    ("HEAD", "/icons/icon-512.png"),
    ("GET", "/icons/maskable-512.png"),
    ("HEAD", "/icons/maskable-512.png"),
    ("GET", "/health"),
    ("HEAD", "/health"),
    ("GET", "/news"),
    ("HEAD", "/news"),
}
EXAMPLES = {
    "name": f"{'0a' * 16}.png",
    "session_hash": "a1b2",
    "api_name": "predict",
    "form": "json",
    "path": "fonts/a.js",
}


def routes_of(routes: list[BaseRoute], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Method and path of every route, also of what is mounted."""
    for route in routes:
        if isinstance(route, Mount):
            yield from routes_of(route.routes, prefix + route.path)
        elif isinstance(included := getattr(route, "original_router", None), APIRouter):
            yield from routes_of(included.routes, prefix)
        elif isinstance(route, Route):
            yield from ((method, prefix + route.path) for method in route.methods or ())
        else:
            pytest.fail(f"what kind of route is {route}?")


def is_open(method: str, path: str, query: str = "") -> bool:
    """Whether a request written in the plain way comes in."""
    return entrance(method, path, path.encode(), query.encode()) is not None


def example_of(path: str) -> str:
    """A path that the route would take."""
    return re.sub(r"\{(\w+)(:\w+)?\}", lambda match: EXAMPLES.get(match[1], "x"), path)


def query_of(path: str) -> str:
    """The query that the route needs."""
    return (
        "session_hash=a1b2"
        if path
        in ("/gradio_api/queue/data", "/patches", "/news", "/attach", "/pictures/{name}", "/export/{form}", "/import")
        else ""
    )


async def test_of_every_route_there_is_only_what_is_listed_is_open() -> None:
    site = site_of(Settings(users="ada:scrypt.2.1.1." + "00" * 16 + "." + "11" * 32))  # type: ignore[arg-type]
    found = set(routes_of(site.routes.routes))
    assert {("POST", "/gradio_api/upload"), ("GET", "/config"), ("GET", "/gradio_api/deep_link")} < found
    opened = {(method, path) for method, path in found if is_open(method, example_of(path), query_of(path))}
    assert opened == OPEN_ROUTES


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", ""])
@pytest.mark.parametrize("path", sorted({path for _, path in OPEN_ROUTES}))
def test_no_opening_takes_another_method(path: str, method: str) -> None:
    assert not is_open(method, example_of(path), query_of(path))


@pytest.mark.parametrize(
    "path",
    [
        "/gradio_api/upload",
        "/gradio_api/upload\n",
        "/gradio_api/queue/join\n",
        "/gradio_api/queue/join/",
        "//gradio_api/queue/join",
        "/proxied/gradio_api/queue/join",
        "/gradio_api/run/predict\r",
        "/gradio_api/run/other",
        "/gradio_api/heartbeat/a1b2/",
        "/gradio_api/heartbeat/",
        "/gradio_api/heartbeat/A",
        "/gradio_api/heartbeat/" + "a" * 41,
        "/assets/../config",
        "/export/",
        "/export/yaml",
        "/export/json/",
        "/export/../config",
        "/pictures/a.png",
        f"/pictures/../{'0a' * 16}.png",
        f"/pictures/{'0a' * 16}.svg",
        "/assets/.hidden",
        "/assets/a//b.js",
        "/assets/",
        "/assets/a\\b.js",
        "/assets/é.js",
        "/static/ffmpeg/ffmpeg-core.js",
        "/theme.css\n",
        "/themeXcss",
        "/login/",
        "/manifest.json",
        "/manifestxwebmanifest",
        "/icons/",
        "/icons/icon-64.png",
        "/icons/../page.js",
        "/pwa_icon/192",
        "",
    ],
    ids=repr,
)
def test_a_path_is_matched_whole(path: str) -> None:
    assert not any(is_open(method, path) for method in ("GET", "HEAD", "POST"))


@pytest.mark.parametrize(
    ("path", "raw_path"),
    [("/gradio_api/app_id", b"/gradio_api/app%5fid"), ("/", b"/%2f"), ("/theme.css", b"/./theme.css")],
)
def test_a_path_written_with_escapes_is_not_open(path: str, raw_path: bytes) -> None:
    assert entrance("GET", path, raw_path, b"") is None


@pytest.mark.parametrize(
    ("path", "query", "expected"),
    [
        ("/", "", True),
        ("/", "c=1&__theme=dark", True),
        ("/", "__sign=a.b", True),
        ("/", "deep_link=abc", False),
        ("/", "page=x", False),
        ("/", "c=1&c=2", False),
        ("/", "deep%5flink=abc", False),
        ("/", "c=\xe9", False),
        ("/", "&".join(f"c{number}=1" for number in range(9)), False),
        ("/", "c=" + "a" * 5_000, False),
        ("/theme.css", "v=1", True),
        ("/gradio_api/queue/data", "session_hash=a1b2", True),
        ("/gradio_api/queue/data", "", False),
        ("/gradio_api/queue/data", "session_hash=a1b2&session_hash=c3", False),
        ("/gradio_api/queue/data", "session_hash=a1b2&x=1", False),
        ("/gradio_api/queue/data", "session_hash=A%0A", False),
        ("/patches", "session_hash=a1b2&version=7", True),
        ("/patches", "version=7", False),
        ("/patches", "session_hash=a1b2&version=7&person=ada", False),
        ("/news", "session_hash=a1b2&given=ab&edited=0", True),
        ("/news", "given=ab&edited=0", False),
    ],
)
def test_only_the_query_fields_of_the_page_come_in(path: str, query: str, expected: bool) -> None:
    assert (entrance("GET", path, path.encode(), query.encode("latin1")) is not None) is expected


@given(st.text(max_size=30))
def test_no_file_of_the_machine_is_reached(text: str) -> None:
    for start in ("/gradio_api/file=", "/gradio_api/file/", "/file=", "/gradio_api/proxy=", "/svelte/"):
        assert not is_open("GET", start + text)


@pytest.mark.parametrize(
    ("name", "expected"), [("ax91", True), ("", False), ("a\n", False), ("A", False), (None, False), (7, False)]
)
def test_the_name_of_a_tab_is_what_the_browser_makes(name: object, expected: bool) -> None:
    assert is_tab_name(name) is expected
