"""What the offline assistant says, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass

from assistant.config.prompts import Language


@dataclass(frozen=True, slots=True)
class OfflineTexts:
    """One sentence for each situation; `{…}` marks what is put in."""

    introduction: str
    unclear: str
    courtesy: str
    setup: str
    talk: str
    forget: str
    today: str
    saved: str
    cannot_save: str
    from_memory: str
    cite_note: str
    cite_person: str
    cite_answer: str
    nothing_in_memory: str
    known_of_person: str
    nothing_of_person: str
    named_person: str
    named_assistant: str
    name_of_person: str
    name_of_assistant: str
    no_name_of_person: str
    no_name_of_assistant: str
    ask_name_of_person: str
    ask_name_of_assistant: str
    no_memory_search: str
    tools_off: str
    files: str
    no_files: str
    empty_folder: str
    no_such_file: str
    several_files: str
    file: str
    file_start: str
    empty_file: str
    hits: str
    no_hits: str
    command: str
    silent_command: str
    more: str
    denied: str
    failed: str
    failed_silently: str
    interrupted: str

    @property
    def sentences(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(str(value) for value in astuple(self))


_ENGLISH = OfflineTexts(
    introduction=(
        "I am the built-in offline assistant. I am **not a language model** but follow fixed rules: I keep what you "
        "tell me, look things up and show you what stands there. I do not reason, compose or guess.\n\n"
        "You can ask me to\n"
        "- **list files**, **find** `*.md`, **read** `notes.txt` or **search for** a word in your files,\n"
        "- **remember that** something is so, and ask me for it later, in English or Chinese,\n"
        "- **call me** by a name, and give me one,\n"
        "- **run** a command, such as *run ls -l*; what could change something runs once you have allowed it.\n\n"
        "For a real conversation connect a model: set a key, or start Ollama or LM Studio on this machine. Nothing you "
        "write here is lost when you do."
    ),
    unclear=(
        "I am the offline assistant, not a language model, and none of my rules fits that. Should I keep it? Then "
        "write *remember that* in front of it. Is it a question to your memory? Then put a question mark behind it. "
        "Write *help* to see what I can do."
    ),
    courtesy="Gladly. Ask me whenever you want something looked up or kept.",
    setup=(
        "Set a key in the environment or in the file `.env` of the home, such as `DASHSCOPE_API_KEY` or "
        "`OPENAI_API_KEY`, or start Ollama or LM Studio on this machine. Then look again, in the page under *Model*. "
        "Everything you wrote here is there for the new model too."
    ),
    talk=(
        "I cannot sum it up: I am not a language model. */history* shows your newest messages here, and the search box "
        "finds every word of every conversation."
    ),
    forget=(
        "I delete nothing by myself. Write */forget* and a few of its words: you see every sentence with them, "
        "wherever it stands, and choose what goes. A whole conversation goes by the *⋯* beside it in the list."
    ),
    today="Today is {today}.",
    saved="Saved, word for word:\n\n> {text}\n\n{detail}",
    cannot_save=(
        "I have no tool to save things with in this conversation. You can write it into a memory file yourself, in the "
        "panel beside the chat."
    ),
    from_memory="From memory, word for word:\n\n{result}",
    cite_note="{place}{day}",
    cite_person="{place}, you said so on {day}",
    cite_answer="{place}, answered on {day}",
    nothing_in_memory="I looked in memory and found nothing about that. I do not know more than what is written down.",
    known_of_person="This is what is written down about you, word for word:\n\n{result}",
    nothing_of_person="Nothing is written down about you yet. Write *remember that* in front of what I should keep.",
    named_person="I will call you {name}.\n\n{detail}",
    named_assistant="Then I am {name}.\n\n{detail}",
    name_of_person="You are {name}: {place}",
    name_of_assistant="I am {name}: {place}",
    no_name_of_person="I do not know your name yet. Write *call me* and your name.",
    no_name_of_assistant="I have no name yet. Give me one: write *your name is* and the name.",
    ask_name_of_person="We have not met yet: what may I call you? Write *call me* and your name.",
    ask_name_of_assistant="And what would you like to call me? Write *your name is* and the name.",
    no_memory_search="Memory search is off, and I answer nothing that I have not looked up.",
    tools_off="I would have to use the tool {tool} for that, and it is off in this conversation.",
    files="{count} here, the newest first:\n\n{result}",
    no_files="There are no files here: I found none for `{name}`.",
    empty_folder="There are no files here yet.",
    no_such_file="I found no file named `{name}` in the files folder. Give its whole path if it is elsewhere.",
    several_files="Several files are named like that. Which one? Give its whole path:\n\n{result}",
    file="`{name}`:\n\n{result}",
    file_start="`{name}`, the first {shown} of {total} characters:\n\n{result}",
    empty_file="`{name}` is empty.",
    hits="Lines with “{text}”:\n\n{result}",
    no_hits="I searched the files and found no line with “{text}”.",
    command="The command's output:\n\n{result}",
    silent_command="The command ran and printed nothing.",
    more="… and {count} more.",
    denied="You did not allow it, so I left it.",
    failed="That did not work:\n\n{result}",
    failed_silently="That did not work, and the tool did not say why.",
    interrupted="That was interrupted before it ended. Ask again to have it done.",
)

_CHINESE = OfflineTexts(
    introduction=(
        "我是内置的离线助手，**不是语言模型**：我按固定的规则办事：记下你说的，替你查找，把查到的原样给你看。我不推理，不写作，也不猜测。\n\n"
        "你可以让我\n"
        "- **列出文件**、**查找文件** `*.md`、**读取** `notes.txt`，或在文件里**搜索**一个词；\n"
        "- **记住**一件事，以后用中文或英文再来问我；\n"
        "- 告诉我**怎么称呼你**，也给我起个名字；\n"
        "- **运行**一条命令，例如“运行 ls -l”；会改动东西的命令，要等你允许才运行。\n\n"
        "想要真正的对话，请连接一个模型：设置密钥，或在本机启动 Ollama 或 LM Studio。你在这里写下的内容不会因此丢失。"
    ),
    unclear=(
        "我是离线助手，不是语言模型，没有哪条规则适用于这句话。要我把它存下来吗？请在前面加上“记住”。"
        "想在记忆里查它吗？请在后面加上问号。输入“帮助”可以看到我会做的事。"
    ),
    courtesy="不客气。想查什么、想记什么，随时告诉我。",
    setup=(
        "请在环境变量或主文件夹的 `.env` 文件里设置密钥，例如 `DASHSCOPE_API_KEY` 或 `OPENAI_API_KEY`，"
        "或者在本机启动 Ollama 或 LM Studio，然后在页面的 *Model* 里重新查找。你在这里写下的一切，新的模型也能用。"
    ),
    talk="我不是语言模型，不会总结。输入 */history* 可以看到你最近的话；搜索框能找到每次对话里的每一个词。",
    forget=(
        "我自己不会删除任何东西。请输入 */forget* 和其中的几个词：每一句含有这些词的话都会列出来，由你选择抹去哪些。"
        "要删除整个对话，请点列表里它旁边的 *⋯*。"
    ),
    today="今天是 {today}。",
    saved="已经一字不差地记下：\n\n> {text}\n\n{detail}",
    cannot_save="这次对话里我没有保存用的工具。你可以在聊天旁边的面板里，自己把它写进记忆文件。",
    from_memory="记忆里的原话：\n\n{result}",
    cite_note="{place}{day}",
    cite_person="{place}，你在 {day} 说的",
    cite_answer="{place}，{day} 的回答",
    nothing_in_memory="我查了记忆，没有找到相关的内容。没有写下来的事，我不知道。",
    known_of_person="关于你，记下来的原话是：\n\n{result}",
    nothing_of_person="关于你，还什么都没有记下来。想让我记住的事，请在前面加上“记住”。",
    named_person="好，以后叫你{name}。\n\n{detail}",
    named_assistant="好，我就叫{name}。\n\n{detail}",
    name_of_person="你是{name}：{place}",
    name_of_assistant="我叫{name}：{place}",
    no_name_of_person="我还不知道你的名字。请告诉我：叫我……",
    no_name_of_assistant="我还没有名字。给我起一个吧：你叫……",
    ask_name_of_person="我们还没有认识：怎么称呼你？请告诉我：叫我……",
    ask_name_of_assistant="你想怎么称呼我？请告诉我：你叫……",
    no_memory_search="记忆搜索没有打开，而没有查到的事我不会回答。",
    tools_off="这需要用到工具 {tool}，但它在这次对话里没有打开。",
    files="共 {count}，最新的在前：\n\n{result}",
    no_files="这里没有文件：没有找到与 `{name}` 相符的。",
    empty_folder="这里还没有文件。",
    no_such_file="文件夹里没有名为 `{name}` 的文件。如果它在别处，请给出完整路径。",
    several_files="有好几个这样的文件，你要哪一个？请给出完整路径：\n\n{result}",
    file="`{name}`：\n\n{result}",
    file_start="`{name}`，全文 {total} 个字符，这里是前 {shown} 个：\n\n{result}",
    empty_file="`{name}` 是空的。",
    hits="含有“{text}”的行：\n\n{result}",
    no_hits="我搜索了文件，没有哪一行含有“{text}”。",
    command="命令的输出：\n\n{result}",
    silent_command="命令运行完了，没有输出。",
    more="……还有 {count} 个。",
    denied="你没有允许，所以我没有做。",
    failed="没有成功：\n\n{result}",
    failed_silently="没有成功，工具也没有说明原因。",
    interrupted="还没有做完就被打断了。需要的话请再说一次。",
)

TEXTS: Mapping[Language, OfflineTexts] = {"en": _ENGLISH, "zh": _CHINESE}


def count_files(count: int, language: Language) -> str:
    """`1 file`, `3 files`, `3 个文件`."""
    if language == "zh":
        return f"{count} 个文件"
    return f"{count} file{'' if count == 1 else 's'}"
