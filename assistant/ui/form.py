"""What a person filled in on a card: its words, its ticks and its fields, as the page's script gathers them."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import TypeAdapter, ValidationError

MAX_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class Form:
    """The button's own target, the text of the card's one field, its ticked boxes, and its fields by their names."""

    target: str = ""
    text: str = ""
    ticks: frozenset[str] = field(default_factory=frozenset[str])
    fields: dict[str, str] = field(default_factory=dict[str, str])

    def said(self, name: str) -> str:
        """What is in a field, without the blanks around it."""
        return self.fields.get(name, "")[:MAX_CHARS].strip()


_FORM: TypeAdapter[Form] = TypeAdapter(Form)


def read_form(gathered: str) -> Form:
    """The form in what the browser sent; an empty one where that is none."""
    try:
        return _FORM.validate_json(gathered)
    except ValidationError:
        return Form()
