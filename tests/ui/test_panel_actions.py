"""What the buttons for pins, full texts, previews and memory changes do, and what they refuse."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest

from assistant.agent.compactor import CompactionPreview
from assistant.assembly.assistant import open_assistant
from assistant.assembly.sample.show_command import with_show_command
from assistant.conversation.conversation import Conversation
from assistant.errors import CompactionError, ConflictError
from assistant.memory.log import MemoryChange, Origin
from assistant.messages.events import Recalled, RecallRefused, ToolFinished
from assistant.models.scripted import ScriptedModel
from assistant.ui.actions import act_in_chat
from assistant.ui.chat.context_panel import pin_target, preview_html
from assistant.ui.chat.full_text_dialog import MAX_CHARS, full_text_html
from assistant.ui.chat.tab import Tab
from tests.fakes.home import call, home_settings, scripted_assistant, text
from tests.index.homes import write
from tests.ui.open_page import OpenPage, last, open_page, page_of
from tests.ui.turns import after_turn

LONG = "The cellar key hangs behind the door. " * 300
ARTIFACT_ID = "00000000-0000-4000-8000-000000000001"


@pytest.fixture
async def page(home: Path) -> AsyncGenerator[OpenPage]:
    """A page whose model says what was said."""
    async with open_page(home) as page:
        yield page


@pytest.fixture
async def conversation(page: OpenPage) -> Conversation:
    """One conversation."""
    return await page.talk("hello")


@pytest.fixture
def tab(conversation: Conversation) -> Tab:
    """The tab that shows it."""
    return Tab(conversation.session_id)


def question_target(conversation: Conversation, number: int = 0) -> str:
    """A message of the person, as a button names it."""
    return [pin_target(item) for item in conversation.context_items() if item.is_user][number]


def pinned(conversation: Conversation) -> list[str]:
    """What is pinned."""
    return [item.text for item in conversation.context_items() if item.is_pinned]


def likes_tea(page: OpenPage, session_id: str) -> MemoryChange:
    """The assistant writes a line in that conversation."""
    change = page.assistant.notes.add_lines("USER.md", "About me", ["Likes tea"], Origin("assistant", session_id))
    assert change is not None
    return change


async def test_a_message_is_pinned_and_unpinned(page: OpenPage, conversation: Conversation, tab: Tab) -> None:
    await after_turn(page.controller, page.controller.send("hello again", tab, "tab"))
    target = question_target(conversation)
    shown = await last(act_in_chat(page.controller, "pin", target, tab, "tab"))
    assert pinned(conversation) == ["hello"]
    assert ">Unpin<" in str(shown["context"])
    shown = await last(act_in_chat(page.controller, "unpin", target, tab, "tab"))
    assert pinned(conversation) == []
    assert ">Pin<" in str(shown["context"])


async def test_a_pin_that_takes_too_much_is_refused(page: OpenPage) -> None:
    conversation = await page.talk(LONG)
    with pytest.raises(CompactionError, match="1,600"):
        target = question_target(conversation)
        await last(act_in_chat(page.controller, "pin", target, Tab(conversation.session_id), "tab"))
    assert pinned(conversation) == []


async def test_only_what_the_model_sees_can_be_pinned(page: OpenPage, conversation: Conversation, tab: Tab) -> None:
    with pytest.warns(UserWarning, match="Nothing was done"):
        await last(act_in_chat(page.controller, "pin", "gone text block", tab, "tab"))
    assert pinned(conversation) == []


async def test_a_full_text_opens_only_where_a_result_names_it(home: Path) -> None:
    show_all = call("Bash", json.dumps({"command": "cat all.txt"}), "call_showall")
    async with open_page(home, [show_all], [text("That is all.")], tool_result_max_chars=2_000) as page:
        words = "<b>all of it</b>\n" * 500
        (page.assistant.workspace.files_folder / "all.txt").write_text(words, "utf-8")
        conversation = await page.talk("show it")
        tab = Tab(conversation.session_id)
        [finished] = [event for event in conversation.attach().history if isinstance(event, ToolFinished)]
        artifact_id = finished.artifact_id
        assert artifact_id
        page.assistant.store.artifacts.store_as(ARTIFACT_ID, words)
        shown = await last(act_in_chat(page.controller, "full-text", artifact_id, tab, "tab"))
        assert "&lt;b&gt;all of it" in str(shown["dialog"])
        with pytest.warns(UserWarning, match="Nothing was done"):
            refused = await last(act_in_chat(page.controller, "full-text", ARTIFACT_ID, tab, "tab"))
        assert "all of it" not in str(refused.get("dialog"))
        assert (await last(act_in_chat(page.controller, "close-text", "", tab, "tab")))["dialog"] == ""


def test_a_very_long_text_is_capped_and_says_so() -> None:
    html = full_text_html(ARTIFACT_ID, "x" * (MAX_CHARS + 1))
    assert html.count("x" * 100) < MAX_CHARS // 100 + 1
    assert "The first 200,000 characters" in html
    assert "200,001 characters" in html


async def test_a_look_ahead_says_what_would_be_folded_and_goes_with_the_next_message(page: OpenPage) -> None:
    conversation = await page.talk(LONG, "two")
    tab = Tab(conversation.session_id)
    preview = await conversation.preview_compaction()
    assert 2_800 < preview.folded_tokens < preview.previous_tokens
    shown = await last(page.controller.look_ahead(tab))
    assert f"<b>{preview.folded_tokens:,}</b> of {preview.previous_tokens:,} tokens" in str(shown["preview"])
    updates = [update async for update in page.controller.send("hello", tab, "tab")]
    assert updates[0]["preview"] == ""


def test_a_look_ahead_says_why_nothing_would_be_folded() -> None:
    assert "Too little is here." in preview_html(CompactionPreview(100, 0, (), 0, "Too little is here."))


async def test_a_memory_change_is_undone_from_its_chip_and_told(
    page: OpenPage, conversation: Conversation, tab: Tab, home: Path
) -> None:
    await after_turn(page.controller, page.controller.send("hello", tab, "tab"))
    change = likes_tea(page, conversation.session_id)
    await after_turn(page.controller, page.controller.send("hello again", tab, "tab"))
    await last(act_in_chat(page.controller, "undo-change", change.change_id, tab, "tab"))
    assert "Likes tea" not in (home / "USER.md").read_text("utf-8")
    assert [known.writer for known in page.assistant.memory_log.history("USER.md")][-1] == "owner"
    messages = str((await after_turn(page.controller, page.controller.send("hello", tab, "tab")))["transcript"])
    assert "−1" in messages
    assert "without: - Likes tea" in messages


async def test_a_change_that_was_written_over_is_not_undone(
    page: OpenPage, conversation: Conversation, tab: Tab, home: Path
) -> None:
    change = likes_tea(page, conversation.session_id)
    await after_turn(page.controller, page.controller.send("hello", tab, "tab"))
    path = home / "USER.md"
    path.write_text(path.read_text("utf-8").replace("Likes tea", "Likes coffee"), "utf-8")
    with pytest.raises(ConflictError):
        await last(act_in_chat(page.controller, "undo-change", change.change_id, tab, "tab"))
    assert "Likes coffee" in path.read_text("utf-8")


async def test_no_change_of_another_conversation_is_undone(page: OpenPage, tab: Tab, home: Path) -> None:
    change = likes_tea(page, "other")
    with pytest.warns(UserWarning, match="Nothing was done"):
        await last(act_in_chat(page.controller, "undo-change", change.change_id, tab, "tab"))
    assert "Likes tea" in (home / "USER.md").read_text("utf-8")


@pytest.mark.parametrize("provider", ["scripted", "offline"])
async def test_a_sample_is_offered_and_played_whoever_answers(home: Path, provider: str) -> None:
    settings = home_settings(home, provider="offline", memory_store_backend="local")
    opened = open_assistant(settings) if provider == "offline" else scripted_assistant(home, ScriptedModel([]))
    async with page_of(with_show_command(opened)) as page:
        assert "sample conversation" in str((await last(page.controller.start_new("tab")))["transcript"])
        async with aclosing(act_in_chat(page.controller, "show", "", Tab(), "tab")) as updates:
            shown = await anext(updates)
        assert page.assistant.owner_of(shown["tab"].session_id) is not page.assistant
        assert "Sample: three days by the sea" in str(shown["top"])


async def test_a_recalled_passage_is_kept_out_by_its_button_once(home: Path) -> None:
    async with open_page(home, memory="on") as page:
        write(home, "memory/2026-11-27.md", "- The paddle of the kayak leans behind the green boiler.\n")
        await page.assistant.index.sync()
        conversation = await page.talk("Where does the paddle of the kayak lean?")
        (line,) = [one for event in conversation.attach().history if isinstance(event, Recalled) for one in event.lines]
        tab = Tab(conversation.session_id)
        refusing = act_in_chat(page.controller, "refuse-recall", line.mark, tab, "tab")
        shown = await after_turn(page.controller, refusing)
        assert "kept out of this conversation" in str(shown["transcript"])
        assert "Not helpful" not in str(shown["transcript"])
        for target in (line.mark, "no such passage"):
            with pytest.warns(UserWarning, match="no longer pending"):
                await last(act_in_chat(page.controller, "refuse-recall", target, tab, "tab"))
        refused = [event for event in conversation.attach().history if isinstance(event, RecallRefused)]
        assert refused == [RecallRefused(line.mark)]


async def test_the_model_tab_says_what_recall_costs(home: Path) -> None:
    async with open_page(home, memory="on") as page:
        write(home, "memory/2026-11-27.md", "- The paddle of the kayak leans behind the green boiler.\n")
        assert "Takes at most" in str((await last(page.controller.start_new("tab")))["model"])
        await page.assistant.index.sync()
        await page.talk("Where does the paddle of the kayak lean?")
        tokens = page.assistant.recall_cost.tokens_a_message
        shown = str((await last(page.controller.start_new("tab")))["model"])
    assert tokens > 0
    assert f"Since the start: {tokens} on average, for 1 messages." in shown


async def test_recall_is_switched_off_and_on_where_a_language_model_answers(home: Path) -> None:
    async with open_page(home, memory="on") as page:
        assert "Turn recall off" in str((await last(page.controller.start_new("tab")))["model"])
        shown = await last(act_in_chat(page.controller, "recall", "off", Tab(), "tab"))
        assert "Turn recall on" in str(shown["model"])
        assert page.assistant.is_recall_on is False
        shown = await last(act_in_chat(page.controller, "recall", "on", Tab(), "tab"))
        assert "Turn recall off" in str(shown["model"])
    settings = home_settings(home, provider="offline", memory="on", memory_store_backend="local")
    async with page_of(open_assistant(settings)) as page:
        assert "Turn recall" not in str((await last(page.controller.start_new("tab")))["model"])
