"""The Memory tab: one memory file in an editor that follows the disk, merges with it, and never overwrites it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from markupsafe import Markup

from assistant.config.words import say
from assistant.errors import ConflictError, PalimpsestError
from assistant.memory.log import MemoryChange
from assistant.memory.merge import Conflict, Merge, merge
from assistant.memory.notes import Note
from assistant.memory.provenance import writer_of
from assistant.storage.workspace import day_note
from assistant.text.diff import unified_diff
from assistant.ui.cards import card
from assistant.ui.components import PageUpdate
from assistant.ui.diff_card import diff_html
from assistant.ui.memory.file_history import history_html
from assistant.ui.memory.memory_list import FileList, KnownFile, ListView, known_files, list_mark, with_seen
from assistant.ui.memory.open_files import OpenFile, as_file_text, is_edited, mark_of, opened_file
from assistant.ui.server.loading import Loaded
from assistant.ui.transcript.growing_text import whole

WRITER = "owner"
_STATES = {"saved": "saved", "not saved": "not_saved"}
FIRST_FILE = "MEMORY.md"


@dataclass(frozen=True, slots=True)
class MemoryUpdate:
    """The open file of a tab from now on, what changes on the page, and a problem to show (None: none)."""

    file: OpenFile
    page: PageUpdate = field(default_factory=PageUpdate)
    problem: str | None = None


class MemoryController:
    """What the tab's buttons do. Names are checked by the workspace, digests by the one writer of memory files.

    `loaded` is the assistant of the conversation in view; an open file stays that of the home in which it was opened.
    `words` are the text in the editor; None where the browser says that it is what the editor was given.
    """

    def __init__(self) -> None:
        self._list = FileList()

    def open(self, loaded: Loaded, name: str, file: OpenFile, words: str | None) -> MemoryUpdate:
        """Put a file into the editor; unsaved words are never dropped for it."""
        if is_edited(file, words):
            is_same = name == file.name and loaded == file.home
            problem = None if is_same else say("page", "unsaved_words", name=file.name)
            return MemoryUpdate(file, problem=problem)
        return self.reload(loaded, name, file)

    def reload(self, loaded: Loaded, name: str, file: OpenFile) -> MemoryUpdate:
        """Take what is on disk, whatever the editor holds."""
        try:
            loaded.assistant.workspace.memory_path(name)
            # The folder before the file: what changes between the two is seen at the next look.
            files = known_files(loaded)
            note = loaded.assistant.notes.read(name)
        except PalimpsestError as error:
            return MemoryUpdate(file, problem=str(error))
        is_same = (name, loaded) == (file.name, file.home)
        kept = file if loaded == file.home else OpenFile(home=loaded)
        opened = replace(opened_file(kept, note), has_history=file.has_history and is_same)
        return self._drawn(loaded, opened, note.text, files)

    def open_day(self, loaded: Loaded, day: str, file: OpenFile, words: str | None) -> MemoryUpdate:
        """Open the note of a day."""
        at = _home(loaded, file)
        if any(known.name == f"memory/{day}.md" for known in known_files(at)):
            return self.open(at, f"memory/{day}.md", file, words)
        return MemoryUpdate(file, problem=say("page", "no_note", day=day or say("page", "that_day")))

    def open_today(self, loaded: Loaded, file: OpenFile, words: str | None) -> MemoryUpdate:
        """Open the note of today, which comes into being when something is saved in it."""
        at = _home(loaded, file)
        return self.open(at, day_note(at.assistant.store.clock.now().date()), file, words)

    def preview(self, file: OpenFile, words: str) -> MemoryUpdate:
        """Show the editor's words as they read, above the editor."""
        # The renderer lets through no tag that a file brings along.
        blocks = [Markup(block) for block in whole(words).blocks]
        return MemoryUpdate(file, PageUpdate(file_banner=str(card("memory_preview", name=file.name, blocks=blocks))))

    def end_preview(self, file: OpenFile) -> MemoryUpdate:
        """Show the editor alone again."""
        return MemoryUpdate(file, PageUpdate(file_banner=""))

    def toggle_month(self, loaded: Loaded, month: str, file: OpenFile) -> MemoryUpdate:
        """Show the notes of a month in the list, or no longer."""
        at = _home(loaded, file)
        file = replace(file, month="" if month == file.month else month)
        return self._refreshed(at, file, file.state or "saved", known_files(at))

    def save(self, loaded: Loaded, file: OpenFile, words: str | None) -> MemoryUpdate:
        """Write the editor's words, with what changed on disk meanwhile where the two do not overlap."""
        if not file.name or words is None:
            return MemoryUpdate(file, problem=say("page", "page_was_away") if file.given else None)
        if is_gone(file.home):
            return MemoryUpdate(file, problem=say("page", "home_gone"))
        at = _home(loaded, file)
        try:
            note = at.assistant.notes.read(file.name)
            merged = _merged(file, words, note)
            if merged.conflicts:
                return self._conflict(file, note, merged)
            return self._written(at, file, words, merged.text, note.digest)
        except ConflictError:
            # Somebody wrote between the reading and the writing: the next look shows it.
            return MemoryUpdate(file, problem=say("page", "file_busy", name=file.name))
        except PalimpsestError as error:
            return MemoryUpdate(file, problem=str(error))

    def decide(self, loaded: Loaded, file: OpenFile, words: str | None, *, keeps_both: bool) -> MemoryUpdate:
        """Write the editor's words over those the person was shown, or beside them; not over what came later."""
        if not file.name or words is None:
            return MemoryUpdate(file)
        if is_gone(file.home):
            return MemoryUpdate(file, problem=say("page", "home_gone"))
        at = _home(loaded, file)
        try:
            note = at.assistant.notes.read(file.name)
            merged = _merged(file, words, note)
            if note.digest != file.shown_digest and merged.conflicts:
                return self._conflict(file, note, merged)
            text = merged.text if keeps_both else as_file_text(words)
            return self._written(at, file, words, text, note.digest)
        except PalimpsestError as error:
            return MemoryUpdate(file, problem=str(error))

    def poll(self, loaded: Loaded, file: OpenFile, words: str | None) -> MemoryUpdate:
        """Follow the disk: an untouched editor takes what changed there, an edited one keeps its words."""
        has_words = is_edited(file, words)
        if not file.name or (file.home != loaded and not has_words):
            return self._switched(loaded, file)
        if is_gone(file.home):
            return MemoryUpdate(
                replace(file, state="gone"), PageUpdate(file_head=_head(file, say("page", "home_gone_state")))
            )
        at = _home(loaded, file)
        state = "not saved" if has_words else "saved"
        files = known_files(at)
        if list_mark(files, _view(at, file)) == file.listed and file.shown_digest == file.base_digest:
            # Nothing in the folder has changed, so nothing is read.
            return self._stated(file, state)
        try:
            note = at.assistant.notes.read(file.name)
        except PalimpsestError as error:
            return MemoryUpdate(file, PageUpdate(file_head=_head(file, str(error))))
        if note.digest != file.base_digest:
            if not has_words:
                return self._drawn(at, opened_file(file, note), note.text, files)
            if file.shown_digest != note.digest:
                return self._disk_changed(file, note, _merged(file, words or "", note))
        return self._refreshed(at, file, state, files)

    def take_up(self, loaded: Loaded, file: OpenFile, given: str, words: str | None) -> MemoryUpdate:
        """For a tab that nothing is known of any more: the file that its editor was `given`, under its unsaved words.

        Words whose file cannot be found are left in the editor.
        """
        if file.given == given:
            return MemoryUpdate(file)
        files = known_files(loaded)
        found = [note for note in _readable(loaded, files) if mark_of(note.text) == given]
        if words is None or mark_of(words) == given:
            return self.reload(loaded, found[0].name, file) if found else self._switched(loaded, file)
        if len(found) != 1:
            lost = OpenFile(home=loaded, given=given)
            return MemoryUpdate(lost, PageUpdate(file_head=_head(lost, say("page", "page_was_away"))))
        return self._refreshed(loaded, opened_file(OpenFile(home=loaded), found[0]), "not saved", files)

    def show_disk(self, loaded: Loaded, file: OpenFile) -> MemoryUpdate:
        """What changed on disk since the file was opened."""
        at = _home(loaded, file)
        diff = unified_diff(file.base, at.assistant.notes.read(file.name).text, file.name)
        return MemoryUpdate(
            file, PageUpdate(file_banner=str(card("disk_changes", name=file.name, diff=diff_html(diff))))
        )

    def toggle_history(self, loaded: Loaded, file: OpenFile) -> MemoryUpdate:
        """Show the changes of the open file, or no longer."""
        at = _home(loaded, file)
        file = replace(file, has_history=not file.has_history)
        digest = at.assistant.notes.read(file.name).digest
        head = _head(file, file.state or "saved")
        return MemoryUpdate(file, PageUpdate(file_head=head, history=_history(at, file, digest)))

    def restore(self, loaded: Loaded, file: OpenFile, words: str | None, change_id: str) -> MemoryUpdate:
        """Write the version that a change of the open file left; that is a change of its own."""
        at = _home(loaded, file)
        log, notes = at.assistant.memory_log, at.assistant.notes
        change = next((known for known in log.history(file.name) if known.change_id == change_id), None)
        if change is None:
            return MemoryUpdate(file, problem=say("page", "other_version"))
        if is_edited(file, words):
            return MemoryUpdate(file, problem=say("page", "unsaved_words", name=file.name))
        try:
            # What is there now, also what this tab has not shown yet, is in the history before it is replaced.
            notes.save(file.name, log.text_after(change), notes.read(file.name).digest, WRITER)
        except ConflictError:
            return MemoryUpdate(file, problem=say("page", "changed_meanwhile", name=file.name))
        except PalimpsestError as error:
            return MemoryUpdate(file, problem=str(error))
        return self.reload(at, file.name, file)

    def _switched(self, loaded: Loaded, file: OpenFile) -> MemoryUpdate:
        """Another home, or the first look at one: the same file of it where there is one."""
        names = {known.name for known in known_files(loaded)}
        update = self.reload(loaded, file.name if file.name in names else FIRST_FILE, file)
        return MemoryUpdate(file, PageUpdate(file_head=_head(file, update.problem))) if update.problem else update

    def _written(self, at: Loaded, file: OpenFile, words: str, text: str, base_digest: str) -> MemoryUpdate:
        """Save, and give the editor what the file holds now where that is not what it has."""
        change = at.assistant.notes.save(file.name, text, base_digest, WRITER)
        files = known_files(at)
        note = at.assistant.notes.read(file.name)
        if change is not None and note.digest != change.digest:
            # Somebody wrote since; the next look takes that up.
            note = Note(file.name, at.assistant.memory_log.text_after(change), change.digest)
        return self._drawn(
            at, opened_file(file, note), None if mark_of(note.text) == mark_of(words) else note.text, files
        )

    def _conflict(self, file: OpenFile, note: Note, merged: Merge) -> MemoryUpdate:
        file = replace(file, shown_digest=note.digest, state="not saved")
        diff = diff_html(_overlap_diff(merged.conflicts))
        return _unsaved(file, card("conflict", name=file.name, diff=diff))

    def _disk_changed(self, file: OpenFile, note: Note, merged: Merge) -> MemoryUpdate:
        """The disk changed under the person's words."""
        if merged.conflicts:
            return self._conflict(file, note, merged)
        file = replace(file, shown_digest=note.digest, state="not saved")
        return _unsaved(file, card("will_merge", name=file.name))

    def _drawn(self, at: Loaded, file: OpenFile, text: str | None, files: list[KnownFile]) -> MemoryUpdate:
        update = self._refreshed(at, replace(file, listed=""), "saved", files)
        drawn = PageUpdate(
            file_head=_head(update.file, "saved"), file_banner="", history=_history(at, file, file.base_digest)
        )
        words = PageUpdate() if text is None else PageUpdate(editor=text)
        return replace(update, page=update.page | drawn | words)

    def _refreshed(self, at: Loaded, file: OpenFile, state: str, files: list[KnownFile]) -> MemoryUpdate:
        newest_ns = max((known.changed_ns for known in files), default=0)
        file = replace(file, since_ns=file.since_ns or newest_ns)
        for known in files:
            if known.name == file.name:
                file = replace(file, seen=with_seen(file.seen, known))
        view = _view(at, file)
        mark = list_mark(files, view)
        update = self._stated(replace(file, listed=mark), state)
        if mark == file.listed:
            return update
        return replace(update, page=update.page | PageUpdate(files=self._list.html(at, files, view)))

    def _stated(self, file: OpenFile, state: str) -> MemoryUpdate:
        page = PageUpdate(file_head=_head(file, state)) if state != file.state else PageUpdate()
        return MemoryUpdate(replace(file, state=state), page)


