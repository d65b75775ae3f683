"""The log of the program: a file in the home, without keys and secrets; a terminal gets it only when asked to."""

from __future__ import annotations

import logging
import logging.handlers
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from assistant.assembly.known_keys import KeySource
from assistant.config.settings import Settings
from assistant.config.words import say
from assistant.errors import PalimpsestError
from assistant.storage.workspace import Workspace
from assistant.text.known_secrets import KnownSecrets

MAX_BYTES = 2_000_000
"""A log that is larger than this at the start begins again; the one before is kept beside it."""
_FORM = "%(asctime)s %(levelname)s %(name)s: %(message)s"

log = logging.getLogger(__name__)


class MaskedFormatter(logging.Formatter):
    """A line and its traceback without what `mask` takes out."""

    def __init__(self, mask: Callable[[str], str]) -> None:
        super().__init__(_FORM)
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        """The record as it is written."""
        return self._mask(super().format(record))


class HomeLogHandler(logging.handlers.WatchedFileHandler):
    """Appends to the file of a home; where that is not there, or cannot be written, nothing is logged."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record, into a new file where another program took the old one away."""
        try:
            if Path(self.baseFilename).parent.is_dir():
                super().emit(record)
        except OSError:
            # To open the file fails outside of what the library catches.
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """A full disk is no reason to speak of the log."""


class QuietLogger(logging.Logger):
    """A logger that no library makes write to the terminal."""

    def addHandler(self, hdlr: logging.Handler) -> None:  # noqa: N802
        """Take the handler, unless it writes to a standard stream."""
        if type(hdlr) is not logging.StreamHandler:
            super().addHandler(hdlr)


class ProgramLog:
    """Meanwhile the log goes into the home, and with `is_verbose` to standard error too.

    What nobody foresaw ends here: it is in the log with its traceback, and one line for the person.
    """

    def __init__(self, settings: Settings, *, is_verbose: bool) -> None:
        self._path = Workspace(settings.home).log_path
        known = KnownSecrets(KeySource(settings).values)
        formatter = MaskedFormatter(lambda text: known.mask_all(text).text)
        self._handlers: list[logging.Handler] = [
            HomeLogHandler(self._path, encoding="utf-8", delay=True, errors="backslashreplace")
        ]
        if is_verbose:
            self._handlers.append(logging.StreamHandler(sys.stderr))
        for handler in self._handlers:
            handler.setFormatter(formatter)
        self._level = logging.root.level
        self._last_resort = logging.lastResort

    def __enter__(self) -> None:
        """Log from now on; a log that has become large begins again."""
        with suppress(OSError):
            if self._path.stat().st_size > MAX_BYTES:
                self._path.replace(self._path.with_name(f"{self._path.name}.1"))
        for handler in self._handlers:
            logging.root.addHandler(handler)
        logging.root.setLevel(logging.WARNING)
        logging.getLogger("assistant").setLevel(logging.INFO)
        logging.setLoggerClass(QuietLogger)
        # A library's logger that hands nothing on has no handler left.
        self._last_resort, logging.lastResort = logging.lastResort, self._handlers[0]
        logging.captureWarnings(True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Stop; True where an error has been told here."""
        is_told = isinstance(error, Exception) and not isinstance(error, PalimpsestError | OSError)
        if error is not None and isinstance(error, Exception):
            log.error("the command failed", exc_info=error)
        if is_told:
            print(f"palimpsest: {say('cli', 'unforeseen', path=self._path)}", file=sys.stderr)
        logging.captureWarnings(False)
        logging.setLoggerClass(logging.Logger)
        logging.lastResort = self._last_resort
        logging.root.setLevel(self._level)
        for handler in self._handlers:
            logging.root.removeHandler(handler)
            handler.close()
        return is_told
