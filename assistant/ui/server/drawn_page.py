"""Gradio's page in the language that is spoken: drawn anew where another one is wanted, for whoever loads it next."""

from __future__ import annotations

from collections.abc import Callable

from gradio import Blocks

from assistant.config.settings import Settings
from assistant.config.words import Language, speak, spoken_language
from assistant.ui.page_layout import head
from assistant.ui.server.asgi import AsgiApp, AsgiReceive, AsgiScope, AsgiSend, header_values
from assistant.ui.server.sign_in import owner_of
from assistant.ui.server.user_sessions import UserSessions


class DrawnPage:
    """The page that is served; its events stay those of the first drawing, only its words change."""

    def __init__(self, draw: Callable[[], Blocks]) -> None:
        self.demo = draw()
        self._draw = draw
        self._language = spoken_language()

    def speak(self, language: Language) -> None:
        """Let the program speak this language, and the page from its next load on."""
        speak(language)
        if language == self._language:
            return
        self._language = language
        anew = self._draw().get_config_file()["components"]
        for component, other in zip(self.demo.config["components"], anew, strict=True):
            component["props"] = other["props"]
        self.demo.head = self.demo.config["head"] = head()


class SpokenPage:
    """ASGI middleware: each page is sent in the language that is set, else in that of the owner's browser."""

    def __init__(self, app: AsgiApp, page: DrawnPage, settings: Settings, users: UserSessions) -> None:
        self._app = app
        self._page = page
        self._settings = settings
        self._users = users

    async def __call__(self, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        """Answer as the app does."""
        if scope["type"] == "http" and scope["path"] == "/" and (language := self._wanted(scope)):
            self._page.speak(language)
        await self._app(scope, receive, send)

    def _wanted(self, scope: AsgiScope) -> Language | None:
        """None where nobody says: several people have one page, and nobody's browser decides for the others."""
        settings = self._users.settings_of(owner_of(self._settings)) or self._settings
        if settings.language != "auto":
            return settings.language
        if settings.accounts or settings.has_guests:
            return None
        return browser_language(",".join(header_values(scope, b"accept-language")))


def browser_language(accepted: str) -> Language | None:
    """The first language of a browser's list that the program speaks; English for others, None for an empty list."""
    tags = [tag.partition(";")[0].strip().lower() for tag in accepted.split(",") if tag.strip()]
    known = next((tag for tag in tags if tag.split("-")[0] in ("en", "zh")), "en")
    return None if not tags else "zh" if known.startswith("zh") else "en"
