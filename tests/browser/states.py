"""Every state of the page, and what leads to each: pictures are taken of them, and what a person needs is checked.

Nothing here goes by words of the page, which are in two languages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from playwright.sync_api import FilePayload, Locator, Page

from assistant.ui.setup.setting_rows import SECTIONS
from tests.browser.behind import Behind
from tests.browser.conftest import Chat
from tests.fakes.drawn import picture_bytes
from tests.fakes.page_player import PagePlayer
from tests.fakes.past import PastConversation
from tests.ui.open_page import MEMORY_TEXTS

Side = Literal["left", "right"]
Kind = Literal["filled", "new", "offline", "guest", "people", "taken"]
"""Whose page: a home with memory, a new one, one that no model answers in, a guest's, one of several people, and one
of a home that another program uses."""

NOTES = FilePayload(name="notes of the meeting in the harbour office.txt", mimeType="text/plain", buffer=b"On Friday.")
TABLE = FilePayload(name="table.csv", mimeType="text/csv", buffer=b"day,hours\nMon,8\n")
ARCHIVE = FilePayload(name="all.zip", mimeType="application/zip", buffer=b"PK\x03\x04\x14\0abc")
CHART = FilePayload(name="chart.png", mimeType="image/png", buffer=picture_bytes("PNG", 640, 400))
_PASTE = """text => {
    const transfer = new DataTransfer();
    transfer.setData("text/plain", text);
    const about = {clipboardData: transfer, bubbles: true, cancelable: true};
    document.querySelector("#composer textarea").dispatchEvent(new ClipboardEvent("paste", about));
}"""
_WIDE_TABLE = "|" + " Quantity |" * 30 + "\n|" + "---|" * 30 + "\n|" + " 12 |" * 30


@dataclass(frozen=True, slots=True)
class Stage:
    """A tab, the assistant behind it, and the player that answers it."""

    chat: Chat
    behind: Behind
    player: PagePlayer

    @property
    def page(self) -> Page:
        """The tab's page."""
        return self.chat.page

    def prepare(self) -> None:
        """Nothing of an earlier state is left that would change the next one."""
        assistant = self.behind.assistant
        assistant.is_recall_on = False
        for one in assistant.store.allowed_calls.all():
            assistant.store.allowed_calls.revoke(one.allowance_id)
        (self.behind.home / "files" / "build").mkdir(exist_ok=True)
        self.player.gate.clear()


@dataclass(frozen=True, slots=True)
class State:
    """A state of the page: what leads to it from a new conversation, and the panel that is open in it.

    What is brief goes by itself after a while, and is reached anew for each width.
    """

    name: str
    reach: Callable[[Stage], None]
    panel: Side | None = None
    kind: Kind = "filled"
    is_brief: bool = False


def button(stage: Stage, action: str, within: str = "body") -> Locator:
    """The last button that does this."""
    return stage.page.locator(f'{within} button[class*="-do--{action}--"]').last


def show_panel(page: Page, side: Side) -> None:
    """Open a panel that is closed."""
    if not page.locator(f"#{side}").is_visible():
        page.locator(f"#open-{side} button").click()
        page.locator(f"#{side}").wait_for()


def _say(stage: Stage, text: str, until: str = ".p-foot") -> None:
    """Send a message and wait for what must stand in the conversation then."""
    stage.chat.act("send", f"1 {text}")
    stage.page.locator(f"#chat {until}").last.wait_for()
    if until == ".p-foot":
        stage.chat.wait_for_end()


def _saying(text: str, until: str = ".p-foot") -> Callable[[Stage], None]:
    return lambda stage: _say(stage, text, until)


def _rest(stage: Stage) -> None:
    """As it is when it is opened."""


def _open_folds(stage: Stage, folds: str) -> None:
    for summary in stage.page.locator(f"#chat {folds} > summary").all():
        summary.click()


def _work_open(stage: Stage) -> None:
    _say(stage, "tools: when is Friday free?")
    _open_folds(stage, ".p-row")
    _scroll_up(stage)


def _scroll_up(stage: Stage) -> None:
    stage.page.locator("#chat .m-scroller").evaluate("box => box.scrollTo(0, 0)")


def _rich(stage: Stage) -> None:
    _say(
        stage,
        f"answer ## A plan\n\n$x^2$ and\n\n$$\\int_0^1 x$$\n\n- [ ] one\n- [x] two\n\n> a quote\n\n{_WIDE_TABLE}\n\n"
        "```python\nprint('a line of code that is much longer than any phone is wide, and goes on and on', 1)\n```\n\n"
        "[an address](https://example.org/) and `code`, שלום לכולם, 今天的日程",
    )


