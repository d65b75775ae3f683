"""What a session holds that must not be lost, found by cue words in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from assistant.openclaw.wording import (
    Stems,
    asks_something,
    first_sentence,
    has_stem,
    is_pleasantry,
    stem_text,
    stems_of,
)

FindingCategory = Literal["Preference", "Decision", "Creative", "Conversation", "Technical", "Warning"]
Speaker = Literal["user", "assistant", "summary"]

# A cue far inside a long text is rarely one; and a session may hold a hundred megabytes.
_HEAD_CHARS = 2_000
_TAIL_CHARS = 1_000
_SENTENCE_CHARS = 400
_CREATIVE_CHARS = 60
_TITLE_CHARS = 60


@dataclass(frozen=True, slots=True)
class SessionFinding:
    """One thing worth keeping: where it is, what it is, in whose words, and why it matters."""

    line: int
    category: FindingCategory
    title: str
    content: str
    source: Speaker
    context: str = ""


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch of a text in which cues are looked for."""

    text: str
    stemmed: bytes


class Finder:
    """Looks at the texts of a session in order and collects what is worth keeping."""

    def __init__(self) -> None:
        self.findings: list[SessionFinding] = []
        self._question = ""
        self._request = ""

    def hear_user(self, line: int, words: str) -> None:
        """Look at what the person said; `words` is without envelopes."""
        if not words:
            return
        parts = _scanned(words)
        if self._question and _is_consent(words):
            self._keep(line, "Decision", f"{self._question} → {words}", "user", self._question)
        else:
            self._cue(line, "Decision", _DECISION, parts, "user")
        if not words.rstrip().endswith(("?", "？")):
            self._cue(line, "Preference", _PREFERENCE, parts, "user")
        self._cue(line, "Warning", _WARNING, parts, "user")
        self._cue(line, "Conversation", _NOTABLE, parts, "user")
        self._request = words if _CREATIVE.search(words[:_HEAD_CHARS]) else ""
        self._question = ""

    def hear_assistant(self, line: int, text: str, asks: bool) -> None:
        """Look at what the assistant said; `asks` when it ends in a question."""
        if not text:
            return
        if self._request and len(text) >= _CREATIVE_CHARS and not asks_something(text[:200]):
            title = first_sentence(self._request, _TITLE_CHARS)
            self.findings.append(SessionFinding(line, "Creative", title, text.strip(), "assistant", self._request))
            self._request = ""
        else:
            parts = _scanned(text)
            self._cue(line, "Technical", _TECHNICAL, parts, "assistant")
            self._cue(line, "Decision", _DECISION, parts, "assistant")
            self._cue(line, "Warning", _WARNING, parts, "assistant")
            self._cue(line, "Conversation", _NOTABLE, parts, "assistant")
        self._question = _last_question(text) if asks else ""

    def _cue(
        self, line: int, category: FindingCategory, cue: re.Pattern[str], parts: Sequence[_Part], source: Speaker
    ) -> None:
        for part in parts:
            # Most texts hold no cue: looking for plain words first is ten times as fast as the pattern.
            if not has_stem(part.stemmed, _STEMS[category]):
                continue
            for found in cue.finditer(part.text):
                self._keep(line, category, _sentence_around(part.text, found.start(), found.end()), source)

    def _keep(self, line: int, category: FindingCategory, content: str, source: Speaker, context: str = "") -> None:
        if not content or is_pleasantry(content):
            return
        last = self.findings[-1] if self.findings else None
        if last is not None and (last.line, last.category, last.content) == (line, category, content):
            return
        title = first_sentence(content, _TITLE_CHARS)
        self.findings.append(SessionFinding(line, category, title, content, source, context))


def newest_once(findings: Sequence[SessionFinding]) -> tuple[SessionFinding, ...]:
    """The findings without repetitions, oldest first; of two with one content the newer one stays."""
    newest: dict[tuple[FindingCategory, str], SessionFinding] = {}
    for finding in findings:
        newest.pop((finding.category, finding.content), None)
        newest[finding.category, finding.content] = finding
    return tuple(newest.values())


