"""What a server says about itself: the models it lists, their windows and sizes."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

import httpx

from assistant.models.model_list import chat_rows, chats_by_capabilities
from assistant.models.price import Price, read_price
from assistant.text.json_values import is_list, is_object, objects_in

_SIZE = re.compile(r"(?<![a-z0-9.])[ae]?(\d+(?:\.\d+)?)\s*([bm])(?![a-z])", re.IGNORECASE)
_NUM_CTX = re.compile(r"^\s*num_ctx\s+(\d+)", re.MULTILINE)
# Each server has its own word; the one for what is loaded comes before the one for what the model could do.
_WINDOW_FIELDS = (
    "loaded_context_length",
    "max_model_len",
    "n_ctx",
    "context_length",
    "context_window",
    "max_context_length",
)


@dataclass(frozen=True, slots=True)
class ListedModel:
    """One model of a server; None where the server does not say."""

    name: str
    window_tokens: int | None = None
    size_billions: float | None = None
    calls_tools: bool | None = None
    is_for_chat: bool = True
    most_tokens: int | None = None
    """What it could read, where the server loads it with less."""
    disk_bytes: int | None = None
    has_own_window: bool = False
    """True where the window is set in the model's own file."""
    sees_pictures: bool | None = None
    price: Price | None = None


def is_loopback(base_url: str) -> bool:
    """True when the address can only be this machine."""
    host = urlsplit(base_url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def direct_client(timeout_seconds: float) -> httpx.AsyncClient:
    """A client that never follows a proxy from the environment: what runs here is asked here."""
    return httpx.AsyncClient(trust_env=False, timeout=timeout_seconds)


async def list_models(client: httpx.AsyncClient, base_url: str) -> tuple[ListedModel, ...]:
    """The chat models a server lists, in its order.

    Raises `httpx.HTTPError` when nothing answers or the answer is an error, and `ValueError` when it is no such list.
    """
    response = await client.get(f"{base_url.rstrip('/')}/models")
    response.raise_for_status()
    return tuple(_read_row(name, row) for name, row in chat_rows(response.json()))


async def ask_server(client: httpx.AsyncClient, base_url: str, model: ListedModel) -> ListedModel:
    """The same model with what llama-server, LM Studio and Ollama tell at addresses of their own.

    What the list of models said stands. Silence, an error or an odd answer tells nothing.
    """
    root = base_url.rstrip("/").removesuffix("/v1")
    for read in (_read_llama_server, _read_lm_studio, read_ollama):
        told = await read(client, root, model.name)
        model = replace(
            model,
            window_tokens=model.window_tokens or told.window_tokens,
            size_billions=model.size_billions or told.size_billions,
            calls_tools=told.calls_tools if model.calls_tools is None else model.calls_tools,
            is_for_chat=model.is_for_chat and told.is_for_chat,
            sees_pictures=told.sees_pictures if model.sees_pictures is None else model.sees_pictures,
        )
    return model


def size_in_name(name: str) -> float | None:
    """Billions of parameters according to the name (`qwen2.5-coder:1.5b` → 1.5), the largest figure, or None."""
    sizes = [float(number) / (1 if unit.lower() == "b" else 1_000) for number, unit in _SIZE.findall(name)]
    return max(sizes, default=None)


def _read_row(name: str, row: dict[str, object]) -> ListedModel:
    meta = row.get("meta")
    meta = meta if is_object(meta) else {}
    parameters = _number(meta, "n_params")
    return ListedModel(
        name=name,
        window_tokens=_number(row, *_WINDOW_FIELDS) or _number(meta, "n_ctx"),
        size_billions=parameters / 1e9 if parameters else None,
        price=read_price(row),
    )


async def _read_llama_server(client: httpx.AsyncClient, root: str, name: str) -> ListedModel:
    told = await _fetch(client, f"{root}/props")
    settings, modalities = told.get("default_generation_settings"), told.get("modalities")
    sees = modalities.get("vision") if is_object(modalities) else None
    window = _number(settings, "n_ctx") if is_object(settings) else None
    return ListedModel(name, window, sees_pictures=sees if isinstance(sees, bool) else None)


async def _read_lm_studio(client: httpx.AsyncClient, root: str, name: str) -> ListedModel:
    row = await _fetch(client, f"{root}/api/v0/models/{name}")
    return ListedModel(
        name,
        _number(row, "loaded_context_length"),
        calls_tools=_is_able(row, "tool_use"),
        is_for_chat=row.get("type") not in ("embeddings", "embedding"),
        sees_pictures=row["type"] == "vlm" if row.get("type") in ("llm", "vlm") else None,
    )


async def read_ollama(client: httpx.AsyncClient, root: str, name: str) -> ListedModel:
    """Ollama serves `num_ctx` or what it loaded with, which is far less than the model could: it cuts in silence."""
    shown = await _fetch(client, f"{root}/api/show", {"model": name})
    if not shown:
        return ListedModel(name)
    details = shown.get("details")
    size = size_in_name(str(details.get("parameter_size", ""))) if is_object(details) else None
    calls_tools, sees = _is_able(shown, "tools"), _is_able(shown, "vision")
    is_for_chat = chats_by_capabilities(shown.get("capabilities"))
    most = _most_tokens(shown.get("model_info"))
    if found := _NUM_CTX.search(str(shown.get("parameters", ""))):
        return ListedModel(name, int(found[1]), size, calls_tools, is_for_chat, most, None, True, sees)
    rows = objects_in((await _fetch(client, f"{root}/api/ps")).get("models"))
    nothing: dict[str, object] = {}
    mine = next((row for row in rows if row.get("name") == name or row.get("model") == name), nothing)
    window = _number(mine, "context_length")
    return ListedModel(name, window, size, calls_tools, is_for_chat, most, sees_pictures=sees)


def _most_tokens(info: object) -> int | None:
    """The window by the file of the model; its field has the name of the architecture before it."""
    fields = [name for name in info if name.endswith(".context_length")] if is_object(info) else []
    return _number(info, *fields) if is_object(info) else None


def _is_able(row: dict[str, object], word: str) -> bool | None:
    """Whether the capabilities a server lists have `word`; None where it lists none."""
    capabilities = row.get("capabilities")
    return word in capabilities if is_list(capabilities) and capabilities else None


async def _fetch(client: httpx.AsyncClient, url: str, post: dict[str, str] | None = None) -> dict[str, object]:
    """The JSON object at an address; empty when there is none."""
    try:
        response = await (client.post(url, json=post) if post else client.get(url))
        body: object = response.json() if response.is_success else None
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return {}
    return body if is_object(body) else {}


def _number(row: dict[str, object], *names: str) -> int | None:
    """The first of the fields that holds a positive number."""
    values = (row.get(name) for name in names)
    return next((int(value) for value in values if isinstance(value, int | float) and value > 0), None)
