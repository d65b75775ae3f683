"""What a person does to memory beside the editor: forget, tidy, ask who wrote a line. One card at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator

from assistant.config.plain_reasons import plain_reason
from assistant.config.words import say
from assistant.errors import ConflictError, PalimpsestError
from assistant.memory.log import log_lines
from assistant.memory.provenance import origin_of_line
from assistant.storage.workspace import MEMORY_FILES
from assistant.ui.cards import card
from assistant.ui.components import PageUpdate
from assistant.ui.form import MAX_CHARS, read_form
from assistant.ui.memory.forget_panel import mark_of, preview_html, receipt_html, ticked_items, words_html, words_of
from assistant.ui.memory.line_panel import origin_html
from assistant.ui.memory.pending_panel import pending_html
from assistant.ui.memory.task import Task
from assistant.ui.memory.tidy_panel import mark_of as tidying_mark
from assistant.ui.memory.tidy_panel import ticked_proposals, tidied_text, tidying_html
from assistant.ui.server.loading import Loaded


class TaskController:
    """What the buttons of the task cards do. Ticks count only for the card they were put on."""

    def close(self) -> PageUpdate:
        """No card."""
        return _shown(Task(), "")

    def ask_words(self) -> PageUpdate:
        """Ask what is to be forgotten."""
        return _shown(Task(), words_html())

    async def forget_change(self, loaded: Loaded, change_id: str) -> PageUpdate:
        """Show where the lines of a memory change are."""
        change = loaded.assistant.memory_log.change(change_id)
        if change is None:
            return _shown(Task(), words_html(problem=say("page", "card_gone")))
        return await self._find(loaded, words_of(change))

    async def find(self, loaded: Loaded, gathered: str) -> PageUpdate:
        """Show where the typed words are."""
        return await self._find(loaded, read_form(gathered).text[:MAX_CHARS])

    async def find_text(self, loaded: Loaded, text: str) -> PageUpdate:
        """Show where the words of a line are."""
        return await self._find(loaded, text[:MAX_CHARS])

    async def forget(self, loaded: Loaded, task: Task, gathered: str) -> PageUpdate:
        """Forget what is ticked of what was shown; the receipt, or the card again with what went wrong."""
        form = read_form(gathered)
        if task.found is None or form.target != mark_of(task.found):
            return _shown(task, words_html(form.text, say("page", "card_gone")))
        chosen = ticked_items(task.found, form.ticks)
        if not chosen:
            return _shown(task, preview_html(task.found, say("page", "none_ticked_forget")))
        try:
            receipt = await loaded.assistant.forgetter.forget(chosen)
        except PalimpsestError as error:
            return _shown(task, preview_html(task.found, str(error)))
        return _shown(Task(), receipt_html(receipt))

    async def tidy(self, loaded: Loaded, name: str) -> AsyncIterator[PageUpdate]:
        """Look for lines of a file that could go: at first that it is being looked, then what was found."""
        if name not in MEMORY_FILES:
            yield _message(say("page", "tidy"), say("page", "tidy_notes"))
            return
        yield _message(say("page", "tidy_file", name=name), say("page", "tidy_looking"))
        try:
            tidying = await loaded.assistant.propose_tidying([name])
        except PalimpsestError as error:
            yield _message(say("page", "tidy_file", name=name), str(error))
            return
        yield _shown(Task(tidied_name=name, tidying=tidying), tidying_html(name, tidying))

    def accept(self, loaded: Loaded, task: Task, gathered: str) -> PageUpdate:
        """Take the ticked lines out of the file, as far as they are still there with their reason."""
        form, tidying = read_form(gathered), task.tidying
        if tidying is None or form.target != tidying_mark(tidying):
            return _shown(task, card("task", title=say("page", "tidy"), text=say("page", "card_gone")))
        name = task.tidied_name
        chosen = ticked_proposals(tidying, form.ticks)
        if not chosen:
            return _shown(task, tidying_html(name, tidying, say("page", "none_ticked_tidy")))
        try:
            tidied = loaded.assistant.tidy(name, chosen)
        except ConflictError:
            problem = say("page", "tidy_busy", name=name)
            return _shown(task, tidying_html(name, tidying, problem))
        except PalimpsestError as error:
            return _shown(task, tidying_html(name, tidying, str(error)))
        return _message(say("page", "tidy_file", name=name), tidied_text(name, tidied))

    def list_pending(self, loaded: Loaded) -> PageUpdate:
        """Show the lines that wait, with fields to change each."""
        return _shown(Task(), pending_html(loaded.assistant.store.admission.waiting.all()))

    async def consolidate(self, loaded: Loaded) -> AsyncIterator[PageUpdate]:
        """Look through the notes: at first that it is being looked, then all lines that wait."""
        yield _message(say("page", "pending"), say("page", "consolidating"))
        try:
            notice = await loaded.assistant.consolidate()
        except (PalimpsestError, OSError) as error:
            yield _message(say("page", "pending"), plain_reason(error))
            return
        yield _shown(Task(), pending_html(loaded.assistant.store.admission.waiting.all(), notice))

    def decide_pending(self, loaded: Loaded, gathered: str, *, is_kept: bool) -> PageUpdate:
        """Keep or drop the ticked lines; what waits no longer is left out."""
        form, admission = read_form(gathered), loaded.assistant.store.admission
        if not form.ticks:
            return _shown(Task(), pending_html(admission.waiting.all(), problem=say("page", "none_ticked_pending")))
        decided, problem = 0, ""
        for line in admission.waiting.all():
            if line.line_id not in form.ticks:
                continue
            try:
                if is_kept:
                    admission.keep(line.line_id, form.said(line.line_id))
                else:
                    admission.drop(line.line_id)
                decided += 1
            except PalimpsestError as error:
                problem = str(error)
        notice = say("page", "pending_kept" if is_kept else "pending_dropped", count=decided)
        return _shown(Task(), pending_html(admission.waiting.all(), notice, problem))

    def show_line(self, loaded: Loaded, name: str, number: int | None) -> PageUpdate:
        """Who wrote a line of a file as it is on disk; None for one that is in no file yet."""
        title = say("page", "line_title")
        if number is None:
            return _message(title, say("page", "line_new"))
        assistant = loaded.assistant
        try:
            assistant.notes.note_outside_change(name)
            lines = log_lines(assistant.notes.read(name).text)
        except PalimpsestError as error:
            return _message(title, str(error))
        origin = origin_of_line(assistant.memory_log, name, number)
        if origin is None or number > len(lines):
            return _message(title, say("page", "line_unknown", number=number, name=name))
        sessions = assistant.conversations.summaries()
        return _shown(Task(), origin_html(name, number, lines[number - 1], origin, sessions))

    async def _find(self, loaded: Loaded, text: str) -> PageUpdate:
        try:
            found = await loaded.assistant.forgetter.find(text)
        except PalimpsestError as error:
            return _shown(Task(), words_html(text, str(error)))
        return _shown(Task(found), preview_html(found))


def _message(title: str, text: str) -> PageUpdate:
    """A card with words only."""
    return _shown(Task(), card("task", title=title, text=text))


def _shown(task: Task, html: str) -> PageUpdate:
    """The task and its card; an empty card for none."""
    return PageUpdate(task=task, task_card=str(html))
