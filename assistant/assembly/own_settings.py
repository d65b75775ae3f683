"""What the owner sets from the page: tried first, then kept in the home's `.env`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.config.settings import Settings, fixing_variable, load_settings, variable_names
from assistant.config.words import say, spoken_language
from assistant.errors import PalimpsestError, SettingsError
from assistant.models.chat_model import connect_available
from assistant.models.connection_report import ConnectionReport
from assistant.models.connection_test import test_connection
from assistant.models.detect import PLACES, LocalServer, ServerPlace, look_up_local_servers
from assistant.models.known_providers import ModelChoice
from assistant.models.local.gguf_file import GgufFile
from assistant.models.local.model_files import find_model_files
from assistant.models.local.model_process import has_llama
from assistant.storage.env_file import keep_variables

KEPT_FIELDS = (
    "provider",
    "base_url",
    "model",
    "model_file",
    "api_key",
    "compactor_model",
    "max_input_length",
    "memory_compact_ratio",
    "max_recent_turns",
    "tools",
    "memory",
    "recall",
    "embedder",
    "embedding_model",
    "embedding_base_url",
    "embedding_api_key",
    "language",
    "timezone",
)
"""The settings that the page can change."""
LOOK_AROUND_SECONDS = 2.0
"""How long a server of this machine may take to say that it is there, where a person waits for it; one that is not
there says so at once."""
_NEEDS_RESTART = frozenset({"embedder", "embedding_model", "embedding_base_url", "embedding_api_key", "timezone"})


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of trying a choice; a model that answers is usable, also where it calls no tools."""

    is_usable: bool
    report: ConnectionReport


class OwnSettings:
    """The settings of one home. Who is no owner of it sees them and changes none."""

    def __init__(self, home: Path, *, is_owner: bool, places: Sequence[ServerPlace] = PLACES) -> None:
        self._home = home
        self.is_owner = is_owner
        self.places = places
        self.is_trying = False
        """True while a model is tried."""
        self.found: tuple[LocalServer, ...] = ()
        """The model servers that were found on this machine, the last time that was looked for."""
        self.files: tuple[GgufFile, ...] = ()
        """The models in files that were found then; none where nothing is installed that runs them."""

    @property
    def path(self) -> Path:
        """The file that keeps them."""
        return self._home / ".env"

    @property
    def is_first_run(self) -> bool:
        """True until the owner has kept anything."""
        return self.is_owner and not self.path.exists()

    @property
    def fixes_model(self) -> str:
        """The variable of the environment that says who answers; empty where the page may say it."""
        fields = ("provider", "base_url", "model", "model_file", "api_key")
        return next((variable for field in fields if (variable := fixing_variable(field))), "")

    @staticmethod
    def needs_restart(fields: Iterable[str]) -> bool:
        """True where one of these settings counts in full only from the next start on."""
        return not _NEEDS_RESTART.isdisjoint(fields)

    async def look_around(self) -> None:
        """For the owner: look for model servers on this machine, and for models in files where they can be run."""
        if not self.is_owner:
            return
        self.found = tuple((await look_up_local_servers(LOOK_AROUND_SECONDS, self.places)).servers)
        self.files = tuple(await asyncio.to_thread(find_model_files)) if has_llama() else ()

    async def try_model(self, choice: ModelChoice) -> Trial:
        """Connect to a model and ask it for a word and a tool call; nothing is kept."""
        try:
            settings = self._changed(choice.changes())
        except PalimpsestError as error:
            return Trial(False, ConnectionReport(False, str(error)))
        return await self.try_settings(settings)

    async def try_settings(self, settings: Settings) -> Trial:
        """The same for the model that these settings name; nobody but the owner lets this machine ask a server."""
        if not self.is_owner:
            return Trial(False, ConnectionReport(False, say("page_setup", "not_yours")))
        try:
            model = await connect_available(settings, self.places)
        except PalimpsestError as error:
            return Trial(False, ConnectionReport(False, str(error)))
        try:
            test = await test_connection(model, spoken_language())
        finally:
            await model.close()
        answered = say("page_setup", "answered", name=model.name, seconds=test.reply_seconds) if test.reply else ""
        text = " ".join(part for part in (answered, test.problem) if part)
        return Trial(bool(test.reply), ConnectionReport(test.is_ok, text))

    async def keep(self, changes: Mapping[str, str]) -> None:
        """Write settings, by their field, into `.env`; an empty value takes one out.

        Raises `SettingsError` where one is unknown, impossible, or fixed by the environment; nothing is written then.
        """
        if not self.is_owner:
            raise SettingsError(".env", say("page_setup", "not_yours"))
        for field in changes:
            if field not in KEPT_FIELDS:
                raise SettingsError(field, say("page_setup", "not_kept_here"))
            if variable := fixing_variable(field):
                raise SettingsError(variable, say("page_setup", "fixed"))
        self._changed(changes)
        await asyncio.to_thread(keep_variables, self.path, self._variables(changes))

    def _changed(self, changes: Mapping[str, str]) -> Settings:
        return load_settings(self._home, changes)

    @staticmethod
    def _variables(changes: Mapping[str, str]) -> dict[str, str]:
        """Each under the name that wins; its other names go, so that one value is there."""
        kept: dict[str, str] = {}
        for field, value in changes.items():
            first, *others = variable_names(field)
            kept |= {first: value.strip(), **dict.fromkeys(others, "")}
        return kept
