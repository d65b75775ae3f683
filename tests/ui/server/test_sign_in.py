"""A request is somebody's: a signed-in person's, a guest's, or the owner's where nobody signs in."""

from __future__ import annotations

import gradio as gr
import pytest
from pydantic import SecretStr

from assistant.config.accounts import hash_password
from assistant.config.settings import Settings
from assistant.errors import PalimpsestError
from assistant.ui.server.sign_in import check_password, owner_of, who_asks

USERS = SecretStr(f"ada:{hash_password('a long word')},ben:{hash_password('another word')}")


def asked_by(username: str | None) -> gr.Request:
    """A request of a tab."""
    return gr.Request(username=username, session_hash="t1")


@pytest.mark.parametrize(
    ("settings", "username", "person"),
    [
        (Settings(), None, ""),
        (Settings(users=USERS), "ben", "ben"),
        (Settings(host="0.0.0.0"), None, "tab t1"),
    ],
    ids=["nobody signs in", "signed in", "guest"],
)
def test_a_person_is_known_by_their_name_a_guest_by_their_browser(
    settings: Settings, username: str | None, person: str
) -> None:
    assert who_asks(settings)(asked_by(username)) == person


def test_who_signed_out_is_nobody() -> None:
    with pytest.raises(PalimpsestError, match="no longer signed in"):
        who_asks(Settings(users=USERS))(asked_by(None))


def test_the_first_who_may_sign_in_is_the_owner() -> None:
    assert (owner_of(Settings(users=USERS)), owner_of(Settings())) == ("ada", "")


async def test_only_the_right_password_of_a_name_lets_in() -> None:
    check = check_password(Settings(users=USERS).accounts)
    tried = [await check(*pair) for pair in (("ada", "a long word"), ("ada", "another word"), ("eve", "a long word"))]
    assert tried == [True, False, False]
