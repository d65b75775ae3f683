"""The list of models a server gives, in each form in use → the rows of those that chat (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from assistant.text.json_values import is_list, is_object

Row = dict[str, object]

_LIST_FIELDS = ("data", "models", "items", "result", "results", "model_list", "endpoints", "resources")
_NAME_FIELDS = ("id", "model", "name", "key", "model_name", "model_id")
# Not for chat, though servers list them beside the chat models: vectors, rankings, sounds, pictures, films, filters.
_NOT_FOR_CHAT = re.compile(
    r"embed|rerank|whisper|minilm|mpnet|colbert|splade|dall-e|dalle|stable-?diffusion|imagen|moderation|transcribe|"
    r"text-to-|wav2vec|musicgen|cosyvoice|paraformer|sensevoice|kokoro|cogview|cogvideo|seedream|seedance|kandinsky|"
    r"gpt-image|image-edit|playground-v|-image(?:-|$)|-realtime|gpt-audio|-audio-preview|computer-use|nvclip|nemoretriever|"
    r"(?:llama|prompt|granite|qwen3|nemo)-?guard|guardian|shieldgemma|-ocr(?:-|$)|turbo-instruct|"
    r"(?:^|[-_/:])(?:bge|tts|e5|gte|sdxl|sd3|flux|veo|sora|clip|siglip|asr|wanx?2?|bark|piper|babbage|davinci|lyria)"
    r"(?:[-_/:.\d]|$)",
    re.IGNORECASE,
)
_OTHER_KINDS = re.compile(
    r"embed|rerank|image|audio|speech|video|moderation|transcri|tts|asr|feature-extraction|similarity|classif|score",
    re.IGNORECASE,
)
_CHAT_KINDS = re.compile(
    r"^(?!.*(?:embed|rerank)).*(?:chat|completion|\bgenerate\b|llm|vlm|language|text-generation|image-text-to-text)",
    re.IGNORECASE,
)
_KIND_FIELDS = (
    "type",
    "task",
    "tasks",
    "mode",
    "model_type",
    "model_ability",
    "pipeline_tag",
    "kind",
    "category",
    "sub_type",
    "endpoints",
    "functions",
)
# What a registry calls a model by, where the name beside it is the one to ask for.
_REGISTRY_ID = re.compile(r"azureml://|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$", re.IGNORECASE)


def chat_rows(body: object) -> list[tuple[str, Row]]:
    """The name and the row of each model that chats, in the server's order. Raises `ValueError` for no such list."""
    rows = _rows(body)
    if rows is None:
        raise ValueError("not a list of models")
    named = [(name, row) for row in rows if (name := _name(row))]
    return [(name, row) for name, row in named if is_chat_name(name) and _chats(row)]


def is_chat_name(name: str) -> bool:
    """False for a name that only models of another kind have."""
    return not _NOT_FOR_CHAT.search(name)


def chats_by_capabilities(capabilities: object) -> bool:
    """False where a server says what a model can do, and to chat is not among it."""
    if is_object(capabilities):
        chats = [is_able for name, is_able in capabilities.items() if _CHAT_KINDS.search(str(name))]
        if chats and not any(is_able is True for is_able in chats):
            return False
        capabilities = [name for name, is_able in capabilities.items() if is_able is True]
    words = [word for word in capabilities if isinstance(word, str)] if is_list(capabilities) else []
    is_other = any(_OTHER_KINDS.search(word) for word in words)
    return not is_other or any(_CHAT_KINDS.search(word) for word in words)


def _rows(body: object) -> list[Row] | None:
    if is_list(body):
        return [_row(item) for item in body]
    if not is_object(body):
        return None
    for field in _LIST_FIELDS:
        match body.get(field):
            case items if is_list(items):
                return [_row(item) for item in items]
            case items if is_object(items) and field in ("data", "models", "result"):
                inner = _rows(items)
                return inner if inner is not None else [{"id": name, **_row(item)} for name, item in items.items()]
            case None if field in body and field == "data":
                return _rows({name: value for name, value in body.items() if name != "data"}) or []
            case _:
                pass
    return None


def _row(item: object) -> Row:
    if isinstance(item, str):
        return {"id": item}
    return dict(item) if is_object(item) else {}


def _name(row: Mapping[str, object]) -> str:
    """What the model is called in a request."""
    values = (row.get(field) for field in _NAME_FIELDS)
    names = [value.strip() for value in values if isinstance(value, str) and value.strip()]
    name = next((one for one in names if not _REGISTRY_ID.match(one)), names[0] if names else "")
    # A pattern of a gateway, and what a server without a model says.
    name = "" if "*" in name or name == "None" else name
    # Google lists the path of the resource.
    is_path = name.startswith("models/") and "supportedGenerationMethods" in row
    return name.removeprefix("models/") if is_path else name


def _chats(row: Mapping[str, object]) -> bool:
    if row.get("active") is False or row.get("archived") is True or row.get("deprecated") is True:
        return False
    if row.get("status") in ("downloadable", "deprecated", "retired"):
        return False
    kinds = [word for field in _KIND_FIELDS for word in _words(row.get(field))]
    if any(map(_OTHER_KINDS.search, kinds)) and not any(map(_CHAT_KINDS.search, kinds)):
        return False
    methods = _words(row.get("supportedGenerationMethods"))
    if methods and not any(method.lower().endswith("generatecontent") for method in methods):
        return False
    architecture = row.get("architecture")
    modalities = architecture if is_object(architecture) else row
    outputs = _words(modalities.get("output_modalities")) or _words(row.get("supported_output_modalities"))
    return (not outputs or "text" in outputs) and chats_by_capabilities(row.get("capabilities"))


def _words(value: object) -> list[str]:
    """The words of a field that is one or a list of them, or of things with names."""
    if is_object(value):
        value = [value.get("name") or value.get("id")]
    if isinstance(value, str):
        return [value]
    items = value if is_list(value) else []
    return [word for item in items for word in ([item] if isinstance(item, str) else _words(_named(item)))]


def _named(item: object) -> object:
    return (item.get("name") or item.get("id")) if is_object(item) else None
