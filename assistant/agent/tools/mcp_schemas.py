"""The tools a server lists → names and schemas that every provider takes, and why a tool cannot be offered (pure)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from assistant.config.words import say
from assistant.text.json_values import is_list, is_object

NAME_CHARS = 64
"""What providers take in a tool's name."""
_DESCRIPTION_CHARS = 1_024
_DIGEST_CHARS = 8
_TYPES = {"object", "string", "number", "integer", "boolean", "array", "null"}
_SCHEMA_KEYS = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_LIST_KEYS = ("anyOf", "oneOf", "allOf", "prefixItems")
_MAP_KEYS = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
# Addresses among them would be fetched by what checks the arguments; the other ones mean another draft.
_DROPPED_KEYS = {"$schema", "$id", "id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$vocabulary"}
_NUMBER_KEYS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_COUNT_KEYS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_MAX_DEPTH = 60

Schema = dict[str, object]


@dataclass(frozen=True, slots=True)
class ListedTool:
    """One tool as its server knows it, with a schema that every provider takes."""

    name: str
    description: str
    schema: Schema = field(default_factory=Schema)


@dataclass(frozen=True, slots=True)
class UnusableTool:
    """A tool that cannot be offered, and why."""

    name: str
    reason: str


def read_tool(row: object) -> ListedTool | UnusableTool:
    """One row of a server's list of tools."""
    if not is_object(row):
        return UnusableTool("?", say("mcp", "tool_no_description"))
    name = row.get("name")
    if not isinstance(name, str) or not name.strip():
        return UnusableTool("?", say("mcp", "tool_no_name"))
    given = row.get("inputSchema", row.get("input_schema"))
    schema = mended_schema({} if given is None else given)
    if schema is None:
        return UnusableTool(name, say("mcp", "tool_no_arguments"))
    description = row.get("description") or row.get("title")
    text = description if isinstance(description, str) else ""
    return ListedTool(name, text[:_DESCRIPTION_CHARS], schema)


def offered_name(server: str, tool: str, taken: Collection[str]) -> str:
    """`mcp__server__tool` in the letters and the length that providers take, and unlike the names that are taken."""
    plain = f"mcp__{server}__{tool}"
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", plain)
    if len(name) <= NAME_CHARS and name not in taken:
        return name
    for attempt in range(len(taken) + 1):
        digest = hashlib.sha256(f"{plain}\0{attempt or ''}".encode("utf-8", "replace")).hexdigest()[:_DIGEST_CHARS]
        name = f"{name[: NAME_CHARS - _DIGEST_CHARS - 1]}_{digest}"
        if name not in taken:
            break
    return name


def mended_schema(given: object) -> Schema | None:
    """The schema as one object without what providers refuse or what is no schema; None where it is of another type.

    What is left takes every call that the given one meant: a keyword that cannot be understood is left out.
    """
    if not is_object(given):
        return None
    kind = given.get("type")
    kinds = kind if is_list(kind) else [kind]
    if kind is not None and "object" not in kinds and any(isinstance(one, str) and one in _TYPES for one in kinds):
        return None
    schema = _mended(given, given, 0)
    merged = _merged(schema)
    properties = merged.get("properties")
    known = properties if is_object(properties) else {}
    required = merged.get("required")
    names = [name for name in required if name in known] if is_list(required) else []
    return {**merged, "type": "object", "properties": known, "required": names}


def _merged(schema: Schema) -> Schema:
    """The schema without alternatives at its top, which providers refuse: their properties are its own.

    Of alternatives only what all require is required.
    """
    properties = _object_of(schema, "properties")
    required = _names_of(schema)
    for key in ("allOf", "anyOf", "oneOf"):
        branches = [_followed(branch, schema) for branch in _list_of(schema, key)]
        for branch in branches:
            for name, value in _object_of(branch, "properties").items():
                properties.setdefault(name, value)
        lists = [_names_of(branch) for branch in branches]
        if lists and key == "allOf":
            required += [name for names in lists for name in names]
        elif lists:
            required += [name for name in lists[0] if all(name in names for names in lists)]
    left_out = {"allOf", "anyOf", "oneOf", "not", "enum", "const", "if", "then", "else", "$ref"}
    rest = {name: value for name, value in schema.items() if name not in left_out}
    return {**rest, "properties": properties, "required": list(dict.fromkeys(required))}


