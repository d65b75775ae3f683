"""The page is sent in the language that is set, else in that of the browser that asks for it."""

from __future__ import annotations

from functools import partial

import pytest

from assistant.config.settings import Settings
from assistant.config.words import Language, spoken_language
from assistant.ui.page import build
from assistant.ui.server.asgi import AsgiMessage, AsgiReceive, AsgiScope, AsgiSend
from assistant.ui.server.drawn_page import DrawnPage, SpokenPage, browser_language
from assistant.ui.server.loading import Loading
from assistant.ui.server.user_sessions import UserSessions
from assistant.ui.server.visitors import person_asking


async def _stay_loading(_person: str, _loading: Loading) -> None:
    """Nobody's assistant is opened."""


def users() -> UserSessions:
    return UserSessions(person_asking, _stay_loading)


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("en-GB,en;q=0.9,zh;q=0.8", "en"),
        ("fr-FR, zh-Hant;q=0.5", "zh"),
        ("pt-BR", "en"),
        ("*", "en"),
        ("", None),
        (" , ", None),
    ],
)
def test_a_browsers_first_language_that_is_spoken_counts(accepted: str, language: Language | None) -> None:
    assert browser_language(accepted) == language


async def test_another_language_changes_the_words_and_nothing_else() -> None:
    settings = Settings.model_validate({})
    page = DrawnPage(partial(build, settings, users()))
    page.demo.config = page.demo.get_config_file()
    before = [(one["id"], one["type"]) for one in page.demo.config["components"]]
    page.speak("zh")
    config = page.demo.config
    assert [(one["id"], one["type"]) for one in config["components"]] == before
    assert "新对话" in [one["props"].get("value") for one in config["components"]]
    assert "消息" in str(config["head"])
    page.speak("en")
    assert "New chat" in [one["props"].get("value") for one in page.demo.config["components"]]


@pytest.mark.parametrize(
    ("values", "path", "spoken"),
    [
        pytest.param({}, "/", "zh", id="the browser's"),
        pytest.param({"language": "en"}, "/", "en", id="set"),
        pytest.param({}, "/news", "en", id="no page"),
        pytest.param({"host": "0.0.0.0"}, "/", "en", id="many people"),
    ],
)
async def test_who_decides_about_the_language(values: dict[str, object], path: str, spoken: Language) -> None:
    settings = Settings.model_validate(values)
    sent: list[str] = []

    async def app(scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        sent.append(spoken_language())

    async def receive() -> AsgiMessage:
        return {}

    async def send(message: AsgiMessage) -> None:
        """Nobody listens."""

    page = DrawnPage(partial(build, settings, users()))
    page.demo.config = page.demo.get_config_file()
    scope = {"type": "http", "path": path, "headers": [(b"accept-language", b"zh-CN")]}
    await SpokenPage(app, page, settings, users())(scope, receive, send)
    assert sent == [spoken]
