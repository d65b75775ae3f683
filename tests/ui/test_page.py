"""The page as Gradio builds it: nothing public, nothing from outside, and a start that is not slowed down."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from assistant.config.settings import Settings
from assistant.ui.page import build
from assistant.ui.page_layout import head
from assistant.ui.server.loading import Loading
from assistant.ui.server.user_sessions import UserSessions


async def stay_loading(person: str, loading: Loading) -> None:
    """Nobody's assistant is ever there."""


def no_users() -> UserSessions:
    """A page that nobody has come to."""
    return UserSessions(lambda _: "", stay_loading)


@pytest.fixture
async def config() -> dict[str, object]:
    """What the browser is given to build the page; made in a loop, or Gradio makes one and leaves it open."""
    demo = build(Settings(), no_users())
    return demo.get_config_file()  # type: ignore[return-value]


def test_no_event_is_public(config: dict[str, object]) -> None:
    dependencies = config["dependencies"]
    assert isinstance(dependencies, list)
    assert {dependency["api_visibility"] for dependency in dependencies} == {"private"}


def test_nothing_of_the_person_is_baked_into_the_page(config: dict[str, object]) -> None:
    assert "palimpsest-home" not in json.dumps(config, default=str)


def test_the_head_of_the_page_fetches_nothing() -> None:
    assert "http://" not in head()
    assert "https://" not in head()


@pytest.mark.parametrize(("host", "has_banner"), [("", False), ("127.0.0.1", False), ("0.0.0.0", True)])
async def test_a_page_that_others_can_reach_says_so(host: str, has_banner: bool) -> None:
    demo = build(Settings(host=host), no_users())
    assert ("reachable by others" in json.dumps(demo.get_config_file(), default=str)) is has_banner


def test_gradio_is_imported_whole_without_writing_its_stubs() -> None:
    code = """
import sys
from assistant.ui.page import import_gradio
import_gradio()
import inspect, gradio
with gradio.Blocks() as demo:
    gradio.Chatbot()
assert demo.get_config_file()["components"]
assert inspect.getfile(gradio.Chatbot)
print([name for name in ("agentscope", "chromadb", "tiktoken") if name in sys.modules])
"""
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=100)
    assert (finished.stdout.strip(), finished.returncode) == ("[]", 0), finished.stderr


@pytest.mark.parametrize(
    "variables",
    [
        {"ALL_PROXY": "socks5://127.0.0.1:9"},
        {"HTTP_PROXY": "not a proxy", "https_proxy": "ftp:/x"},
        {"HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "::1,[::1,fd00::/8,;;"},
        {"SSL_CERT_FILE": "/no/such/file.pem"},
    ],
)
def test_the_page_depends_on_no_proxy_and_no_certificate(variables: dict[str, str]) -> None:
    code = """
import os
from assistant.ui.page import import_gradio
import_gradio()
print(*(os.environ.get(name) for name in os.environ["NAMES"].split()))
"""
    environment = {**os.environ, **variables, "NAMES": " ".join(variables)}
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=100, env=environment
    )
    assert (finished.stdout.strip(), finished.returncode) == (" ".join(variables.values()), 0), finished.stderr
