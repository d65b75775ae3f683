"""Words reach a browser as they are written, packed where it can unpack, and no open stream holds the server up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from assistant.config.settings import Settings
from assistant.ui.cards import TOKEN
from assistant.ui.page import PageServer, start
from tests.browser.behind import opened_behind
from tests.fakes.page_player import PagePlayer
from tests.ui.server.conftest import ServePage

TAB = "a1b2"
LOAD = 0


@pytest.fixture
def player() -> PagePlayer:
    """A slow answer goes on until its gate is open."""
    return PagePlayer()


@pytest.fixture
def page(home: Path, player: PagePlayer) -> Iterator[PageServer]:
    """The page of the owner, which the test may close."""
    with opened_behind(home, player) as behind:
        server = start(behind.settings, behind.open)
        yield server
        player.gate.set()
        server.close()


def events_of(browser: httpx.Client, body: dict[str, object]) -> list[dict[str, object]]:
    """What Gradio tells a tab of an event, to its end."""
    assert browser.post("gradio_api/queue/join", json=body).status_code == 200
    with browser.stream("GET", f"gradio_api/queue/data?session_hash={TAB}") as answer:
        said = [json.loads(line.removeprefix("data: ")) for line in answer.iter_lines() if line]
    return [one for one in said if one["msg"] == "process_completed"]


def act(browser: httpx.Client, action: str, target: str) -> int:
    """Press a button in the tab; the version of the conversation that it shows then."""
    functions = browser.get("").text.split("window.gradio_config = ", 1)[1].split(";</script>", 1)[0]
    config = json.loads(functions)
    [channel] = [one["id"] for one in config["components"] if one["props"].get("elem_id") == "chat-actions"]
    [number] = [one["id"] for one in config["dependencies"] if [channel, "select"] in one["targets"]]
    event = {"action": action, "target_id": target, "given": ""}
    body = {"data": [None], "fn_index": number, "trigger_id": channel, "event_data": event, "session_hash": TAB}
    [done] = events_of(browser, body)
    values = done["output"]["data"]  # type: ignore[index]
    [patch] = [value for value in values if isinstance(value, dict) and next(iter(value), "").isdecimal()]
    return int(list(patch)[-1])


def patches(answer: httpx.Response) -> Iterator[dict[str, object]]:
    """The patches of a stream, as they come."""
    for line in answer.iter_lines():
        if line.startswith("data: "):
            yield from json.loads(line.removeprefix("data: ")).values()


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_words_come_as_they_are_written(page: PageServer, player: PagePlayer, encoding: str) -> None:
    with httpx.Client(base_url=page.url, timeout=30) as browser:
        version = act(browser, "send", "1 slow words")
        headers = {"accept-encoding": encoding}
        with browser.stream("GET", f"patches?session_hash={TAB}&version={version}", headers=headers) as answer:
            assert answer.headers.get("content-encoding", "identity") == encoding
            assert answer.headers["content-type"].startswith("text/event-stream")
            assert answer.headers["cache-control"] == "no-store"
            coming = patches(answer)
            first = next(coming)
            assert first["base"] == version
            # The turn goes on only now: the first patch was not kept back.
            player.gate.set()
            rest = [first, *coming]
    assert "and it ends." in json.dumps(rest)
    assert rest[-1]["live"] is False
    assert TOKEN not in json.dumps(rest)


def test_a_server_with_open_streams_closes(page: PageServer) -> None:
    with httpx.Client(base_url=page.url, timeout=30) as browser:
        version = act(browser, "send", "1 slow words")
        with browser.stream("GET", f"patches?session_hash={TAB}&version={version}") as answer:
            coming = patches(answer)
            next(coming)
            page.close()
            assert "live" not in json.dumps(list(coming))


@pytest.mark.parametrize("version", ["", "x", "-1", "9" * 21, "1.5"])
def test_what_is_no_version_has_no_words(serve_page: ServePage, version: str) -> None:
    browser = serve_page(Settings())
    body = {"data": [], "fn_index": LOAD, "session_hash": TAB}
    assert browser.post("/gradio_api/queue/join", json=body).status_code == 200
    assert browser.get(f"/patches?session_hash={TAB}&version={version}").status_code == 404


def test_the_sign_of_life_holds_no_connection(serve_page: ServePage) -> None:
    answer = serve_page(Settings()).get(f"/gradio_api/heartbeat/{TAB}")
    assert (answer.status_code, answer.text) == (200, "data: ALIVE\n\n")
