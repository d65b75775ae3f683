"""The built-in assistant with the real index and encoder: what was said in one language is found in the other."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from assistant.assembly.assistant import open_assistant
from assistant.config.settings import Settings
from tests.fakes.home import said_in, say


async def answers(home: Path, *asked: str) -> list[str]:
    """The answers of a fresh process, each message in a conversation of its own."""
    told: list[str] = []
    async with open_assistant(
        Settings.model_validate({"home": home, "provider": "offline", "timezone": "UTC"})
    ) as assistant:
        for text in asked:
            told.append(said_in(await say(assistant, assistant.conversations.create(), text)))
    return told


def today() -> str:
    """The day on which a line is written, where the homes of these tests are."""
    return datetime.now(UTC).date().isoformat()


async def test_what_is_remembered_is_quoted_with_its_line_in_either_language(home: Path):
    days = {today()}
    await answers(
        home,
        "Remember that I drink oolong tea in the morning",
        "记住我妹妹住在奥斯陆",
        "Call me Ada",
    )
    tea, chinese_tea, sister, nothing, name, known = await answers(
        home,
        "What do I drink in the morning?",
        "我早上喝什么？",
        "Where does my sister live?",
        "How tall is the Eiffel tower?",
        "我叫什么？",
        "What do you know about me?",
    )
    days.add(today())
    assert tea in {
        f"From memory, word for word:\n\n> I drink oolong tea in the morning\n\n`USER.md:9`, {day}" for day in days
    }
    assert chinese_tea in {
        f"记忆里的原话：\n\n> I drink oolong tea in the morning\n\n`USER.md:9`, {day}" for day in days
    }
    assert sister in {f"From memory, word for word:\n\n> 我妹妹住在奥斯陆\n\n`USER.md:10`, {day}" for day in days}
    assert nothing == ("I looked in memory and found nothing about that. I do not know more than what is written down.")
    assert name == "你是Ada：`USER.md:4`"
    assert known == (
        "This is what is written down about you, word for word:\n\n- To be called: Ada (`USER.md:4`)\n"
        "- I drink oolong tea in the morning (`USER.md:9`)\n- 我妹妹住在奥斯陆 (`USER.md:10`)"
    )


async def test_what_was_saved_a_moment_ago_is_found_by_the_very_next_question(home: Path):
    async with open_assistant(
        Settings.model_validate({"home": home, "provider": "offline", "timezone": "UTC"})
    ) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "记住我的猫叫豆豆")
        found = said_in(await say(assistant, conversation, "我的猫叫什么？"))
    assert found == "记忆里的原话：\n\n> 我的猫叫豆豆\n\n`USER.md:9`"
