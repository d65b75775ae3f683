"""The whole site as a browser meets it: whose a stream is, who gets a place, and what is left on the disk."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from assistant.config.accounts import hash_password
from assistant.config.settings import Settings
from assistant.storage.workspace import Workspace
from assistant.ui.server.visitors import COOKIE, NEW_VISITORS
from tests.source_files import ROOT
from tests.ui.server.conftest import ServePage, say, served

USERS = SecretStr(",".join(f"{name}:{hash_password('password one')}" for name in ("ada", "ben")))
FIRST_EVENT = 0


@contextmanager
def signed_in(page: httpx.Client, name: str) -> Generator[httpx.Client]:
    """A browser of that person."""
    with httpx.Client(base_url=page.base_url, timeout=30) as browser:
        assert browser.post("/login", data={"username": name, "password": "password one"}).status_code == 303
        yield browser


@contextmanager
def guest(page: httpx.Client) -> Generator[httpx.Client]:
    """A browser that opened the page."""
    with httpx.Client(base_url=page.base_url, timeout=30) as browser:
        assert browser.get("/").status_code == 200
        yield browser


def join(browser: httpx.Client, tab: str) -> int:
    """Begin the first event of a tab; the status of the answer."""
    body = {"data": [], "fn_index": FIRST_EVENT, "session_hash": tab}
    return browser.post("/gradio_api/queue/join", json=body).status_code


def stream_status(browser: httpx.Client, tab: str) -> int:
    """How a request for what a tab is told is answered."""
    with browser.stream("GET", f"/gradio_api/queue/data?session_hash={tab}") as answer:
        return answer.status_code


def requests_for(browser: httpx.Client, tab: str) -> list[int]:
    """How everything that names a tab is answered."""
    body = {"data": [], "fn_index": FIRST_EVENT, "session_hash": tab}
    with browser.stream("GET", f"/gradio_api/heartbeat/{tab}") as heartbeat:
        return [
            stream_status(browser, tab),
            browser.get(f"/patches?session_hash={tab}&version=0").status_code,
            browser.get(f"/news?session_hash={tab}").status_code,
            heartbeat.status_code,
            join(browser, tab),
            browser.post("/gradio_api/run/predict", json=body).status_code,
        ]


def test_of_a_tab_of_ada_ben_gets_nothing_though_he_knows_its_name(serve_page: ServePage) -> None:
    page = serve_page(Settings(users=USERS))
    with signed_in(page, "ada") as ada, signed_in(page, "ben") as ben, signed_in(page, "ada") as other:
        assert join(ada, "a1b2") == 200
        assert requests_for(ben, "a1b2") == [404] * 6
        assert (stream_status(other, "a1b2"), requests_for(page, "a1b2")) == (200, [401] * 6)


def test_of_a_tab_of_a_guest_another_gets_nothing_and_who_has_no_cookie_gets_nothing_at_all(
    serve_page: ServePage,
) -> None:
    page = serve_page(Settings(host="0.0.0.0"))
    with guest(page) as first, guest(page) as second:
        assert join(first, "a1b2") == 200
        assert requests_for(second, "a1b2") == [404] * 6
        assert stream_status(first, "a1b2") == 200
    forged = httpx.Client(base_url=page.base_url, cookies={COOKIE: "a" * 22 + "." + "0" * 64})
    with forged:
        assert [requests_for(forged, f"f{number}") for number in range(24)] == [[401] * 6] * 24


def test_the_owner_on_loopback_needs_no_cookie(serve_page: ServePage) -> None:
    page = serve_page(Settings())
    assert (page.get("/").status_code, dict(page.cookies)) == (200, {})
    assert (join(page, "a1b2"), stream_status(page, "a1b2"), stream_status(page, "c3d4")) == (200, 200, 404)


def test_an_address_that_brings_many_new_browsers_keeps_those_it_has(serve_page: ServePage) -> None:
    page = serve_page(Settings(host="0.0.0.0"))
    with guest(page) as first:
        statuses = [httpx.get(page.base_url).status_code for _ in range(NEW_VISITORS + 2)]
        assert statuses[-1] == 429
        assert (first.get("/").status_code, join(first, "a1b2")) == (200, 200)


@pytest.mark.parametrize(
    "target",
    [
        b"/gradio_api/upload%0A",
        b"/gradio_api/upload%0a/",
        b"/gradio_api/file=http://198.51.100.7/x.png",
        b"/gradio_api/file%3dhttp://198.51.100.7/x.png",
        b"/gradio_api/file=/etc/hostname",
        b"/gradio_api/proxy=https://a.hf.space/",
        b"/gradio_api/deep_link?session_hash=a1b2",
        b"/config?deep_link=abc",
        b"/?deep_link=abc",
        b"/gradio_api//queue/data?session_hash=a1b2",
        b"/static/../config",
        b"/assets/%2e%2e/config",
        b"http://localhost/config",
        b"*",
    ],
    ids=lambda target: target.decode(),
)
@pytest.mark.parametrize("method", [b"GET", b"POST"], ids=["get", "post"])
def test_nothing_else_of_gradio_answers(owner_address: tuple[str, int], method: bytes, target: bytes) -> None:
    head = method + b" " + target + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    assert int(say(owner_address, head).split(b" ", 2)[1]) in (400, 404)


@pytest.fixture(scope="module")
def owner_address(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[str, int]]:
    """Where a page of the owner alone is reached, which keeps nothing of these requests."""
    with served(Settings(home=tmp_path_factory.mktemp("owner") / "home")) as page:
        url = page.base_url
        assert url.port
        yield url.host, url.port


def test_nothing_is_written_to_the_folder_for_temporary_files(home: Path, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    left_over = Workspace(home).page_folder / "left" / "state.json"
    left_over.parent.mkdir(parents=True)
    left_over.write_text("words of the last run")
    code = """
import sys
from functools import partial
from pathlib import Path
import httpx
from assistant.config.settings import load_settings
from assistant.ui.page import open_person, start
settings = load_settings()
server = start(settings, partial(open_person, settings))
assert httpx.get(server.url).status_code == 200
assert httpx.post(server.url + "gradio_api/upload", files={"files": b"x"}).status_code == 404
server.close()
"""
    environment = os.environ | {"TMPDIR": str(temporary), "TEMP": str(temporary), "PALIMPSEST_PROVIDER": "offline"}
    environment.pop("GRADIO_TEMP_DIR", None)
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (list(temporary.iterdir()), Workspace(home).page_folder.exists()) == ([], False)