_PREFERENCE = re.compile(
    r"\bI (?:really |much |strongly |usually |always |never )*(?:prefer|like|love|hate|dislike|enjoy|want you to)\b"
    r"|\bI(?:'m| am) (?:allergic|vegetarian|vegan|a |an |based in|from )"
    r"|\bI (?:live|work) (?:in|at|as|for)\b"
    r"|\bmy (?:name|birthday|email|e-mail|phone|address|time ?zone|job|wife|husband|partner|daughter|son|boss|company"
    r"|editor|favou?rite [\w ]{1,30})(?: address| number)? (?:is|are)\b"
    r"|\bcall me\b|\bfrom now on\b|\bplease (?:always|never)\b"
    r"|\b(?:always|never) (?:use|write|answer|reply|call|ask|send)\b"
    r"|我(?:更|最|比较|很|特别|非常|一直|一般|通常)?(?:喜欢|偏好|偏爱|讨厌|不喜欢|爱用|习惯)|我叫|叫我|我是(?:一[名个位])"
    r"|我(?:住在|来自|在.{1,12}工作)|我对.{1,12}过敏"
    r"|我的(?:名字|生日|邮箱|电话|地址|时区|工作|职业|妻子|丈夫|女儿|儿子|老板|公司)(?:是|叫)"
    r"|以后(?:都|请|要|就|不要|别)|从现在(?:开始|起)|请(?:始终|总是|一直|不要再)|不要再",
    re.IGNORECASE,
)
_DECISION = re.compile(
    r"\b(?:we|I)(?:'ve| have|'ll| will)? (?:decided?|agreed|settled|chose|chosen|concluded?|go(?:ing)? with|opted)\b"
    r"|\blet(?:'s|s| us) (?:go with|use|choose|pick|settle|adopt|do it)\b"
    r"|\b(?:final |key )?(?:decision|conclusion)\s*[:：]"
    r"|\bgo with (?:option|plan|the )\b|\bthe decision is\b"
    r"|(?<!没)(?<!未)决定(?!不了)(?:了|是|用|采用|使用|改|把|先|将|：|:)?|就(?:按|用|选)|采用(?!了吗)|选定|敲定|定下来|最终方案|结论(?:是|：|:)|确定(?:用|使用|采用)",
    re.IGNORECASE,
)
_TECHNICAL = re.compile(
    r"\b(?:root cause|the (?:real |actual )?(?:problem|issue|bug|error|cause) (?:was|is|turned out)"
    r"|(?:is|was|been|I) (?:now )?fixed"
    r"|fixed (?:the|it|by|in)|fix(?:es)? (?:was|is|for)|work-?around|solution\s*(?:is|was|:)"
    r"|resolved (?:by|the|it)|solved by)\b"
    r"|根(?:本)?(?:原)?因|原因(?:是|在于|：|:)|问题(?:出在|在于|是由)|(?:已|已经)?(?:修复|解决)(?:了|方案|方法|办法|：|:)|解决(?:方案|方法|办法)|规避(?:方法|方案)",
    re.IGNORECASE,
)
_WARNING = re.compile(
    r"(?:^|[\n.!?] ?)\W*(?:warning|caution|careful|beware|important)\s*[:：!]|\b(?:do not|don't|must not|never) "
    r"(?:ever |delete|remove|touch|run|push|deploy|restart|overwrite|change|edit|commit)\b"
    r"|\bbe careful\b|\bwill break\b"
    r"|(?:警告|小心|当心|危险|注意)[:：!！]|(?:千万|切记|务必|绝对)(?:不要|别|不能|不可)?|不要(?:删|动|改|碰|运行|重启|覆盖|提交)",
    re.IGNORECASE,
)
_NOTABLE = re.compile(
    r"\b(?:remember (?:this|that|our|what)|keep in mind|don't forget|lesson learn(?:ed|t)|key insight|for the record"
    r"|worth remembering)\b|(?:请|要)?记住|别忘了|不要忘|值得记|教训(?:是)?|感悟|重要的是",
    re.IGNORECASE,
)
# Every match of a category's pattern holds one of its stems.
_STEMS: dict[FindingCategory, Stems] = {
    "Preference": stems_of(
        *("prefer", "like", "love", "hate", "enjoy", "i want you", "allerg", "vegetarian", "vegan", "i'm a", "i am a"),
        *(
            "based in",
            "from",
            "i live",
            "i work",
            "my ",
            "call me",
            "always",
            "never",
            "我",
            "以后",
            "从现在",
            "请",
            "不要再",
        ),
    ),
    "Decision": stems_of(
        *("decid", "decision", "agree", "settle", "chose", "conclu", "go with", "going with", "opted", "let"),
        *("决定", "就按", "就用", "就选", "采用", "选定", "敲定", "定下来", "最终方案", "结论", "确定"),
    ),
    "Technical": stems_of(
        *("cause", "problem", "issue", "bug", "error", "fix", "workaround", "work-around", "solution", "solved"),
        *("resolved", "原因", "根因", "问题", "修复", "解决", "规避"),
    ),
    "Warning": stems_of(
        *("warning", "caution", "careful", "beware", "important", "do not", "don't", "must not", "never", "will break"),
        *("警告", "小心", "当心", "危险", "注意", "千万", "切记", "务必", "绝对", "不要"),
    ),
    "Conversation": stems_of(
        *("remember", "keep in mind", "forget", "lesson", "insight", "for the record"),
        *("记住", "别忘了", "不要忘", "值得记", "教训", "感悟", "重要的是"),
    ),
    "Creative": stems_of(),
}
_CREATIVE = re.compile(
    r"\b(?:write|compose|draft|make up|create|tell)\b(?: \w+){0,6}? "
    r"(?:poem|haiku|sonnet|story|song|lyrics|essay|novel|chapter|limerick|fairy tale|speech|screenplay)\b"
    r"|(?:写|作|创作|编|来)(?:[^，。！？\n]{0,10})(?:诗|词|故事|歌|歌词|小说|散文|作文|文案|童话|剧本|对联|随笔|演讲稿)",
    re.IGNORECASE,
)
_CONSENT = re.compile(
    r"\s*(?:yes|yep|yeah|ok(?:ay)?|sure|agreed|go ahead|do it|sounds good|the (?:first|second|third|last)"
    r"|option \w+|no\b|let's|好|可以|行|对|是|同意|就|按|选|用|不要|不用|第.)",
    re.IGNORECASE,
)
_CONSENT_CHARS = 200
_BOUNDARY = re.compile(r"[.!?](?=\s)|[。！？\n]")


