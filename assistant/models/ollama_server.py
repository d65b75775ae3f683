"""What a server of Ollama says over its own interface: where it is, its models, the window to load one with."""

from __future__ import annotations

from urllib.parse import urlsplit

import httpx

from assistant.models.model_list import chat_rows
from assistant.models.server_report import ListedModel, read_ollama, size_in_name
from assistant.text.json_values import is_list, is_object

OLLAMA_PORT = 11434
LOADED_TOKENS = 16_384
"""With how large a window a model is loaded where nobody says: file tools need as much, and a small machine has it."""
_LISTED_MODELS = 12


def address_of(host: str) -> str:
    """The address that OLLAMA_HOST stands for: `0.0.0.0` listens everywhere, and is asked on this machine."""
    text = host.strip().rstrip("/")
    parts = urlsplit(text if "://" in text else f"http://{text}")
    name = parts.hostname or "127.0.0.1"
    name = "127.0.0.1" if name in ("0.0.0.0", "::") else f"[{name}]" if ":" in name else name
    port = parts.port or (OLLAMA_PORT if "://" not in text else {"https": 443}.get(parts.scheme, 80))
    return f"{parts.scheme}://{name}:{port}{parts.path}"


async def is_ollama(client: httpx.AsyncClient, root: str) -> bool:
    """True where the server speaks Ollama's own interface."""
    try:
        response = await client.get(f"{root}/api/version")
        body: object = response.json() if response.is_success else None
    except (httpx.HTTPError, ValueError):
        return False
    return is_object(body) and "version" in body


async def list_ollama(client: httpx.AsyncClient, root: str) -> tuple[ListedModel, ...]:
    """The chat models that are there, with sizes, newest first; raises as `list_models` does."""
    response = await client.get(f"{root}/api/tags")
    response.raise_for_status()
    return tuple(_read_tag(name, row) for name, row in chat_rows(response.json()))


async def about_ollama(client: httpx.AsyncClient, root: str, model: ListedModel) -> ListedModel:
    """The same model with what it can do and the window to load it with.

    The window is that of its own file where it sets one, else what the server has loaded it with or `LOADED_TOKENS`,
    whichever is more, and never more than the model can read.
    """
    told = await read_ollama(client, root, model.name)
    most = told.most_tokens or LOADED_TOKENS
    window = told.window_tokens if told.has_own_window else min(most, max(told.window_tokens or 0, LOADED_TOKENS))
    return ListedModel(
        model.name,
        window,
        told.size_billions or model.size_billions,
        told.calls_tools,
        told.is_for_chat,
        told.most_tokens,
        model.disk_bytes,
        sees_pictures=told.sees_pictures,
    )


async def find_ollama(client: httpx.AsyncClient, root: str, name: str) -> ListedModel | None:
    """The model of this name, with its tag or without, whatever it is for; None where it is not there."""
    response = await client.get(f"{root}/api/tags")
    response.raise_for_status()
    body: object = response.json()
    listed = body.get("models") if is_object(body) else None
    if not is_list(listed):
        raise ValueError("not a list of models")
    row = next((row for row in listed if is_object(row) and row.get("name") in (name, f"{name}:latest")), None)
    return await about_ollama(client, root, _read_tag(name, row)) if row is not None else None


async def first_chat_model(client: httpx.AsyncClient, root: str) -> ListedModel | None:
    """The first model that chats; None where there is none."""
    for model in (await list_ollama(client, root))[:_LISTED_MODELS]:
        if (told := await about_ollama(client, root, model)).is_for_chat:
            return told
    return None


def _read_tag(name: str, row: dict[str, object]) -> ListedModel:
    details, disk_bytes = row.get("details"), row.get("size")
    size = size_in_name(str(details.get("parameter_size", ""))) if is_object(details) else None
    return ListedModel(name, size_billions=size, disk_bytes=disk_bytes if isinstance(disk_bytes, int) else None)
