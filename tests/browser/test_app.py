"""`python app.py` in a browser, with the built-in assistant: the first page, a restart, a Space."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.conftest import Chat, leaves_the_page
from tests.fakes.free_port import free_port
from tests.source_files import ROOT

pytestmark = pytest.mark.browser

ADDRESS = re.compile(r"http://\S+")


@contextmanager
def visited(context: BrowserContext, address: str) -> Generator[Chat]:
    """A tab with the page, which is closed before its server is gone."""
    chat = Chat(context.new_page(), address)
    chat.open()
    yield chat
    chat.page.close()


@contextmanager
def running_app(home: Path, **environment: str) -> Generator[str]:
    """The address of a page that another process serves; the process is killed in the end."""
    process = subprocess.Popen(
        [sys.executable, "app.py"],
        cwd=ROOT,
        env=os.environ | {"PALIMPSEST_HOME": str(home), "PALIMPSEST_PROVIDER": "offline"} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if found := ADDRESS.search(line):
                yield found.group()
                break
        else:
            pytest.fail(f"no address was printed, exit code {process.wait()}")
    finally:
        process.kill()
        process.communicate()


def test_a_conversation_and_a_memory_outlive_the_process(context: BrowserContext, home: Path) -> None:
    with running_app(home) as address, visited(context, address) as chat:
        expect(chat.page.locator("#chat .p-first")).to_contain_text("PALIMPSEST_PROVIDER")
        expect(chat.page.locator("#top")).to_contain_text("not a language model")
        chat.say("Remember that my sister likes oolong tea")
        expect(chat.page.locator("#chat .p-memory")).to_contain_text("oolong tea")
        chat.wait_for_end()
    assert "oolong tea" in (home / "USER.md").read_text("utf-8") + (home / "MEMORY.md").read_text("utf-8")
    with running_app(home) as address, visited(context, address) as chat:
        expect(chat.page.locator("#chat")).to_contain_text("Remember that my sister likes oolong tea")
        expect(chat.page.locator("#sessions .p-selected")).to_contain_text("Remember that my sister")


def test_the_built_in_assistant_looks_into_the_folder_and_runs_a_command(context: BrowserContext, home: Path) -> None:
    with running_app(home) as address, visited(context, address) as chat:
        (home / "files" / "harbour.md").write_text("Ferry at 9:15\n", encoding="utf-8")
        chat.say("What is in my workspace?")
        chat.wait_for_end()
        expect(chat.page.locator("#chat")).to_contain_text("harbour.md")
        chat.start_new()
        chat.say("run `echo from-the-shell | tr a-z A-Z`")
        chat.page.get_by_role("button", name="Allow once").click()
        chat.wait_for_end()
        expect(chat.page.locator("#chat")).to_contain_text("FROM-THE-SHELL")
        expect(chat.page.locator("#chat .m-code-copy").last).to_have_text("Copy")


@leaves_the_page
def test_words_not_sent_yet_outlive_a_reload(context: BrowserContext, home: Path) -> None:
    with running_app(home) as address, visited(context, address) as chat:
        chat.page.locator("#composer textarea").fill("Half a thought about the ferry")
        chat.open()
        expect(chat.page.locator("#composer textarea")).to_have_value("Half a thought about the ferry")
        chat.page.locator("#composer textarea").press("Enter")
        chat.wait_for_end()
        expect(chat.page.locator("#chat")).to_contain_text("Half a thought about the ferry")
        chat.open()
        expect(chat.page.locator("#composer textarea")).to_have_value("")


def test_a_home_that_another_process_owns_is_told_on_the_page(context: BrowserContext, home: Path) -> None:
    with running_app(home) as first, running_app(home) as second, visited(context, first):
        other = context.new_page()
        other.goto(second)
        expect(other.locator("#chat .p-failed")).to_contain_text("in use by")
        other.close()


def test_a_space_has_a_banner_and_answers_under_its_name_only(context: BrowserContext, home: Path) -> None:
    space = {"SPACE_ID": "me/app", "SPACE_HOST": "me-app.hf.space", "GRADIO_SERVER_NAME": "127.0.0.1"}
    with running_app(home, **space, PALIMPSEST_PORT=str(free_port())) as address, visited(context, address) as chat:
        expect(chat.page.locator("#banner")).to_contain_text("it is wiped")
        assert httpx.get(address, headers={"host": "me-app.hf.space"}).status_code == 200
        assert httpx.get(address, headers={"host": "evil.example"}).status_code == 403
    assert not (home / "MEMORY.md").exists()


def test_a_port_that_is_taken_is_told_in_one_line(home: Path) -> None:
    with running_app(home) as address:
        port = address.rstrip("/").rpartition(":")[2]
        finished = subprocess.run(
            [sys.executable, "app.py"],
            cwd=ROOT,
            env=os.environ | {"PALIMPSEST_HOME": str(home), "PALIMPSEST_PORT": port},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert finished.returncode == 1
    assert finished.stderr.startswith("palimpsest: PALIMPSEST_PORT")
    assert finished.stderr.count("\n") == 1
