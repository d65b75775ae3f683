"""Several people on one page: each signs in, or is a guest, and none sees anything of another."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from assistant.config.accounts import hash_password
from tests.browser.conftest import Chat, leaves_the_page
from tests.browser.test_app import running_app, visited

pytestmark = pytest.mark.browser

PASSWORDS = {"ada": "password one", "ben": "password two"}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """A page on which two people may sign in; the first is the owner."""
    pairs = ",".join(f"{name}:{hash_password(password)}" for name, password in PASSWORDS.items())
    home = tmp_path_factory.mktemp("people") / "home"
    with running_app(home, PALIMPSEST_USERS=pairs) as address:
        yield address


def sign_in(page: Page, address: str, name: str, password: str) -> None:
    """Fill in the form that stands before the page."""
    page.goto(address)
    page.locator("input[type=text]").fill(name)
    page.locator("input[type=password]").fill(password)
    page.get_by_role("button", name="Sign in").click()


def signed_in(context: BrowserContext, address: str, name: str) -> Chat:
    """The page of one person."""
    page = context.new_page()
    sign_in(page, address, name, PASSWORDS[name])
    expect(page.locator("#person")).to_contain_text(name)
    return Chat(page, address)


def test_each_person_has_their_own_conversations_and_memory(
    context: BrowserContext, browser: Browser, address: str
) -> None:
    ada = signed_in(context, address, "ada")
    ada.say("Remember that my boat is called Albatross")
    expect(ada.page.locator("#chat .p-memory")).to_contain_text("Albatross")
    other = browser.new_context()
    ben = signed_in(other, address, "ben")
    ben.say("What is my boat called?")
    ben.wait_for_end()
    assert "Albatross" not in ben.page.inner_text("body")
    expect(ben.page.locator("#sessions")).not_to_contain_text("Remember")
    other.close()


@pytest.mark.console_says("status of 400")
def test_a_wrong_password_opens_nothing(context: BrowserContext, address: str) -> None:
    page = context.new_page()
    sign_in(page, address, "ada", "password two")
    expect(page.get_by_role("alert")).to_be_visible()
    assert page.request.get(f"{address}gradio_api/app_id").status == 401


def test_who_signed_out_has_to_sign_in_again(context: BrowserContext, address: str) -> None:
    ben = signed_in(context, address, "ben")
    ben.page.get_by_role("button", name="Sign out").click()
    expect(ben.page.locator("input[type=password]")).to_be_visible()


@leaves_the_page
def test_two_guests_see_nothing_of_each_other(context: BrowserContext, browser: Browser, home: Path) -> None:
    with running_app(home, PALIMPSEST_HOST="0.0.0.0") as address, visited(context, address) as first:
        first.say("Remember that my boat is called Albatross")
        expect(first.page.locator("#chat .p-memory")).to_contain_text("Albatross")
        first.page.reload()
        expect(first.page.locator("#sessions")).to_contain_text("Remember that my boat")
        other = browser.new_context()
        with visited(other, address) as second:
            expect(second.page.locator("#sessions")).not_to_contain_text("Remember")
        other.close()
    assert not home.exists()
