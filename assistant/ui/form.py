"""What a person filled in on a card: its words and its ticks, as the page's script gathers them."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import TypeAdapter, ValidationError

MAX_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class Form:
    """The button's own target, the text of the card's one field, and the values of its ticked boxes."""

    target: str = ""
    text: str = ""
    ticks: frozenset[str] = field(default_factory=frozenset[str])


_FORM: TypeAdapter[Form] = TypeAdapter(Form)


def read_form(gathered: str) -> Form:
    """The form in what the browser sent; an empty one where that is none."""
    try:
        return _FORM.validate_json(gathered)
    except ValidationError:
        return Form()
