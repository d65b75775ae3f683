"""What happens on each event of the Memory tab. Every argument is checked by the desk that receives it."""

from __future__ import annotations

import html
from collections.abc import AsyncIterator

import gradio as gr

from assistant.errors import PalimpsestError
from assistant.ui.event_values import QUEUED, QUICK, Values, action_of, unchanged
from assistant.ui.layout import Parts
from assistant.ui.loading import Loaded, Loading
from assistant.ui.memory_panel import MemoryDesk, MemoryFace, OpenFile
from assistant.ui.memory_tasks import Task, TaskDesk, TaskFace


def wire_memory(demo: gr.Blocks, parts: Parts, loading: Loading) -> None:
    """Connect the Memory tab to its two desks."""
    desk = MemoryDesk()
    _wire_cards(parts, loading, desk, TaskDesk())
    _wire_editor(demo, parts, loading, desk)


def _wire_cards(parts: Parts, loading: Loading, desk: MemoryDesk, tasks: TaskDesk) -> None:
    memory = parts.memory

    async def act(file: OpenFile, editor: str | None, task: Task, event: gr.EventData) -> Values:
        loaded = await loading.ready()
        name, target = action_of(event)
        face = _act_on_file(desk, loaded, name, target, file, editor or "")
        told = None if face else await _act_on_task(tasks, loaded, name, target, task)
        if face is None and told is None:
            face = MemoryFace(file, problem="That button belongs to another file. Nothing was done.")
        tabs = gr.Tabs(selected="memory") if name in ("open-file", "open-hit") or told else gr.skip()
        return [
            *(_memory_values(face) if face else unchanged(len(memory.outputs()))),
            *(told.values() if told else unchanged(len(memory.task_outputs()))),
            tabs,
        ]

    outputs = [*memory.outputs(), *memory.task_outputs(), parts.tabs]
    parts.memory_bus.select(act, [memory.file, memory.editor, memory.task], outputs, **QUEUED)


def _act_on_file(
    desk: MemoryDesk, loaded: Loaded, name: str, target: str, file: OpenFile, text: str
) -> MemoryFace | None:
    """What a button about files does; None where it is none, or one of another file."""
    match name:
        case "open-file" | "open-hit":
            path = target.rpartition(":")[0] if name == "open-hit" else target
            return desk.open(loaded, path, file, text)
        case "memory-reload" if target == file.name:
            return desk.reload(loaded, target, file)
        case "memory-diff" if target == file.name:
            return desk.show_diff(loaded, file, text)
        case "memory-history" if target == file.name:
            return desk.toggle_history(loaded, file)
        case "memory-restore":
            return desk.restore(loaded, file, text, target)
        case "memory-overwrite" if target == file.name:
            return desk.save(loaded, file, text, overwrite=True)
        case _:
            return None


async def _act_on_task(tasks: TaskDesk, loaded: Loaded, name: str, target: str, task: Task) -> TaskFace | None:
    """What a button of a task card does; None where it is none."""
    match name:
        case "work-close":
            return tasks.close()
        case "forget-words":
            return tasks.ask_words()
        case "forget-change":
            return await tasks.forget_change(loaded, target)
        case "forget-find":
            return await tasks.find(loaded, target)
        case "forget-now":
            return await tasks.forget(loaded, task, target)
        case _:
            return None


def _wire_editor(demo: gr.Blocks, parts: Parts, loading: Loading, desk: MemoryDesk) -> None:
    outputs = parts.memory.outputs()
    inputs = [parts.memory.file, parts.memory.editor]

    async def save(file: OpenFile, editor: str | None) -> Values:
        return _memory_values(desk.save(await loading.ready(), file, editor or ""))

    async def load() -> AsyncIterator[Values]:
        try:
            yield _memory_values(desk.poll(await loading.ready(), OpenFile(), ""))
        except PalimpsestError:
            # The conversation's side of the page says why.
            yield unchanged(len(outputs))

    async def poll(file: OpenFile, editor: str | None) -> Values:
        loaded = loading.loaded
        return unchanged(len(outputs)) if loaded is None else _memory_values(desk.poll(loaded, file, editor or ""))

    demo.load(load, None, outputs, **QUEUED)
    parts.save.click(save, inputs, outputs, **QUEUED)
    parts.timer.tick(poll, inputs, outputs, **QUICK)


def _memory_values(face: MemoryFace) -> Values:
    if face.problem:
        gr.Warning(html.escape(face.problem))
    texts = [face.files, face.head, face.text, face.banner, face.history]
    return [face.file, *(gr.skip() if text is None else text for text in texts)]
