"""The page inside a Jupyter notebook: `from assistant.ui.notebook import open_page; open_page()`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path

from assistant.config.settings import load_settings
from assistant.config.words import say, speak
from assistant.ui.page import PageServer, open_person, start

_NOTEBOOK_FRAMES = "http://localhost:* http://127.0.0.1:*"


@dataclass(frozen=True, slots=True, repr=False)
class NotebookPage:
    """A page that is served by the notebook's own process; shown under its cell, and ended by `close`."""

    server: PageServer
    height: int

    @property
    def url(self) -> str:
        """Where it can be opened in a tab of its own."""
        return self.server.url

    def close(self) -> None:
        """Stop serving it; every turn ends, every flush writes."""
        self.server.close()

    def __repr__(self) -> str:
        return say("page", "is_at", url=self.url)

    def _repr_html_(self) -> str:
        # As high as was asked for, but with the title and the field for a message in the window at once.
        style = f"width:100%;height:{self.height}px;max-height:85vh;border:0"
        frame = f'<iframe src="{escape(self.url)}" title="Palimpsest" style="{style}"></iframe>'
        return f'{frame}<p><a href="{escape(self.url)}" target="_blank">{escape(self.url)}</a></p>'


def open_page(home: Path | None = None, height: int = 800) -> NotebookPage:
    """Serve the page and show it, at most `height` pixels high, under the cell; `home` wins over PALIMPSEST_HOME.

    Raises `SettingsError` for what is wrong with a setting.
    """
    settings = load_settings(home)
    speak(settings.program_language)
    return NotebookPage(start(settings, partial(open_person, settings), _NOTEBOOK_FRAMES), height)
