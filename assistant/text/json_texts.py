"""The texts inside a JSON value: read, or changed, while names, times and identifiers stay what they are (pure)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from assistant.text.json_parsing import parse_json
from assistant.text.json_values import is_list, is_object

# No reader of these fields expects prose, and a changed one would lead nowhere.
_NO_TEXTS = frozenset(
    {"kind", "type", "role", "name", "at", "path", "state", "reason", "flush", "version", "keys", "pins", "digest"}
    | {"created_at", "finished_at", "updated_at", "media_type", "data", "writer"}
)


def texts_of(value: object) -> Iterator[str]:
    """Every text, in order; one that is JSON itself is read into."""
    match value:
        case str():
            inner = _inner(value)
            yield from [value] if inner is None else texts_of(inner)
        case _ if is_list(value):
            for part in value:
                yield from texts_of(part)
        case _ if is_object(value):
            for name, part in value.items():
                if is_text_field(name):
                    yield from texts_of(part)
        case _:
            pass


def map_texts(value: object, change: Callable[[str], str], *, reads_inner: bool = True) -> object:
    """The value with `change(text)` in place of each text; with `reads_inner` also inside texts that are JSON."""
    match value:
        case str():
            inner = _inner(value) if reads_inner else None
            if inner is None:
                return change(value)
            changed = map_texts(inner, change)
            return value if changed == inner else json.dumps(changed, ensure_ascii=False)
        case _ if is_list(value):
            return [map_texts(part, change, reads_inner=reads_inner) for part in value]
        case _ if is_object(value):
            return {
                name: map_texts(part, change, reads_inner=reads_inner) if is_text_field(name) else part
                for name, part in value.items()
            }
        case _:
            return value


def is_text_field(name: str) -> bool:
    """True unless a field of this name holds an identifier, a time, a fixed word or bytes."""
    return not (name in _NO_TEXTS or name == "id" or name.endswith(("_id", "_ids")))


def _inner(text: str) -> dict[str, object] | list[object] | None:
    """The object or list that the text is the JSON of, such as the arguments of a tool call."""
    if text[:1] not in ("{", "["):
        return None
    try:
        value = parse_json(text)
    except ValueError:
        return None
    return value if is_object(value) or is_list(value) else None