def _streaming(stage: Stage) -> None:
    _say(stage, "slow: begin and wait", ".p-working, .m-own .m-block")
    stage.page.get_by_text("It begins").wait_for()
    stage.chat.say("And one more thing")
    stage.page.locator(".p-queued").wait_for()


def _stopped(stage: Stage) -> None:
    _say(stage, "slow: begin and wait", ".m-own .m-block")
    stage.page.get_by_text("It begins").wait_for()
    stage.page.locator("#stop button").click()
    stage.page.locator(".p-stopped").wait_for()


def _approved(action: str) -> Callable[[Stage], None]:
    def reach(stage: Stage) -> None:
        _say(stage, "approve: tidy up", ".p-approval")
        if action == "deny":
            stage.page.locator(".p-approval input[name=why]").fill("I still need that folder")
        button(stage, action).click()
        stage.page.locator("#chat .p-line").wait_for()
        stage.chat.wait_for_end()
        _open_folds(stage, ".p-row")

    return reach


def _edit_card(stage: Stage) -> None:
    _say(stage, f"edit: {stage.behind.home / 'files' / 'plan.md'}", ".p-approval")


def _compact(stage: Stage) -> None:
    stage.chat.say_two("My dentist is on Friday 15:30.", ferries=600)
    _say(stage, "/compact", ".p-compaction")


def _summary(stage: Stage) -> None:
    _compact(stage)
    _open_folds(stage, ".p-summary")


def _undone(stage: Stage) -> None:
    _compact(stage)
    button(stage, "undo", "#chat").click()
    stage.page.locator(".p-undone").last.wait_for()


def _chip(stage: Stage) -> None:
    _say(stage, "remember: I prefer window seats")
    _open_folds(stage, ".p-memory .p-row")


def _recalled(stage: Stage) -> None:
    stage.behind.assistant.is_recall_on = True
    _say(stage, "Which hotels in Alfama?")
    _open_folds(stage, ".p-row-recalled")
    button(stage, "refuse-recall").click()
    stage.page.locator("#chat .p-row-recalled .p-relevance").last.wait_for()


def _past(stage: Stage) -> None:
    stage.chat.open("c=lisbon")
    stage.page.get_by_text("Question 40 about").wait_for()
    _scroll_up(stage)


def _found(stage: Stage) -> None:
    _past(stage)
    button(stage, "transcript", "#chat").click()
    stage.page.locator("#chat .m-found").wait_for()


def _full_text(stage: Stage) -> None:
    _say(stage, "full")
    _open_folds(stage, ".p-row")
    button(stage, "full-text").click()
    stage.page.locator("#dialog .p-dialog").wait_for()


def _editing(stage: Stage) -> None:
    _say(stage, "the first question")
    _say(stage, "the second question")
    button(stage, "edit", "#chat").first.click()
    stage.page.locator("#edit-text textarea").wait_for()


def _versions(stage: Stage) -> None:
    _say(stage, "the first question")
    button(stage, "retry", "#chat").click()
    stage.page.locator("#chat .p-versions").wait_for()
    stage.chat.wait_for_end()


def _branch(stage: Stage) -> None:
    _say(stage, "the first question")
    button(stage, "branch", "#chat").click()
    stage.page.locator("#sessions .p-selected", has_text="the first question").wait_for(state="attached")


def _picker(stage: Stage) -> None:
    stage.page.locator("#who-answers summary").click()
    stage.page.locator("#who-answers .p-pick").first.wait_for()


def _profile(stage: Stage) -> None:
    _settings(stage, "models")
    button(stage, "edit-profile").click()
    stage.page.locator("#dialog .p-profile-form").wait_for()


def _attach(stage: Stage, *files: FilePayload) -> None:
    stage.page.locator("#attach input[type=file]").set_input_files(list(files))
    for file in files:
        chip = stage.page.locator("#attached .p-attachment:not(.p-attachment-coming)", has_text=file["name"])
        chip.wait_for()


def _chips(stage: Stage) -> None:
    stage.page.evaluate(_PASTE, "a line that was pasted\n" * 400)
    _attach(stage, NOTES, ARCHIVE, CHART)


def _sent(stage: Stage) -> None:
    _attach(stage, NOTES, TABLE, CHART)
    stage.chat.say("answer I have read them.")
    stage.chat.wait_for_end()


def _dropping(stage: Stage) -> None:
    stage.page.evaluate("""() => {
        const transfer = new DataTransfer();
        transfer.items.add(new File(["words"], "words.md", {type: "text/plain"}));
        const about = {dataTransfer: transfer, bubbles: true, cancelable: true};
        document.querySelector("#chat").dispatchEvent(new DragEvent("dragenter", about));
    }""")
    stage.page.locator("html.p-dropping").wait_for()


