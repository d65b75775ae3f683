"""What parsed JSON is: an object, a list or the objects in one, in types that say so (pure)."""

from __future__ import annotations

from typing import TypeGuard

JsonObject = dict[str, object]
"""An object of JSON: names are texts, values are looked at before they are used."""
JsonList = list[object]


def is_object(value: object) -> TypeGuard[JsonObject]:
    """True for an object of JSON."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[JsonList]:
    """True for a list of JSON."""
    return isinstance(value, list)


def objects_in(value: object) -> list[JsonObject]:
    """The objects of a list of JSON, in their order; none where the value is no list."""
    return [item for item in value if is_object(item)] if is_list(value) else []
