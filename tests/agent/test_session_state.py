"""The language of a conversation is chosen once, and changes at a compaction only."""

from __future__ import annotations

from pathlib import Path

from assistant.config.words import Language
from assistant.messages.blocks import text_of
from assistant.models.scripted import ScriptedModel, ScriptedRequest
from tests.fakes.home import say, scripted_assistant, text

ENGLISH, CHINESE = "Good morning. What is in the harbour today?", "今天港口里有什么船？请告诉我。"
SUMMARY = "\n\n".join(
    f"## {title}\n- 这里写着关于{title}说过的话，留给之后继续对话的人"
    for title in ("目标", "约束与偏好", "进展", "关键决策", "下一步", "关键上下文")
)
LONG = "港口的船今天都数过了，仓库也打扫干净了。" * 150


def language_of(request: ScriptedRequest) -> Language:
    """The language of prompt and tools, which is one."""
    is_chinese = "你是一位" in text_of(request.messages[0])
    assert ("运行一条" in str(request.schemas)) is is_chinese
    return "zh" if is_chinese else "en"


async def test_the_first_message_chooses_it(home: Path) -> None:
    model = ScriptedModel([[text("船。")]] * 4)
    async with scripted_assistant(home, model, language="auto") as assistant:
        conversation = assistant.conversations.create()
        for said in (CHINESE, ENGLISH, ENGLISH, CHINESE):
            await say(assistant, conversation, said)
    assert [*map(language_of, model.requests)] == ["zh"] * 4


async def test_a_compaction_chooses_it_anew(home: Path) -> None:
    model = ScriptedModel([[text("Ships.")], [text("船。")], [text(SUMMARY)], [text("好。")]])
    async with scripted_assistant(home, model, language="auto") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, ENGLISH)
        await say(assistant, conversation, LONG)
        await say(assistant, conversation, "/compact")
        await say(assistant, conversation, ENGLISH)
    asked = [request for request in model.requests if request.tools]
    assert [*map(language_of, asked)] == ["en", "en", "zh"]


async def test_it_is_the_same_after_a_restart(home: Path) -> None:
    first, second = ScriptedModel([[text("Ships.")], [text("船。")]]), ScriptedModel([[text("好。")]])
    async with scripted_assistant(home, first, language="auto") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, ENGLISH)
        await say(assistant, conversation, LONG)
    async with scripted_assistant(home, second, language="auto") as assistant:
        await say(assistant, assistant.conversations.open(conversation.session_id), CHINESE)
    assert language_of(second.requests[0]) == "en"


async def test_an_emptied_context_chooses_it_anew(home: Path) -> None:
    model = ScriptedModel([[text("Ships.")], [text("船。")]])
    async with scripted_assistant(home, model, language="auto") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, ENGLISH)
        await say(assistant, conversation, "/clear")
        await say(assistant, conversation, CHINESE)
    assert [*map(language_of, model.requests)] == ["en", "zh"]