def _commands(stage: Stage) -> None:
    stage.page.locator("#composer textarea").press_sequentially("/")
    stage.page.locator("#commands .p-command-row").first.wait_for()


def _keys(stage: Stage) -> None:
    stage.chat.act("open-keys", "")
    stage.page.locator("#dialog .p-keys").wait_for()


def _refused_click(stage: Stage) -> None:
    stage.chat.act("undo", "k1")
    stage.page.locator(".toast-body").last.wait_for()


def _menu_open(stage: Stage) -> None:
    _say(stage, "Which ferry goes to the island on Sundays?")
    show_panel(stage.page, "left")
    stage.page.locator("#sessions .p-more").first.click()
    stage.page.locator(".p-session-edit input").wait_for()


def _long_list(stage: Stage) -> None:
    stage.behind.write_many("Diary", 260)
    stage.chat.open()
    stage.page.locator("#sessions .p-long").wait_for(state="attached")


def _filtered(stage: Stage) -> None:
    _long_list(stage)
    show_panel(stage.page, "left")
    stage.page.locator("#list-filter input").press_sequentially("no title at all")
    stage.page.locator("#sessions .p-empty").wait_for()


def _working_elsewhere(stage: Stage) -> None:
    _say(stage, "approve: tidy up", ".p-approval")
    stage.chat.act("open-session", "lisbon")
    stage.page.get_by_text("Question 40 about").wait_for()
    stage.page.locator("#sessions .p-session .p-dot").first.wait_for(state="attached")


def _trash_one(stage: Stage) -> None:
    name = f"oslo{len(stage.behind.store.sessions.trashed())}"
    stage.behind.write_past(name, "Oslo fjord", 1)
    stage.chat.open(f"c={name}")
    stage.chat.act("trash-session", name)
    stage.page.locator("#toast .p-toast").wait_for()


def _trash(stage: Stage, action: str = "open-trash") -> None:
    for number in range(3):
        stage.behind.write_past(f"old{number}", f"Old plans of the year {2020 + number}", 1)
        stage.behind.store.sessions.trash(f"old{number}")
    stage.chat.open()
    stage.chat.act(action, "")
    stage.page.locator("#dialog .p-trash").wait_for()


def _searched(words: str, until: str) -> Callable[[Stage], None]:
    def reach(stage: Stage) -> None:
        stage.behind.index_words()
        show_panel(stage.page, "left")
        stage.page.locator("#search :is(input, textarea)").first.fill(words)
        stage.page.locator(f"#hits {until}").first.wait_for()

    return reach


def _tab(stage: Stage, name: str) -> None:
    show_panel(stage.page, "right")
    stage.page.locator(f"#tab-{name}-button, #tabs [role=tab]").nth(("memory", "context", "model").index(name)).click()
    stage.page.locator(f"#tab-{name}").wait_for()


def _of_tab(name: str) -> Callable[[Stage], None]:
    return lambda stage: _tab(stage, name)


def _open_file(stage: Stage, name: str, words: str) -> None:
    (stage.behind.home / name).write_text(MEMORY_TEXTS[name], "utf-8")
    _tab(stage, "memory")
    stage.chat.act("open-file", name)
    stage.page.locator("#editor .cm-content", has_text=words).wait_for()


def _type_line(stage: Stage, line: str) -> None:
    stage.page.locator("#editor .cm-content").click()
    stage.page.keyboard.press("Control+End")
    stage.page.keyboard.type(line)
    stage.page.locator("#file-head .p-edited").wait_for()


def _unsaved(stage: Stage) -> None:
    _open_file(stage, "MEMORY.md", "Lisbon")
    _type_line(stage, "\n- Bring the passport")


def _merging(stage: Stage) -> None:
    _unsaved(stage)
    path = stage.behind.home / "MEMORY.md"
    path.write_text(path.read_text("utf-8").replace("# Long-term memory", "# What lasts"), "utf-8")
    button(stage, "memory-diff").click()
    stage.page.locator("#file-banner .p-diff").wait_for()


def _conflict(stage: Stage) -> None:
    _open_file(stage, "SOUL.md", "Calm")
    _type_line(stage, " Typed in the page.")
    (stage.behind.home / "SOUL.md").write_text("# Soul\n\nCalm, says another hand.\n", "utf-8")
    stage.page.locator(".p-conflict .p-diff").wait_for()


