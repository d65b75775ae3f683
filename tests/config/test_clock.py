"""Days begin at midnight where the person is: in the zone that is set, else in the browser's."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from assistant.config.clock import Clock, read_zone
from assistant.index.question import read_question
from assistant.messages.blocks import UserMsg, block_text, text_of
from assistant.models.scripted import ScriptedModel
from assistant.storage.journal.journal import Journal
from assistant.storage.workspace import Workspace
from tests.fakes.home import call, home_settings, say, scripted_assistant, text

# In Shanghai it is half past midnight on the first of December.
HALF_PAST = datetime(2026, 11, 30, 16, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Mars/Olympus",
        "../../../etc/passwd",
        "/etc/localtime",
        "Europe",
        "Europe/",
        "Asia/Shanghai\n",
        "Asia/Shanghai; path=/",
        "亚洲/上海",
        "A" * 65,
        "a\0b",
    ],
)
def test_what_is_no_zone_changes_nothing(home: Path, name: str) -> None:
    clock = Clock(home_settings(home, timezone=""))
    clock.follow("Asia/Shanghai")
    clock.follow(name)
    assert (str(clock.now().tzinfo), read_zone(name)) == ("Asia/Shanghai", None)


def test_the_browser_that_spoke_last_says_where_the_person_is(home: Path) -> None:
    clock = Clock(home_settings(home, timezone=""))
    clock.begin_in("Asia/Shanghai")
    clock.begin_in("America/New_York")
    assert str(clock.now().tzinfo) == "Asia/Shanghai"
    clock.follow("America/New_York")
    assert str(clock.now().tzinfo) == "America/New_York"


def test_a_zone_that_is_set_wins(home: Path) -> None:
    clock = Clock(home_settings(home, timezone="Europe/Berlin"))
    clock.begin_in("Asia/Shanghai")
    clock.follow("Asia/Shanghai")
    assert str(clock.now().tzinfo) == "Europe/Berlin"


def test_at_half_past_midnight_the_day_is_the_new_one_and_yesterday_the_one_before(home: Path) -> None:
    clock = Clock(home_settings(home, timezone=""), lambda: HALF_PAST)
    clock.follow("Asia/Shanghai")
    assert clock.now().isoformat() == "2026-12-01T00:30:00+08:00"
    workspace = Workspace(home)
    workspace.create("en")
    Journal(workspace, clock.now).append_missing("s", "owner", [UserMsg("user", "Hello")])
    assert [path.name for path in workspace.dialog_folder.glob("*.jsonl")] == ["2026-12-01.jsonl"]
    days = [read_question(words, clock.now().date()).days for words in ("what did we do yesterday?", "昨天做了什么？")]
    assert days == [("2026-11-30",), ("2026-11-30",)]


async def test_notes_and_the_prompt_take_the_day_of_the_browser(home: Path) -> None:
    saved = call("memory_save", '{"content": "Paid the rent", "category": "context"}', "c1")
    model = ScriptedModel([[saved], [text("Noted.")], [text("Hello.")]])
    async with scripted_assistant(home, model, timezone="", memory="on", recall="off") as assistant:
        clock, conversation = assistant.store.clock, assistant.conversations.create()
        # These two are never on the same day.
        clock.follow("Pacific/Kiritimati")
        east = clock.now().date()
        await say(assistant, conversation, "I paid the rent")
        clock.follow("Etc/GMT+12")
        west = clock.now().date()
        await say(assistant, conversation, "Hello")
    prompts = [request.messages[0].get_text_content() or "" for request in model.requests]
    assert [(f"{east}" in prompt, f"{west}" in prompt) for prompt in prompts] == [(True, False)] * 3
    *_, told, question = model.requests[-1].messages
    assert (block_text(told.content[0]), text_of(question)) == (f"A new day has begun: today is {west}.", "Hello")
    assert [path.name for path in (home / "memory").glob("*.md")] == [f"{east}.md"]
