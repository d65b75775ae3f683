"""The sections of the settings view: which settings stand in each, and what they are now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from assistant.config.settings import Settings, fixing_variable
from assistant.config.words import say
from assistant.errors import SettingsError
from assistant.ui.form import Form
from assistant.ui.setup.choices import Option

Section = Literal["models", "window", "tools", "memory", "appearance", "data"]
Kind = Literal["choice", "number", "percent", "text", "key"]
_FIELDS: Mapping[Section, Mapping[str, tuple[str, ...] | Kind]] = {
    "models": {"compactor_model": "text"},
    "window": {"max_input_length": "number", "memory_compact_ratio": "percent", "max_recent_turns": "number"},
    "tools": {"tools": ("ask", "read-only", "memory", "off")},
    "memory": {
        "memory": ("on", "off"),
        "recall": ("on", "off"),
        "embedder": ("default", "openai", "dashscope", "none"),
        "embedding_model": "text",
        "embedding_base_url": "text",
        "embedding_api_key": "key",
    },
    "appearance": {"language": ("auto", "en", "zh"), "timezone": "text"},
    "data": {},
}
SECTIONS = tuple(_FIELDS)


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting as a form shows it; `fixed_by` is the variable of the environment that sets it, else empty."""

    field: str
    kind: Kind
    label: str
    hint: str
    value: str
    options: tuple[Option, ...]
    fixed_by: str


def setting_rows(settings: Settings, section: Section) -> list[SettingRow]:
    """The settings of a section as they are now."""
    return [_row(settings, field, kind) for field, kind in _FIELDS[section].items()]


def changed_settings(form: Form, settings: Settings, section: Section) -> dict[str, str]:
    """What a form changes of its section, by field; an empty value goes back to the default.

    Raises `SettingsError` where a number is none.
    """
    return dict(_changed(form, setting_rows(settings, section)))


def section_of(name: str) -> Section:
    """The section of that name; the first where there is none."""
    for section in SECTIONS:
        if section == name:
            return section
    return "models"


def _changed(form: Form, rows: list[SettingRow]) -> Iterator[tuple[str, str]]:
    for row in rows:
        said = form.said(row.field)
        # A key is never shown, so an empty field leaves it as it is.
        if row.fixed_by or row.field not in form.fields or said == row.value or (row.kind == "key" and not said):
            continue
        yield row.field, _ratio(row, said) if row.kind == "percent" and said else said


def _ratio(row: SettingRow, percent: str) -> str:
    try:
        return str(float(percent) / 100)
    except ValueError:
        raise SettingsError(row.label, say("settings", "a_number")) from None


def _row(settings: Settings, field: str, kind: tuple[str, ...] | Kind) -> SettingRow:
    value: object = getattr(settings, field)
    shown = "" if value is None or kind == "key" else str(value)
    if kind == "percent" and isinstance(value, float):
        shown = f"{100 * value:g}"
    values = kind if isinstance(kind, tuple) else ()
    return SettingRow(
        field,
        "choice" if isinstance(kind, tuple) else kind,
        say("page_setup", f"set_{field}"),
        say("page_setup", f"hint_{field}"),
        shown,
        tuple(Option(one, say("page_setup", f"{field}_{one.replace('-', '_')}")) for one in values),
        fixing_variable(field),
    )