def _is_consent(words: str) -> bool:
    return len(words) <= _CONSENT_CHARS and _CONSENT.match(words) is not None


def _scanned(text: str) -> tuple[_Part, ...]:
    if len(text) <= _HEAD_CHARS + _TAIL_CHARS:
        return (_Part(text, stem_text(text)),)
    head, tail = text[:_HEAD_CHARS], text[-_TAIL_CHARS:]
    return (_Part(head, stem_text(head)), _Part(tail, stem_text(tail)))


def _sentence_around(text: str, start: int, end: int) -> str:
    begin = max((found.end() for found in _BOUNDARY.finditer(text, 0, start)), default=0)
    after = _BOUNDARY.search(text, max(end - 1, start))
    stop = after.end() if after else len(text)
    sentence = " ".join(text[begin:stop].split()).strip("-*•#> ")
    return sentence if len(sentence) <= _SENTENCE_CHARS else sentence[: _SENTENCE_CHARS - 1] + "…"


def _last_question(text: str) -> str:
    parts = [part for part in re.split(r"(?<=[?？!！。.])\s*|\n", text[-600:]) if part.strip()]
    asked = next((part for part in reversed(parts) if asks_something(part)), parts[-1] if parts else "")
    return " ".join(asked.split())[-_SENTENCE_CHARS:]
