"""The components of the page are named once, and updates are keyed by these names."""

from __future__ import annotations

from dataclasses import fields

import gradio as gr
import pytest

from assistant.ui.components import ChatComponents, EditorComponents, PageComponents, PageUpdate, outputs_of
from assistant.ui.page_layout import lay_out


async def test_the_layout_places_every_component() -> None:
    page = PageComponents()
    with gr.Blocks() as demo:
        lay_out(page, "", max_file_bytes=1_000)
    assert [name for name, component in vars(page).items() if component._id not in demo.blocks] == []


def test_no_component_has_the_name_of_another() -> None:
    names = [one.name for part in (ChatComponents, EditorComponents) for one in fields(part)]
    assert len(names) == len(set(names))


def test_an_update_leaves_what_it_does_not_name_as_it_is() -> None:
    values = PageUpdate(composer="", stop="now").values_of(ChatComponents)
    outputs = outputs_of(PageComponents(), ChatComponents)
    changed = [(output.elem_id, value) for output, value in zip(outputs, values, strict=True) if value != gr.skip()]
    assert changed == [("composer", ""), ("stop", "now")]


def test_the_newer_of_two_updates_wins() -> None:
    assert PageUpdate(top="old", stop="") | PageUpdate(top="new") == PageUpdate(top="new", stop="")


def test_a_name_that_no_component_has_is_refused() -> None:
    with pytest.raises(TypeError, match="'compser'"):
        PageUpdate(compser="")
