"""Signing in and out on a real page, and what a stranger sees of it."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from assistant.config.accounts import hash_password
from assistant.config.settings import Settings
from assistant.ui.cards import TOKEN
from assistant.ui.server.sign_in import DEVICE_COOKIE, home_of, owner_of
from tests.ui.server.conftest import ServePage

PASSWORDS = {"ada": "a long word", "ben": "another word"}
USERS = SecretStr(",".join(f"{name}:{hash_password(password)}" for name, password in PASSWORDS.items()))


@pytest.fixture
def page(serve_page: ServePage, monkeypatch: pytest.MonkeyPatch) -> httpx.Client:
    """A page on which two people may sign in, and wrong passwords are answered soon."""
    monkeypatch.setattr("assistant.ui.server.sign_in.ANSWER_SECONDS", 0.2)
    return serve_page(Settings(users=USERS))


def sign_in(page: httpx.Client, name: str, password: str | None = None, query: str = "") -> httpx.Response:
    """What the form sends."""
    return page.post(f"/login{query}", data={"username": name, "password": password or PASSWORDS[name]})


def test_the_first_who_may_sign_in_is_the_owner() -> None:
    assert (owner_of(Settings(users=USERS)), owner_of(Settings())) == ("ada", "")


def test_everybody_has_a_home_of_their_own_and_a_guest_none(tmp_path: Path) -> None:
    signed_in = Settings(users=USERS, home=tmp_path)
    assert (home_of(signed_in, "ada"), home_of(signed_in, "ben")) == (tmp_path, tmp_path / "users" / "ben")
    assert home_of(Settings(home=tmp_path), "") == tmp_path
    assert home_of(Settings(home=tmp_path, host="0.0.0.0"), "") is None


def test_a_stranger_sees_the_form_and_nothing_of_the_page(page: httpx.Client) -> None:
    answer = page.get("/", params={"c": '"><b>'})
    assert (answer.status_code, 'name="password"' in answer.text) == (200, True)
    assert [word in answer.text for word in (TOKEN, "gradio_config", "<b>", "pal-do")] == [False] * 4
    assert page.get("/gradio_api/app_id").status_code == 401


def test_who_signed_in_sees_the_page_until_they_sign_out(page: httpx.Client) -> None:
    answer = sign_in(page, "ada", query="?c=7")
    assert (answer.status_code, answer.headers["location"]) == (303, "./?c=7")
    assert "gradio_config" in page.get("/").text
    assert page.get("/logout").status_code == 404
    assert "gradio_config" in page.get("/").text
    kept = "; ".join(f"{name}={value}" for name, value in page.cookies.items())
    assert page.post("/logout").status_code == 303
    assert "gradio_config" not in page.get("/").text
    assert "gradio_config" not in page.get("/", headers={"cookie": kept}).text


def test_no_other_site_signs_anybody_in_or_out(page: httpx.Client) -> None:
    sign_in(page, "ada")
    headers = {"origin": "https://evil.example", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert [page.post(path, headers=headers).status_code for path in ("/login", "/logout")] == [403, 403]
    assert "gradio_config" in page.get("/").text


@pytest.mark.parametrize(
    ("name", "password"), [("ada", "another word"), ("eve", "a long word"), ("", "a long word"), ("ada", " ")]
)
def test_a_wrong_password_and_an_unknown_name_are_answered_alike(page: httpx.Client, name: str, password: str) -> None:
    answer = sign_in(page, name, password)
    assert (answer.status_code, answer.headers.get("set-cookie")) == (400, None)
    assert "Name or password is wrong" in answer.text


@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"username=ada", b"a=1&" * 200, b"{}"])
def test_a_form_that_makes_no_sense_signs_nobody_in(page: httpx.Client, body: bytes) -> None:
    assert page.post("/login", content=body).status_code == 400


def test_a_browser_that_was_signed_in_before_is_known_again(page: httpx.Client) -> None:
    sign_in(page, "ada")
    device = page.cookies[DEVICE_COOKIE]
    page.cookies.clear()
    for number in range(5):
        assert sign_in(page, "ada", f"guess {number}").status_code == 400
    assert sign_in(page, "ada").status_code == 400
    page.cookies.set(DEVICE_COOKIE, device)
    assert sign_in(page, "ada").status_code == 303


def test_what_one_page_calls_its_buttons_is_no_others_name(page: httpx.Client) -> None:
    def names(person: str) -> set[str]:
        page.cookies.clear()
        sign_in(page, person)
        text = page.get("/").text
        return {
            text[at : at + len(TOKEN)]
            for at in range(len(text))
            if text.startswith("pal", at) and text[at + 15 : at + 18] == " p-"
        }

    ada, ben = names("ada"), names("ben")
    assert (len(ada), len(ben), ada & ben, TOKEN in ada | ben) == (1, 1, set(), False)