def _unsaved(file: OpenFile, banner: str) -> MemoryUpdate:
    """What is said above an editor whose words are not saved."""
    return MemoryUpdate(file, PageUpdate(file_head=_head(file, "not saved"), file_banner=str(banner)))


def _readable(at: Loaded, files: list[KnownFile]) -> Iterator[Note]:
    for known in files:
        with suppress(PalimpsestError):
            yield at.assistant.notes.read(known.name)


def is_gone(home: Loaded | None) -> bool:
    """True for the home of a guest conversation once it is thrown away."""
    return home is not None and home.is_guest and not home.assistant.workspace.root.is_dir()


def _home(loaded: Loaded, file: OpenFile) -> Loaded:
    """The home of an open file; that of the conversation in view where it has none any more."""
    return loaded if file.home is None or is_gone(file.home) else file.home


def _merged(file: OpenFile, words: str, note: Note) -> Merge:
    mine = as_file_text(words)
    if note.digest == file.base_digest:
        return Merge(mine, ())
    # The editor was given the text without the space around it.
    return merge(as_file_text(file.base.strip()), mine, note.text)


def _overlap_diff(conflicts: tuple[Conflict, ...]) -> str:
    lines: list[str] = []
    for number, conflict in enumerate(conflicts, 1):
        lines.append(say("page", "conflict_head", number=number, count=len(conflicts)))
        lines += [f"-{line}" for line in conflict.theirs.split("\n")]
        lines += [f"+{line}" for line in conflict.mine.split("\n")]
    return "\n".join(lines)


def _view(at: Loaded, file: OpenFile) -> ListView:
    return ListView(
        selected=file.name,
        month=file.month,
        since_ns=file.since_ns,
        seen=file.seen,
        is_guest=file.home is not None and file.home.is_guest,
        waiting_lines=len(at.assistant.store.admission.waiting.all()),
    )


def _head(file: OpenFile, state: str) -> str:
    return str(
        card(
            "memory_head",
            name=file.name,
            state=say("page", _STATES[state]) if state in _STATES else state,
            is_edited=state != "saved",
            has_history=file.has_history,
            given=file.given,
        )
    )


def _history(at: Loaded, file: OpenFile, digest: str) -> str:
    if not file.has_history:
        return ""
    log = at.assistant.memory_log
    changes = log.history(file.name)

    def writer(change: MemoryChange) -> str:
        return writer_of(log, change, is_first=change is changes[0])

    return str(history_html(file.name, changes, digest, writer))