def _history(stage: Stage) -> None:
    notes = stage.behind.store.notes
    for text in ("# Soul\n\nThe first.\n", MEMORY_TEXTS["SOUL.md"]):
        notes.save("SOUL.md", text, notes.read("SOUL.md").digest, "owner")
    _open_file(stage, "SOUL.md", "Calm")
    button(stage, "memory-history").click()
    version = stage.page.locator("#history .p-item").nth(1)
    version.locator("summary").click()
    version.locator("button").wait_for()


def _task(action: str, target: str = "") -> Callable[[Stage], None]:
    """A card of the memory panel."""

    def reach(stage: Stage) -> None:
        _tab(stage, "memory")
        stage.chat.act(action, target)
        stage.page.locator("#memory-work .p-task").wait_for()

    return reach


def _forget_found(stage: Stage) -> None:
    _say(stage, "remember: My locker code is 7731")
    _task("forget-words")(stage)
    stage.page.locator("#memory-work .p-field").fill("locker code")
    button(stage, "forget-find").click()
    stage.page.locator("#memory-work [type=checkbox]").first.wait_for()


def _forgotten(stage: Stage) -> None:
    _forget_found(stage)
    stage.page.locator("#memory-work .p-tick-all").click()
    button(stage, "forget-now").click()
    stage.page.locator("#memory-work .p-gone").wait_for()


def _tidy(stage: Stage) -> None:
    text = "\n".join(["- likes tea", "- likes tea", *(f"- fact {number}" for number in range(2_000))]) + "\n"
    (stage.behind.home / "MEMORY.md").write_text(text, "utf-8")
    _task("tidy-file", "MEMORY.md")(stage)
    stage.page.locator("#memory-work [type=checkbox]").wait_for()
    (stage.behind.home / "MEMORY.md").write_text(MEMORY_TEXTS["MEMORY.md"], "utf-8")


def _line(stage: Stage) -> None:
    _say(stage, "remember: I play the cello")
    _tab(stage, "memory")
    stage.chat.act("open-file", "USER.md")
    stage.page.locator("#editor .cm-line", has_text="cello").last.click()
    button(stage, "memory-line").click()
    stage.page.locator("#memory-work .p-origin").wait_for()


def _context(stage: Stage) -> None:
    _compact(stage)
    _tab(stage, "context")
    stage.page.locator("#context .p-item > summary").last.click()


def _preview(stage: Stage) -> None:
    stage.chat.say_two("My dentist is on Friday 15:30.", ferries=600)
    _tab(stage, "context")
    stage.page.locator("#look-ahead").click()
    stage.page.locator("#preview .p-preview").wait_for()


def _pinned(stage: Stage) -> None:
    stage.chat.say_two("My dentist is on Friday 15:30.")
    _tab(stage, "context")
    item = stage.page.locator("#context .p-item", has=stage.page.locator("button")).last
    item.locator("summary").click()
    item.locator('button[class*="-do--pin--"]').click()
    item.locator(".p-badge-pin").wait_for()


def _compactions(stage: Stage) -> None:
    if not stage.behind.store.journal.rows("many"):
        past = PastConversation(stage.behind.store, "many", "Many compactions")
        past.add_turns(1)
        for number in range(25):
            past.add_turns(1)
            past.fold(f"## Goal\n- Move the dentist appointment\n- Step {number} is done")
    stage.chat.open("c=many")
    _tab(stage, "context")
    stage.page.locator("#compactions li").nth(19).wait_for(state="attached")


def _summary_diff(stage: Stage) -> None:
    _compactions(stage)
    button(stage, "summary-diff").click()
    stage.page.locator("#dialog .p-dialog").wait_for()


def _model_report(stage: Stage) -> None:
    _tab(stage, "model")
    button(stage, "test", "#model").click()
    stage.page.locator("#model .p-report").wait_for()


def _settings(stage: Stage, section: str) -> None:
    stage.chat.act("open-settings", section)
    stage.page.locator("#dialog .p-settings").wait_for()


def _allowances(stage: Stage) -> None:
    for action in ("allow-conversation", "allow-always"):
        stage.chat.start_new()
        (stage.behind.home / "files" / "build").mkdir(exist_ok=True)
        _say(stage, "approve: tidy up", ".p-approval")
        button(stage, action).click()
        stage.page.locator("#chat .p-line").wait_for()
        stage.chat.wait_for_end()
    _settings(stage, "tools")


def _fails(stage: Stage) -> None:
    """The player breaks off every second time."""
    _say(stage, "fail: please", ".p-failed, #chat .p-foot")
    if not stage.page.locator("#chat .p-failed").count():
        stage.chat.start_new()
        _say(stage, "fail: please", ".p-failed")


