"""The arguments of a tool call, as models and servers really write them → JSON objects (pure)."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence

from assistant.text.json_values import is_object

_FENCE = re.compile(r"```[\w-]*\s*\n?(.*?)\n?\s*(?:```)?", re.DOTALL)
_LEFT_OVER = re.compile(r"(?:[\s;,\]})>`]|</?[\w:｜▁-]+>|<[|｜][^|｜]*[|｜]>)*")
_STRING_OR_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+")|,(\s*[}\]])', re.DOTALL)
_WRAPPERS = ("arguments", "parameters", "input", "args", "params", "kwargs")
_BESIDE_WRAPPED = {"name", "id", "type", "tool", "tool_name", "function", *_WRAPPERS}
_LONGEST_LITERAL = 100_000


def arguments_text(pieces: Sequence[object]) -> str:
    """The pieces as the text of one JSON object; where none comes of them, as they came.

    Read too: an object instead of its text, text that was encoded twice, an empty object before the real one, the whole
    repeated at the end or with each piece, quotes of Python instead of JSON's.
    """
    texts = [piece if isinstance(piece, str) else json.dumps(piece, ensure_ascii=False) for piece in pieces]
    objects = [piece for piece in pieces if is_object(piece)]
    if objects and len(objects) == len(pieces):
        merged: dict[object, object] = {}
        for piece in objects:
            merged |= piece
        return json.dumps(merged, ensure_ascii=False)
    joined = "".join(texts)
    full = [text for text in texts if text.strip() not in ("{}", "null")]
    candidates = (joined, "".join(full), *(texts[-1:] if len(texts) > 1 else ()), "".join(texts[:-1]))
    for candidate in candidates:
        if (read := as_object(candidate)) is not None and (read != "{}" or not full):
            return read
    return joined if joined.strip() not in ("", "null") else "{}"


def as_object(text: str) -> str | None:
    """The text of the JSON object this is, unwrapped; None where it is none."""
    stripped = text.strip()
    if stripped in ("", "null", "None", '""'):
        return "{}"
    for _ in range(3):
        value = decoded(stripped)
        if is_object(value):
            # What came as proper JSON is kept to the letter.
            return stripped if _is_strict(stripped) else json.dumps(value, ensure_ascii=False)
        if not isinstance(value, str):
            break
        stripped = value.strip()
    return None


def decoded(text: str) -> object:
    """The value of a text, also with Python's quotes or with line ends in strings; None where it is none."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        pass
    if text.startswith("{'") and len(text) < _LONGEST_LITERAL:
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            pass
    return None


def objects_in(text: str) -> list[str]:
    """The texts of the objects that a text consists of; empty where anything is in it that means something else.

    Read over: a fence, a comma too many, marks and brackets behind an object, an empty object beside a full one.
    """
    stripped = text.strip()
    fence = _FENCE.fullmatch(stripped)
    body = fence[1] if fence else stripped
    for candidate in (body, _STRING_OR_COMMA.sub(lambda found: found[1] or found[2], body)):
        found = _one_by_one(candidate)
        if found:
            return [one for one in found if one != "{}"] or found[:1]
    return []


def unwrapped(text: str, schema: Mapping[str, object], name: str) -> str:
    """The arguments without another call around them, where the tool knows none of the outer names."""
    properties = schema.get("properties")
    value = decoded(text)
    if not is_object(properties) or not is_object(value) or not value or value.keys() <= properties.keys():
        return text
    wrapper = next((key for key in (*_WRAPPERS, name) if key in value and key not in properties), None)
    if wrapper is None or not value.keys() <= {*_BESIDE_WRAPPED, name}:
        return text
    inner = value[wrapper]
    inner = decoded(inner) if isinstance(inner, str) else inner
    if not is_object(inner) or not inner.keys() <= properties.keys():
        return text
    return json.dumps(inner, ensure_ascii=False)


def _one_by_one(text: str) -> list[str]:
    decoder = json.JSONDecoder(strict=False)
    found: list[str] = []
    place = 0
    while place < len(text):
        if text[place] != "{":
            return []
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return []
        found.append(text[place:end] if _is_strict(text[place:end]) else json.dumps(value, ensure_ascii=False))
        left_over = _LEFT_OVER.match(text, end)
        place = left_over.end() if left_over else end
    return found


def _is_strict(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
