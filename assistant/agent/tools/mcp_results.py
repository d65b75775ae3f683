"""The result of a tool from outside → text and pictures (pure).

Nothing in a result is ever opened: an address is text, whatever it leads to. Only a picture whose bytes came with the
result, and are a picture, stays one.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping

from assistant.config.prompts import render
from assistant.config.words import Language
from assistant.messages.blocks import Base64Source, DataBlock, TextBlock
from assistant.text.encoding import storable
from assistant.text.json_values import is_list, is_object

ResultBlock = TextBlock | DataBlock

_LINK_FIELDS = ("title", "name", "uri", "url", "description")
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
)


def result_blocks(result: Mapping[str, object], language: Language) -> list[ResultBlock]:
    """What the result says, in order; structured content as JSON where there are no words beside it."""
    content = result.get("content")
    items = content if is_list(content) else [] if content is None else [content]
    blocks = [block for item in items for block in _item_blocks(item, language)]
    for name in ("structuredContent", "toolResult"):
        value = result.get(name)
        if value is not None and not any(isinstance(block, TextBlock) for block in blocks):
            blocks.append(_text(_as_json(value)))
    return blocks


def _item_blocks(item: object, language: Language) -> Iterable[ResultBlock]:
    if is_object(item):
        yield from _part_blocks(item, language)
    elif item is not None:
        yield _text(item if isinstance(item, str) else _as_json(item))


def _part_blocks(item: Mapping[str, object], language: Language) -> Iterable[ResultBlock]:
    match item:
        case {"type": "text"} | {"text": str()}:
            text = item.get("text")
            yield _text(text if isinstance(text, str) else _as_json(text))
        case {"type": "image"}:
            yield _picture(item.get("data"), _kind_of(item), language)
        case {"type": "image_url", "image_url": address}:
            yield _picture_at(address.get("url") if is_object(address) else address, language)
        case {"type": "audio"}:
            yield _words("sound", f"{_kind_of(item)}, {_size_words(item.get('data'))}", language)
        case {"type": "resource_link"}:
            yield _link(item, language)
        case {"type": "resource", "resource": resource} if is_object(resource):
            yield from _resource_blocks(resource, language)
        case _:
            yield _link(item, language) if "uri" in item else _words("other", _as_json(item), language)


def _resource_blocks(resource: Mapping[str, object], language: Language) -> Iterable[ResultBlock]:
    address, text, kind = str(resource.get("uri") or ""), resource.get("text"), _kind_of(resource)
    if isinstance(text, str):
        yield _text(f"{address}:\n{text}" if address else text)
    elif kind.startswith("image/"):
        yield _picture(resource.get("blob"), kind, language)
    elif "blob" in resource:
        parts = [address, kind, _size_words(resource["blob"])]
        yield _words("file", ", ".join(filter(None, parts)), language)
    else:
        yield _link(resource, language)


def _picture_at(address: object, language: Language) -> ResultBlock:
    """A picture that is within its address; any other address is a link."""
    if isinstance(address, str) and address.startswith("data:"):
        return _picture(address, "", language)
    return _words("link", str(address), language)


def _picture(data: object, kind: str, language: Language) -> ResultBlock:
    content = _decoded(data)
    real_kind = _picture_kind(content)
    if real_kind is None:
        return _words("picture", ", ".join(filter(None, [kind, _size_words(data)])), language)
    return DataBlock(source=Base64Source(media_type=real_kind, data=base64.b64encode(content).decode()))


def _picture_kind(content: bytes) -> str | None:
    """The format, by its first bytes: what a server says of it can be wrong, and a provider would refuse it."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for signature, kind in _SIGNATURES if content.startswith(signature)), None)


def _decoded(data: object) -> bytes:
    """The bytes of base64, also in a `data:` address, without padding or with line ends; none where it is no base64."""
    if not isinstance(data, str):
        return b""
    text = "".join(data.partition(",")[2].split() if data.startswith("data:") else data.split())
    text = text.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _link(item: Mapping[str, object], language: Language) -> TextBlock:
    values = (item.get(name) for name in _LINK_FIELDS)
    parts = list(dict.fromkeys(value for value in values if isinstance(value, str) and value))
    return _words("link", ", ".join(parts), language)


def _kind_of(item: Mapping[str, object]) -> str:
    kind = item.get("mimeType") or item.get("mime_type") or item.get("media_type")
    return kind if isinstance(kind, str) else ""


def _size_words(data: object) -> str:
    return f"{len(_decoded(data)):,} bytes"


def _words(part: str, words: str, language: Language) -> TextBlock:
    return _text(render("outside_part", language, part=part, words=words))


def _text(text: str) -> TextBlock:
    return TextBlock(text=storable(text))


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
