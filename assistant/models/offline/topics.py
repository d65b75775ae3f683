"""What a newcomer says that is no request: courtesy, and questions about the assistant, each with a fixed answer."""

from __future__ import annotations

import re
from typing import Literal

Topic = Literal["courtesy", "setup", "talk", "forget", "today"]
"""Thanks and the like; how to connect a model; what was talked about; how to forget; which day it is."""

_PLEASE = r"^(?:(?:please|can you|could you|do you (?:know|remember)|tell me)[, ]+)*"
_END = r"(?: (?:then|please|there|again|very much|a lot|so much|so far|just now|before))*[\s!.?！。？,，~]*$"
_COURTESY = (
    r"^(?:thanks|thank you|thx|cheers|ok|okay|great|good|nice|cool|perfect|got it|i see|understood|bye|goodbye"
    r"|good ?night|see you)",
    r"^(?:谢谢你?|多谢|好的?|明白了?|知道了|收到|可以|不错|太好了|再见|晚安|辛苦了)",
)
_SETUP = (
    r"^(?=.*\b(?:connect|set ?up|configure|use|install|add|change|switch|get)\b)(?!.*\b(?:my|our|we|did)\b)"
    r"(?=.*\b(?:model|key|llm|ollama|lm studio|gpt|dashscope|openai)\b)(?:how|can|could|what|where|which)\b[^\n]*",
    r"^(?=.*(?:连接|设置|配置|使用|接入|换|安装|切换))(?=.*(?:模型|密钥|ollama))(?!.*我们)[^\n]*(?:怎么|如何|怎样)[^\n]*",
)
_TALK = (
    _PLEASE + r"(?:summari[sz]e|sum up|recap) (?:this|our|the) (?:conversation|chat|talk|discussion)",
    _PLEASE + r"what (?:did |have |were )?(?:we|i) (?:just )?(?:talk(?:ed|ing)?|sa(?:id|y)|discuss(?:ed)?)(?: about)?",
    _PLEASE + r"what did you just (?:save|write(?: down)?|do)",
    r"^(?:请|帮我)*(?:总结|概括)(?:一下)?(?:这次|我们的?|本次)?的?(?:对话|聊天|谈话)",
    r"^(?:刚才|之前)?我们(?:刚才|之前)?都?(?:聊|谈|说)(?:过|了)些?什么",
)
_FORGET = (
    _PLEASE + r"(?:forget|delete|erase|remove)\b[^\n]*",
    r"^(?:请|帮我)*(?:忘记|忘掉|删除|删掉|抹去)[^\n]*",
)
_TODAY = (
    _PLEASE + r"what(?:'s| is) (?:the date(?: today)?|today'?s date|today)",
    _PLEASE + r"what (?:day|date) is (?:it|today)(?: today)?",
    r"^(?:今天|现在)?是?(?:几号|几月几号|什么日子|星期几|周几)[了呢]?",
)
_SOURCES: tuple[tuple[Topic, tuple[str, ...]], ...] = (
    ("courtesy", _COURTESY),
    ("setup", _SETUP),
    ("talk", _TALK),
    ("forget", _FORGET),
    ("today", _TODAY),
)
_PATTERNS: tuple[tuple[Topic, re.Pattern[str]], ...] = tuple(
    (topic, re.compile(source + _END, re.IGNORECASE)) for topic, sources in _SOURCES for source in sources
)


def topic_of(text: str) -> Topic | None:
    """What the text is about if it is none of the requests that look something up."""
    return next((topic for topic, pattern in _PATTERNS if pattern.search(text.strip())), None)
