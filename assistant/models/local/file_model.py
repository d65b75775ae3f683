"""Settings → a model from a file on this machine, in a process of its own."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from assistant.config.settings import Settings
from assistant.messages.blocks import Msg
from assistant.models.local.memory_need import free_memory_bytes, window_that_fits
from assistant.models.local.model_files import chosen_model_file
from assistant.models.local.model_process import ModelProcess, require_llama
from assistant.models.providers.provider_line import Chunks
from assistant.models.providers.provider_models import OpenAICompatibleModel


class FileModel(OpenAICompatibleModel):
    """Asks the process it owns; one that died is started again for the next question."""

    def __init__(self, name: str, process: ModelProcess, window_tokens: int, max_reply_tokens: int) -> None:
        super().__init__(name, process.base_url, process.key, window_tokens, max_reply_tokens)
        self._process = process

    async def close(self) -> None:
        """End the process and let go of the connections; may be called twice."""
        await super().close()
        await self._process.stop()

    async def _call_api(self, model_name: str, messages: list[Msg], *args: object, **kwargs: object) -> Chunks:
        await self._process.run()
        return await super()._call_api(model_name, messages, *args, **kwargs)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A model that is loaded, and what is known of it."""

    model: FileModel
    name: str
    address: str
    window_tokens: int


async def open_model_file(settings: Settings) -> OpenedFile:
    """Load the file that the settings name, or the newest of the usual folders.

    Raises `SettingsError` where there is none or the library is missing, and `ModelError` where it cannot be loaded.
    """
    require_llama()
    file = await asyncio.to_thread(chosen_model_file, settings.model_file, settings.model)
    window = window_that_fits(file, settings.max_input_length, free_memory_bytes())
    process = ModelProcess(file, window)
    await process.run()
    model = FileModel(file.name, process, window, settings.max_reply_tokens)
    return OpenedFile(model, file.name, process.base_url, window)
