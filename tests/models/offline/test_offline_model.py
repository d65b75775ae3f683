"""The offline assistant in AgentScope's real loop with its real tools: it looks up, shows, and never pretends."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from agentscope.agent import Agent
from agentscope.permission import PermissionContext, PermissionMode
from agentscope.state import AgentState
from agentscope.tool import FunctionTool, Glob, Grep, Read, ToolBase, Toolkit

from assistant.messages.blocks import (
    AssistantMsg,
    Msg,
    SystemMsg,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
    block_text,
)
from assistant.models.offline.offline_model import OfflineModel

TEA = (
    "<memory>\n[USER.md | undated | relevance 1.00 | Who > Preferences]\n"
    ">     2\tI like oolong tea.\n</memory>\n`>` marks what answers best."
)
GUIDE = "\n".join(
    f'<file path="{name}">\n{text}\n</file>'
    for name, text in (("SOUL.md", "# Me\n- Name:"), ("USER.md", "- Name:"), ("BOOTSTRAP.md", "# Guide"))
)


async def reply_to(text: str, home: Path, prompt: str, tool: str = "", result: str = "") -> str:
    """The reply to a message under a system prompt, after one call that brought a result."""
    done = [ToolResultBlock(id="a", name=tool, output=result, state=ToolResultState.SUCCESS)] if tool else []
    messages: list[Msg] = [SystemMsg("system", prompt), UserMsg("user", text), AssistantMsg("palimpsest", done)]
    stream = await OfflineModel(128_000, home)(messages, [])
    chunks = [chunk async for chunk in stream]  # type: ignore[union-attr]
    return "".join(block_text(chunk.content[0]) for chunk in chunks[:-1])


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = tmp_path / "files"
    (files / "house").mkdir(parents=True)
    (files / "notes.txt").write_text("Buy paint.\nThe gate code is 4711.\n")
    (files / "house" / "plan.md").write_text("# Plan\n```\ncode\n```\n")
    (tmp_path / "USER.md").write_text("# About me\nI like oolong tea.\n")
    monkeypatch.chdir(files)
    # Grep runs ripgrep, which stands beside the interpreter.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


class Talk:
    """A conversation with the offline assistant in one home."""

    def __init__(self, home: Path, tools: list[ToolBase]) -> None:
        model = OfflineModel(128_000, home)
        state = AgentState(permission_context=PermissionContext(mode=PermissionMode.BYPASS))
        self.agent = Agent("palimpsest", "Help.", model, Toolkit(tools=tools), state=state)

    async def say(self, text: str) -> str:
        reply = await self.agent.reply(UserMsg("user", text))
        return block_text(reply.content[-1])

    @property
    def calls(self) -> list[str]:
        blocks = [block for message in self.agent.state.context for block in message.content]
        return [block.name for block in blocks if isinstance(block, ToolCallBlock)]


@pytest.fixture
def talk(home: Path) -> Talk:
    return Talk(home, [Glob(), Grep(), Read()])


async def test_it_says_that_it_is_no_language_model(talk: Talk):
    assert "**not a language model**" in await talk.say("Hello")
    assert "**不是语言模型**" in await talk.say("你好")
    assert talk.calls == []


async def test_files_are_listed_by_the_real_tool(talk: Talk, home: Path):
    reply = await talk.say("list files")

    assert talk.calls == ["Glob"]
    assert reply.startswith("2 files here, the newest first:\n\n- `")
    assert {line for line in reply.splitlines() if line.startswith("- ")} == {
        f"- `{home / 'files' / 'notes.txt'}`",
        f"- `{home / 'files' / 'house' / 'plan.md'}`",
    }


async def test_a_folder_is_listed_alone(talk: Talk, home: Path):
    assert await talk.say("list the files in house/") == (
        f"1 file here, the newest first:\n\n- `{home / 'files' / 'house' / 'plan.md'}`"
    )


async def test_a_file_is_found_by_its_name_and_then_read(talk: Talk):
    assert await talk.say("read notes.txt") == "`notes.txt`:\n\n```\nBuy paint.\nThe gate code is 4711.\n```"
    assert talk.calls == ["Glob", "Read"]


async def test_a_file_with_a_fence_is_shown_in_a_longer_one(talk: Talk):
    assert await talk.say("read plan.md") == "`plan.md`:\n\n````\n# Plan\n```\ncode\n```\n````"


async def test_a_memory_file_is_read_in_the_home(talk: Talk):
    assert await talk.say("读取 USER.md") == "`USER.md`：\n\n```\n# About me\nI like oolong tea.\n```"


async def test_a_file_that_is_not_there_is_said_to_be_missing(talk: Talk):
    assert await talk.say("read missing.txt") == (
        "I found no file named `missing.txt` in the files folder. Give its whole path if it is elsewhere."
    )


async def test_files_are_searched_and_lines_quoted(talk: Talk):
    reply = await talk.say("search for gate CODE")

    assert talk.calls == ["Grep"]
    assert reply.startswith("Lines with “gate CODE”:\n\n```\n")
    assert "The gate code is 4711." in reply
    assert await talk.say("search for submarine") == "I searched the files and found no line with “submarine”."


async def test_without_tools_it_says_so_and_answers_nothing(home: Path):
    talk = Talk(home, [])

    assert await talk.say("read notes.txt") == (
        "I would have to use the tool Glob for that, and it is off in this conversation."
    )
    assert "I answer nothing that I have not looked up" in await talk.say("What is the gate code?")
    assert "我没有保存用的工具" in await talk.say("记住我喜欢茶")


async def test_it_saves_what_it_is_told_and_looks_up_what_it_is_asked(home: Path):
    saved: list[tuple[str, str]] = []

    def memory_save(content: str, category: str) -> str:
        """Save a line.

        Args:
            content: The line.
            category: Where it goes.
        """
        saved.append((content, category))
        return "Saved to USER.md."

    def memory_search(query: str) -> str:
        """Search memory.

        Args:
            query: What for.
        """
        return TEA if "tea" in query else "No matches found in memory for: x\n(Searching by words alone.)"

    talk = Talk(home, [FunctionTool(memory_save), FunctionTool(memory_search)])

    assert await talk.say("Remember that the gate code is 4711") == (
        "Saved, word for word:\n\n> the gate code is 4711\n\nSaved to USER.md."
    )
    assert saved == [("the gate code is 4711", "fact")]
    assert await talk.say("Which tea do I like?") == (
        "From memory, word for word:\n\n> I like oolong tea.\n\n`USER.md:2`"
    )
    assert await talk.say("Who won the final?") == (
        "I looked in memory and found nothing about that. I do not know more than what is written down.\n\n"
        "Searching by words alone."
    )


async def test_names_are_saved_and_asked_for_while_people_have_not_met(home: Path):
    assert await reply_to("call me Ada", home, GUIDE, "memory_save", "Written to USER.md.") == (
        "I will call you Ada.\n\nWritten to USER.md.\n\n"
        "And what would you like to call me? Write *your name is* and the name."
    )
    assert await reply_to("你叫小帕", home, GUIDE, "memory_save", "已写入 SOUL.md。") == (
        "好，我就叫小帕。\n\n已写入 SOUL.md。\n\n我们还没有认识：怎么称呼你？请告诉我：叫我……"
    )
    assert (await reply_to("Hello", home, GUIDE)).endswith("what may I call you? Write *call me* and your name.")
    assert await reply_to("call me Ada", home, "", "memory_save", "Written to USER.md.") == (
        "I will call you Ada.\n\nWritten to USER.md."
    )


@pytest.mark.parametrize(
    ("asked", "line", "reply"),
    [
        ("What is my name?", "- To be called: Ada", "You are Ada: `USER.md:3`"),
        ("我叫什么？", "- 姓名：小林", "你是小林：`USER.md:3`"),
        ("who am I?", "- Name:", "I do not know your name yet. Write *call me* and your name."),
    ],
)
async def test_a_name_is_read_where_it_stands(home: Path, asked: str, line: str, reply: str):
    result = f'<memory path="USER.md">\n     1\t# Who\n     2\t\n     3\t{line}\n</memory>'
    assert await reply_to(asked, home, "", "memory_get", result) == reply


@pytest.mark.parametrize(
    ("text", "category"),
    [("I prefer tea", "user"), ("you should be brief", "soul"), ("the deadline is Friday", "memory")],
)
async def test_the_category_is_one_that_the_tool_offers(home: Path, text: str, category: str):
    schema = {"content": {"type": "string"}, "category": {"enum": ["soul", "user", "memory", "note"]}}
    tool: dict[str, object] = {
        "type": "function",
        "function": {"name": "memory_save", "parameters": {"type": "object", "properties": schema}},
    }
    stream = await OfflineModel(128_000, home)([UserMsg("user", f"remember that {text}")], [tool])

    chunks = [chunk async for chunk in stream]  # type: ignore[union-attr]
    assert f'"category": "{category}"' in block_text(chunks[-1].content[0])


@pytest.mark.parametrize(
    ("state", "reply"),
    [
        ("denied", "You did not allow it, so I left it."),
        ("interrupted", "That was interrupted before it ended. Ask again to have it done."),
        ("error", "That did not work:\n\n```\nno such command\n```"),
    ],
)
async def test_a_call_that_did_not_run_is_told_plainly(home: Path, state: str, reply: str):
    call = ToolCallBlock(id="a", name="Bash", input='{"command": "make"}')
    result = ToolResultBlock(id="a", name="Bash", output="no such command", state=state)  # type: ignore[arg-type]
    messages: list[Msg] = [UserMsg("user", "run `make`"), AssistantMsg("palimpsest", [call, result])]
    stream = await OfflineModel(128_000, home)(messages, [])

    chunks = [chunk async for chunk in stream]  # type: ignore[union-attr]
    assert block_text(chunks[-1].content[0]) == reply


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Thanks!", "Gladly."),
        ("谢谢", "不客气"),
        ("How do I connect a model?", "DASHSCOPE_API_KEY"),
        ("怎么连接模型？", "DASHSCOPE_API_KEY"),
        ("delete my dentist note", "/forget"),
        ("忘掉我的电话", "/forget"),
        ("Summarize our conversation", "/history"),
        ("我们聊过什么？", "/history"),
        ("What is today's date?", "Today is 2026-11-30."),
        ("今天几号？", "今天是 2026-11-30。"),
    ],
)
async def test_what_newcomers_say_beside_requests_is_answered_without_a_search(home: Path, text: str, told: str):
    assert told in await reply_to(text, home, "Rules.\nToday is 2026-11-30.")


async def test_a_command_that_prints_nothing_is_told_in_words(home: Path):
    assert await reply_to("run ls", home, "", "Bash", "  \n") == "The command ran and printed nothing."


async def test_it_does_not_say_that_it_only_looks_things_up(home: Path):
    for text in ("Hello", "你好", "Write me a poem", "写一首诗"):
        reply = await reply_to(text, home, "")
        assert "only look" not in reply
        assert "只会查找" not in reply
