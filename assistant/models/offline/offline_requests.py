"""What a person asks of the offline assistant, recognised by fixed patterns in English and Chinese (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from assistant.models.offline.topics import Topic, topic_of

Whose = Literal["person", "assistant"]


@dataclass(frozen=True, slots=True)
class Remember:
    """Save this."""

    text: str


@dataclass(frozen=True, slots=True)
class ListFiles:
    """Show which files there are; an empty folder means the files folder."""

    folder: str


@dataclass(frozen=True, slots=True)
class FindFiles:
    """Find files by a part of their name or a pattern."""

    name: str


@dataclass(frozen=True, slots=True)
class ReadFile:
    """Show the text of a file."""

    path: str


@dataclass(frozen=True, slots=True)
class SearchFiles:
    """Show the lines of files that contain a text; an empty place means the files folder."""

    text: str
    place: str


@dataclass(frozen=True, slots=True)
class RunCommand:
    """Run a shell command."""

    command: str


@dataclass(frozen=True, slots=True)
class AskMemory:
    """Look up what is remembered."""

    question: str


@dataclass(frozen=True, slots=True)
class TellName:
    """Save what somebody is called; `is_form_of_address` where it is what to call them, not their whole name."""

    whose: Whose
    name: str
    is_form_of_address: bool = False


@dataclass(frozen=True, slots=True)
class AskName:
    """Say what somebody is called."""

    whose: Whose


@dataclass(frozen=True, slots=True)
class AskAboutPerson:
    """Show what is known of the person."""


@dataclass(frozen=True, slots=True)
class Introduce:
    """Say what the assistant is and can do."""


@dataclass(frozen=True, slots=True)
class Speak:
    """Say what is always said of this topic."""

    topic: Topic


@dataclass(frozen=True, slots=True)
class Unclear:
    """None of the patterns fits."""

    text: str


MemoryRequest = Remember | AskMemory | TellName | AskName | AskAboutPerson
OfflineRequest = (
    MemoryRequest | ListFiles | FindFiles | ReadFile | SearchFiles | RunCommand | Introduce | Speak | Unclear
)

_PLEASE = r"^(?:(?:please|hey|ok|okay|now|can you|could you|would you)[, ]+)*"
_ASKING = r"^(?:请你?|麻烦你?|帮我|你)*"
_NAME = r"(?P<name>`[^`]+`|\"[^\"]+\"|“[^”]+”|「[^」]+」|\S+?)"
_END = r"[.!?。！？\s]*$"


def _patterns(*sources: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(source, re.IGNORECASE | re.DOTALL) for source in sources)


_RUN = _patterns(
    _PLEASE + r"run\s+(?:the command\s+)?`(?P<text>[^`]+)`" + _END,
    _ASKING + r"(?:运行|执行)(?:一下|命令)*\s*[`「](?P<text>[^`」]+)[`」]" + _END,
    # Without marks a command is one line that begins like one; it is shown before it runs.
    r"^(?:please )?(?:run|execute)(?: the command)?:? (?P<text>[a-z][\w./-]*(?: [^\n`?]+)?)$",
    r"^(?:请|帮我)*(?:运行|执行)(?:一下|命令)*[：:\s]*(?P<text>[a-z][\w./-]*(?: [^\n`？?]+)?)$",
)
_REMEMBER = _patterns(
    _PLEASE + r"(?:remember|note|keep in mind|write down|don'?t forget)(?:\s*:|\s+that\b)?\s+(?P<text>.+)$",
    _ASKING + r"(?:记住|记下来?|记一下|别忘了)[：:，,\s]*(?P<text>.{2,})$",
    # The request may come last, behind the end of what is to be kept.
    r"^(?P<text>.+?)[.,;!]\s+(?:(?:and|so|please)[, ]+)*(?:remember (?:that|this|it)|keep (?:that|this|it) in mind"
    r"|note (?:that|this)(?: down)?|write (?:that|this|it) down|don'?t forget(?: that| this| it)?)(?:,? please)?"
    + _END,
    r"^(?P<text>.+?)[。，,；;.！!\s]\s*(?:请|麻烦)?你?(?:帮我)?(?:记住|记下来?|记一下|别忘了)(?:这一?点|这件事|这个|它)?[吧哦啊]?"
    + _END,
)
_SEARCH = _patterns(
    _PLEASE + r"(?:which|what|in which) files? (?:contains?|mentions?|has|have)\s+(?P<text>.+?)" + _END,
    _PLEASE + r"(?:grep|search|look)\s+(?:(?:in\s+)?(?:the |my |all )?files?\s+)?(?:for\s+)?(?P<text>.+?)"
    r"(?:\s+in\s+(?:(?:the |my |all )*files?|(?P<place>\S+?)))?" + _END,
    _ASKING + r"(?:哪些|哪个)文件(?:里|中)?(?:包含|提到|有)\s*(?P<text>.+?)" + _END,
    _ASKING + r"(?:在文件(?:中|里)?)?(?:搜索|查找|搜一下|找一下)(?:文件(?:中|里)?的?)?[：:\s]*(?P<text>.+?)" + _END,
)
_FIND = _patterns(
    _PLEASE + r"(?:find|locate)\s+(?:the |a |all )?(?:files? )?(?:named |called )?" + _NAME + r"(?:\s+files?)?" + _END,
    _ASKING + r"(?:找到?|查找)(?:名为|叫)?(?:文件)\s*" + _NAME + _END,
)
_READ = _patterns(
    _PLEASE + r"(?:read|open|show(?: me)?|cat|display|print)\s+(?:the )?(?:file |contents? of )?" + _NAME + _END,
    _ASKING + r"(?:读取?|打开|看看|查看|显示)(?:一下)?(?:文件)?\s*" + _NAME + r"\s*(?:的内容|这个文件|文件)?" + _END,
)
_LIST = _patterns(
    r"^ls(?:\s+(?P<place>\S+))?" + _END,
    _PLEASE + r"(?:list|show(?: me)?|what|which)\b.*?\b(?:files?|folder|directory|workspace)\b"
    r"(?:.*?\b(?:in|of|under)\s+(?:the )?(?P<place>[\w./~-]*[/.][\w./~-]*))?.*$",
    r"^.*(?:列出|有哪些|有什么|所有).*(?:文件|目录|工作区).*$",
)
_WEB = _patterns(
    _PLEASE + r"(?:search|google|browse|look up|surf|open)\b.*\b(?:the web|internet|online|google|websites?)\b",
    _ASKING + r"(?:能|可以)?(?:上网|(?:在)?(?:网上|互联网上?)(?:搜索|查找|搜|查))",
)
_THEIR_NAME = r"(?P<name>[^\s,，。.!！?？:：;；\"“”]+(?: [A-Z][^\s,，。.!！?？:：;；\"“”]*){0,2})"
_CHINESE_NAME = (
    r"[“「\"]?(?P<name>(?:(?!什么|谁|啥|名字)[^\s,，。.!！?？:：;；\"“”「」吧吗]){1,20})[”」\"]?(?:吧|就好|就行|好了)*"
)
_CALLED_PERSON = _patterns(
    r"^(?:(?:please|just|you can|you may|hi|hello|hey)[,! ]+)*call me " + _THEIR_NAME + _END,
    r"^(?:你好|嗨|请|你|以后|就|可以|直接|都|[，,！!\s])*(?:叫我|称呼我为?)" + _CHINESE_NAME + _END,
)
_NAMED_PERSON = _patterns(
    r"^(?:(?:hi|hello|hey)[,! ]+)*(?:my name is|my name's|the name is) " + _THEIR_NAME + _END,
    r"^(?:你好|嗨|[，,！!\s])*(?:我叫|我的名字(?:是|叫)|我名叫)" + _CHINESE_NAME + _END,
)
_NAMED_ASSISTANT = _patterns(
    r"^(?:your name is|your name shall be|i(?:'ll| will|'d like to| want to)? call you|you are called|let's call you) "
    + _THEIR_NAME
    + _END,
    r"^(?:那|以后|从现在起|我|就|想|要|[，,\s])*(?:你的名字(?:就?是|就?叫)|你就?叫|叫你|称呼你为?)"
    + _CHINESE_NAME
    + _END,
)
_ASKED_NAME_OF_PERSON = _patterns(
    r"^(?:(?:and|so|do you know|can you tell me|tell me)[, ]+)*"
    r"(?:what(?:'s| is) my name|who am i|what am i called|my name)" + _END,
    r"^(?:你?(?:还)?(?:知道|记得))?(?:我叫(?:什么|啥)(?:名字)?|我的名字(?:是|叫)?(?:什么|啥)?|我是谁)(?:吗|呢)?" + _END,
)
_ASKED_NAME_OF_ASSISTANT = _patterns(
    r"^(?:(?:and|so)[, ]+)*(?:what(?:'s| is) your name|what are you called|your name)" + _END,
    r"^(?:你叫(?:什么|啥)(?:名字)?|你的名字(?:是|叫)?(?:什么|啥)?)(?:呢)?" + _END,
)
_ASKED_ABOUT_PERSON = _patterns(
    r"^(?:what|tell me what) do you (?:know|remember)(?: about me| of me)?" + _END,
    r"^(?:你)?(?:都)?(?:知道|记得|了解)(?:些)?(?:我|关于我)(?:的)?(?:些|哪些|什么|哪些事)+" + _END,
    r"^关于我[，,]?你(?:都)?(?:知道|记得)(?:些)?什么" + _END,
)
_INTRODUCE = _patterns(
    r"^(?:hi|hello|hey|good (?:morning|afternoon|evening)|help|/help|who are you|what are you|what can you do"
    r"|how are you|what can i (?:do|ask)|how does this work|how do i (?:start|begin|use this)|what is this"
    r"|你好吗|怎么用"
    r"|你好|您好|早上好|帮助|你是谁|你是什么|你会什么|你能做什么|你可以做什么)(?: there)?[\s!.?！。？,，~]*$"
)
_QUESTION = _patterns(
    r"[?？]\s*$",
    r"^(?:what|who|whose|when|where|which|why|how|do|does|did|is|are|was|were|can|could|have|has|tell me|recall)\b",
    r"吗[。\s]*$|什么|谁|哪里|哪儿|哪个|哪些|怎么|为什么|多少|几(?:个|点|号|岁)|何时",
)
_MEMORY_WORDS = re.compile(r"\b(?:memory|memories|notes?|remembered|conversations?|chats?)\b|记忆|笔记|对话|聊天", re.I)
_FILE_NAME = re.compile(r"[\w*?\])][.][A-Za-z0-9*]{1,8}$|[/\\*]")


def read_request(text: str) -> OfflineRequest:
    """What the person asks for. A text that could be two things is the more specific one."""
    text = text.strip()
    if found := _first(_RUN, text):
        return RunCommand(found["text"].strip())
    is_question = any(pattern.search(text) for pattern in _QUESTION)
    if (found := _first(_REMEMBER, text)) and not text.endswith(("?", "？")):
        return Remember(found["text"].strip())
    if _first(_WEB, text):
        return Unclear(text)
    if _first(_INTRODUCE, text):
        return Introduce()
    if topic := topic_of(text):
        return Speak(topic)
    if naming := _naming_request(text):
        return naming
    return _file_request(text) or (AskMemory(text) if is_question or _MEMORY_WORDS.search(text) else Unclear(text))


def _naming_request(text: str) -> MemoryRequest | None:
    if _first(_ASKED_NAME_OF_PERSON, text):
        return AskName("person")
    if _first(_ASKED_NAME_OF_ASSISTANT, text):
        return AskName("assistant")
    if _first(_ASKED_ABOUT_PERSON, text):
        return AskAboutPerson()
    if text.endswith(("?", "？")):
        return None
    if found := _first(_CALLED_PERSON, text):
        return TellName("person", found["name"], is_form_of_address=True)
    if found := _first(_NAMED_PERSON, text):
        return TellName("person", found["name"])
    if found := _first(_NAMED_ASSISTANT, text):
        return TellName("assistant", found["name"])
    return None


def _file_request(text: str) -> OfflineRequest | None:
    if (found := _first(_READ, text)) and _is_file_name(found["name"]):
        return ReadFile(_unquoted(found["name"]))
    if (found := _first(_FIND, text)) and _is_file_name(found["name"]):
        return FindFiles(_unquoted(found["name"]))
    if (found := _first(_SEARCH, text)) and not _MEMORY_WORDS.search(text):
        return SearchFiles(_unquoted(found["text"]), found.groupdict().get("place") or "")
    if found := _first(_LIST, text):
        return ListFiles((found.groupdict().get("place") or "").rstrip("?？."))
    return None


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> re.Match[str] | None:
    return next((found for pattern in patterns if (found := pattern.search(text))), None)


def _is_file_name(name: str) -> bool:
    return _unquoted(name) != name or bool(_FILE_NAME.search(name))


def _unquoted(name: str) -> str:
    stripped = name.strip()
    return stripped[1:-1].strip() if len(stripped) > 2 and stripped[0] in "`\"“「'" else stripped