def _followed(branch: object, root: Schema) -> Schema:
    """A branch of a schema, or what it refers to."""
    if not is_object(branch):
        return {}
    target = _target(branch["$ref"], root) if "$ref" in branch else branch
    return target if is_object(target) else {}


def _mended(schema: Mapping[str, object], root: Mapping[str, object], depth: int) -> Schema:
    """The schema with every keyword that is of its right form, all the way down."""
    if depth > _MAX_DEPTH:
        return {}
    mended: Schema = {}
    for key, value in schema.items():
        is_lost = key in _DROPPED_KEYS or (key == "$ref" and _target(value, root) is None)
        if not is_lost and (kept := _mended_value(key, value, root, depth)) is not None:
            mended[key] = kept
    # A list of required names among the properties was meant one level above.
    misplaced = _names_of(_object_of(schema, "properties"))
    if misplaced:
        mended["required"] = list(dict.fromkeys([*_names_of(mended), *misplaced]))
    return mended


def _mended_value(key: str, value: object, root: Mapping[str, object], depth: int) -> object:
    """The value of a keyword; None where it has no form that can be understood."""
    if key in _MAP_KEYS:
        entries = value.items() if is_object(value) else ()
        return {str(name): _inner(one, root, depth) for name, one in entries if _is_schema(one)}
    if key in _LIST_KEYS:
        branches = value if is_list(value) else []
        return [_inner(one, root, depth) for one in branches if _is_schema(one)] or None
    if key in _SCHEMA_KEYS:
        return _inner(value, root, depth) if _is_schema(value) else None
    if key == "required":
        return list(dict.fromkeys(_strings(value)))
    return value if _is_possible(key, value) else None


def _inner(value: object, root: Mapping[str, object], depth: int) -> object:
    return _mended(value, root, depth + 1) if is_object(value) else value


def _is_schema(value: object) -> bool:
    return isinstance(value, dict | bool)


def _is_possible(key: str, value: object) -> bool:
    """False where the keyword would make the whole schema one that nothing can check."""
    match key:
        case "type":
            kinds = value if is_list(value) else [value]
            return bool(kinds) and all(isinstance(kind, str) and kind in _TYPES for kind in kinds)
        case "enum":
            return is_list(value) and bool(value)
        case "pattern":
            return isinstance(value, str) and _compiles(value)
        case "description" | "title" | "format" | "$comment":
            return isinstance(value, str)
        case "uniqueItems":
            return isinstance(value, bool)
        case _ if key in _NUMBER_KEYS:
            return isinstance(value, int | float) and not isinstance(value, bool)
        case _ if key in _COUNT_KEYS:
            return isinstance(value, int) and not isinstance(value, bool) and value >= 0
        case "dependencies" | "dependentRequired" | "unevaluatedProperties" | "unevaluatedItems" | "additionalItems":
            return False
        case _:
            return True


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def _target(reference: object, root: Mapping[str, object]) -> object:
    """What a reference within the schema leads to; None for one that leads out of it or nowhere."""
    if reference == "#":
        return root
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    found: object = root
    for part in reference[2:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if not is_object(found) or key not in found:
            return None
        found = found[key]
    return found if _is_schema(found) else None


def _object_of(schema: Mapping[str, object], key: str) -> Schema:
    value = schema.get(key)
    return dict(value) if is_object(value) else {}


def _list_of(schema: Mapping[str, object], key: str) -> list[object]:
    value = schema.get(key)
    return value if is_list(value) else []


def _names_of(schema: Mapping[str, object]) -> list[str]:
    return _strings(schema.get("required"))


def _strings(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if is_list(value) else []
