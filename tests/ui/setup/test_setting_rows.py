"""The sections of the settings: what they show, and what a form changes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.assembly.own_settings import KEPT_FIELDS
from assistant.config.settings import Settings
from assistant.errors import SettingsError
from assistant.ui.form import Form
from assistant.ui.setup.setting_rows import SECTIONS, Section, changed_settings, section_of, setting_rows


def settings(**kept: object) -> Settings:
    """Settings in which this is kept."""
    return Settings.model_validate({"home": Path("home"), "tools": "ask", "language": "auto", **kept})


def test_every_setting_that_is_shown_can_be_kept() -> None:
    fields = [row.field for section in SECTIONS for row in setting_rows(settings(), section)]
    assert set(fields) <= set(KEPT_FIELDS)
    assert len(fields) == len(set(fields))


def test_a_section_shows_what_is_set() -> None:
    shown = setting_rows(settings(max_input_length=16_000, memory_compact_ratio=0.07), "window")
    assert [(row.field, row.value) for row in shown] == [
        ("max_input_length", "16000"),
        ("memory_compact_ratio", "7"),
        ("max_recent_turns", ""),
    ]


@pytest.mark.parametrize(
    ("section", "fields", "changes"),
    [
        pytest.param("tools", {"tools": "ask"}, {}, id="nothing"),
        pytest.param("tools", {"tools": "off"}, {"tools": "off"}, id="a choice"),
        pytest.param("tools", {"language": "zh"}, {}, id="of another section"),
        pytest.param("window", {"max_input_length": " 9000 "}, {"max_input_length": "9000"}, id="a number"),
        pytest.param("window", {"memory_compact_ratio": "55"}, {"memory_compact_ratio": "0.55"}, id="a percentage"),
        pytest.param("window", {"memory_compact_ratio": ""}, {"memory_compact_ratio": ""}, id="back to the default"),
    ],
)
def test_a_form_changes_only_what_is_other(section: Section, fields: dict[str, str], changes: dict[str, str]) -> None:
    assert changed_settings(Form(fields=fields), settings(memory_compact_ratio=0.5), section) == changes


def test_what_the_environment_fixes_is_shown_and_not_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_TOOLS", "read-only")
    (row,) = setting_rows(settings(tools="read-only"), "tools")
    assert (row.value, row.fixed_by) == ("read-only", "PALIMPSEST_TOOLS")
    assert changed_settings(Form(fields={"tools": "off"}), settings(tools="read-only"), "tools") == {}


def test_a_share_that_is_no_number_is_refused() -> None:
    with pytest.raises(SettingsError):
        changed_settings(Form(fields={"memory_compact_ratio": "half"}), settings(), "window")


def test_an_unknown_section_is_the_first() -> None:
    assert [section_of(name) for name in ("data", "", "../etc")] == ["data", "models", "models"]