def _choose(who: str) -> Callable[[Stage], None]:
    """A choice of who answers."""
    return lambda stage: stage.page.locator(f"input[name=who][value={who}]").check(force=True)


def _refused_server(stage: Stage) -> None:
    _choose("server")(stage)
    stage.page.locator("[name=address]").fill("http://127.0.0.1:9/v1")
    button(stage, "begin").click()
    stage.page.locator("#chat .p-failed").wait_for()


def _sample(stage: Stage) -> None:
    button(stage, "show", "#chat").click()
    stage.page.locator("#chat .p-compaction").last.wait_for(timeout=120_000)
    stage.chat.page.locator("#stop button").wait_for(state="hidden", timeout=120_000)


def _how_to_connect(stage: Stage) -> None:
    stage.page.locator("#chat .p-how > summary").click()


def _wrong_password(stage: Stage) -> None:
    stage.page.locator("input[type=text]").fill("ada")
    stage.page.locator("input[type=password]").fill("not hers")
    stage.page.locator("button[type=submit]").click()
    stage.page.get_by_role("alert").wait_for()


STATES: tuple[State, ...] = (
    State("welcome", _rest),
    State("conversations", _rest, "left"),
    State("list-menu", _menu_open, "left"),
    State("list-marks", _working_elsewhere, "left"),
    State("trash", _trash),
    State("trash-question", partial(_trash, action="ask-empty-trash")),
    State("trashed", _trash_one, is_brief=True),
    State("search", _searched("Lisbon", ".p-hit"), "left"),
    State("search-nothing", _searched("xylophone", ".p-heading"), "left"),
    State("answer", _saying("tools: when is Friday free?")),
    State("work-open", _work_open),
    State("rich", _rich),
    State("streaming", _streaming),
    State("stopped", _stopped),
    State("cut", _saying("cut: please", ".p-stopped")),
    State("max-steps", _saying("steps: please", ".p-stopped")),
    State("failed", _fails),
    State("failed-key", _saying("refuse the key", ".p-failed")),
    State("failed-quota", _saying("refuse for the quota", ".p-failed")),
    State("hostile", _saying("hostile: please")),
    State("approval", _saying("approve: tidy up", ".p-approval")),
    State("approval-diff", _edit_card),
    State("approval-long", _saying("long: please", ".p-approval")),
    State("approved-once", _approved("allow")),
    State("approved-longer", _approved("allow-conversation")),
    State("denied", _approved("deny")),
    State("compaction", _summary),
    State("compaction-undone", _undone),
    State("memory-chip", _chip),
    State("recalled", _recalled),
    State("past", _past),
    State("past-found", _found),
    State("full-text", _full_text),
    State("editing", _editing),
    State("versions", _versions),
    State("branch", _branch),
    State("picker", _picker),
    State("chips", _chips),
    State("sent-files", _sent),
    State("dropping", _dropping),
    State("commands", _commands),
    State("keys", _keys),
    State("help", _saying("/help", ".p-notice")),
    State("refused-click", _refused_click, is_brief=True),
    State("memory", _of_tab("memory"), "right"),
    State("memory-unsaved", _unsaved, "right"),
    State("memory-merging", _merging, "right"),
    State("memory-conflict", _conflict, "right"),
    State("memory-history", _history, "right"),
    State("memory-line", _line, "right"),
    State("pending", _task("pending-open"), "right"),
    State("forget", _task("forget-words"), "right"),
    State("forget-found", _forget_found, "right"),
    State("forgotten", _forgotten, "right"),
    State("tidy", _tidy, "right"),
    State("context", _context, "right"),
    State("context-preview", _preview, "right"),
    State("context-pinned", _pinned, "right"),
    State("compactions", _compactions, "right"),
    State("summary-diff", _summary_diff),
    State("model", _of_tab("model"), "right"),
    State("model-report", _model_report, "right"),
    *(State(f"settings-{section}", partial(_settings, section=section)) for section in SECTIONS),
    State("settings-profile", _profile),
    State("settings-allowed", _allowances),
    # From here on the list is long.
    State("list-long", _long_list, "left"),
    State("list-filtered", _filtered, "left"),
    State("first-run", _rest, kind="new"),
    State("first-run-key", _choose("provider"), kind="new"),
    State("first-run-server", _choose("server"), kind="new"),
    State("first-run-refused", _refused_server, kind="new"),
    State("no-model", _rest, kind="offline"),
    State("no-model-how", _how_to_connect, kind="offline"),
    State("sample", _sample, kind="offline"),
    State("guest", _rest, kind="guest"),
    State("sign-in", _rest, kind="people"),
    State("sign-in-refused", _wrong_password, kind="people"),
    State("taken", _rest, kind="taken"),
)
