"""Whether a line for memory is carried by what somebody said: their names, numbers and words, in other order (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from assistant.index.text.terms import cjk_share
from assistant.memory.plain_forms import plain_form
from assistant.memory.word_forms import group_of, is_frame, is_function, is_neutral, number_of, stem
from assistant.text.labels import CALLED_LABELS, NAME_LABELS, read_label
from assistant.text.markdown import without_bullet, without_code
from assistant.text.passages import fold, passages_of

_WINDOW_SENTENCES = 4
"""A long line may gather what was said in a few sentences that follow each other."""
_SHORT_LINE_WORDS = 4
"""A line of so many words is carried by one sentence alone: taken from several, they would say anything."""
_SHORT_LINE_CHARACTERS = 8
_MISSED_SHARE = 0.34
"""So many words may be the writer's own, where they are neutral ones."""
_PAIR_SHARE = 0.4
_CHARACTER_SHARE = 0.75
"""The same for Chinese, where pairs of characters change with the order of the words."""
_NAME_GAP_CHARS = 3
"""Between a word that introduces a name and the name."""
_CJK = "\u3400-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+(?:['’.@:/+\-_][^\W_{_CJK}]+)*")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_QUOTED = re.compile(r"[\"“「『《`](.{1,200}?)[\"”」』》`]")
_DATE = re.compile(r"(?P<year>\d{4})[-/年](?P<month>\d{1,2})[-/月](?P<day>\d{1,2})日?")
_RELATIVE_DAY = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|ago|(?:next|last|this|on|in|by|every)\s+\w*\s?(?:day|week|month|year"
    r"|mon|tues|wednes|thurs|fri|satur|sun)\w*)\b|[今明昨后前]天|[今明昨]晚|下?个?(?:周|星期|礼拜)[一二三四五六日天]?|[今明去]年|上?下?个?月",
    re.IGNORECASE,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NEGATION = re.compile(
    r"\b(?:not?|never|without|cannot|nothing|none|avoid\w*|quit|stop(?:ped|s)?|gave up|instead of|rather than)\b"
    r"|n['’]t\b|不|没|無|无|别|勿|避免|戒",
    re.IGNORECASE,
)
# A clause with a subject of its own is not under the denial before it.
_CLAUSE_END = re.compile(r"[,;，；]\s*(?=(?:but|and)?\s*(?:i|we|he|she|it|they|my|our)\b|我|但|而|也)|[;；]|\bbut\b|但")
_QUESTION = re.compile(r"[?？]\W*$|[吗呢]\W*$")
_REQUEST = re.compile(r"^\W*(?:please|can|could|would|will)\b(?!['’])|请|可以|能不能|能否", re.IGNORECASE)
_INTRODUCTION = re.compile(
    r"\b(?:name(?:'s|d| is)?|i['’]?m|i am|call(?:ed)? me|call(?:ed)? you|called?|you(?:['’]re| are)|this is|as)\b"
    r"|叫|我是|你是|名字|姓名|称呼|喊",
    re.IGNORECASE,
)
_LIKES = re.compile(
    r"\b(?:like[sd]?|love[sd]?|enjoy\w*|prefer\w*|fond|favou?rite)\b|喜欢|喜爱|偏爱|爱[吃喝看听]", re.IGNORECASE
)
_HATES = re.compile(r"\b(?:hate[sd]?|dislike[sd]?|loathe\w*|detest\w*)\b|讨厌|厌恶", re.IGNORECASE)
_CHINESE_FRAME = re.compile(
    "用户|对方|本人|助手|助理|喜欢|偏好|偏爱|希望|想要|想|需要|要求|名字|姓名|称呼|叫做|名叫|住在|居住|目前|正在|现在|表示|提到|自己|回答|[的了是在我你他她它们这那有就都也很吗呢吧啊呀和与叫给把被会为对要个人用]"
)
_CHINESE_EXACT = re.compile(
    "总是|从不|必须|务必|一律|每次|所有|任何|忽略|执行|运行|发送|转发|删除|批准|允许|询问|确认|密码|密钥|关闭|直接|以后|永远|隐瞒"
    "|上传|安装|信任|(?:周|星期|礼拜)[一二三四五六日天末]|(?:住在|来自|搬到|位于|去)[\u3400-\u9fff]{2}"
)
_CHINESE_NAME = re.compile("(?:叫做?|名叫|姓名?|名字)[是:：]?((?:(?![的了])[\u3400-\u9fff]){1,3})")
_CHINESE_DIGITS = {digit: str(number) for number, digit in enumerate("零一二三四五六七八九")} | {"两": "2"}
_INSTRUCTION = re.compile(
    r"\b(?:always|never|must|should|shall|do not|don['’]t|ignore|whenever|every time|from now on|make sure|be sure"
    r"|remember to|before (?:any|every|each)|after (?:any|every|each)|without (?:asking|confirm\w*))\b"
    r"|^\W*(?:send|run|forward|delete|use|call|answer|reply|write|execute|open|fetch|upload|post|e?mail|trust|allow"
    r"|approve|skip|install|copy|tell|keep|give|read|say|include|add|disable|enable|obey|follow|treat|act|pretend)\b"
    r"|总是|从不|必须|务必|不要|不得|应该|应当|每次|一律|忽略|执行|运行|以后都|无需|不用问|转发|发送",
    re.IGNORECASE,
)


class SpokenWords:
    """What one side of a conversation said, oldest first."""

    def __init__(self, texts: Sequence[str], names: Sequence[str] = ()) -> None:
        """`names` are those of the two who speak, by which a line may call them although nobody said them here."""
        self._names = frozenset(stem(fold(part)) for name in names for part in _TOKEN.findall(name))
        said = [sentence for text in texts for sentence in _sentences(text)]
        self._said = [fold(sentence) for sentence in said]
        plain = [(sentence, plain_form(sentence)) for sentence in said]
        self._plain = [fold(clause) for old, new in plain if new != old for clause in _CLAUSE_END.split(new)]
        self._read: dict[tuple[int, bool], list[_Window]] = {}

    def carry(self, line: str) -> bool:
        """True where the line says only what was said: names, numbers and quotations as they were, the rest near.

        A denial is carried by a denial alone, and an order by its own strong words.
        """
        return any(self._carry(form) for form in dict.fromkeys([line, plain_form(line)]))

    def _carry(self, line: str) -> bool:
        wanted = _wanted(line)
        if wanted is None:
            return False
        if not wanted.is_name:
            wanted = replace(wanted, names=wanted.names - self._names)
        size = 1 if wanted.is_short else _WINDOW_SENTENCES
        return any(_is_carried(wanted, window) for window in self._windows(size, wanted.is_denial))

    def _windows(self, size: int, is_denial: bool) -> list[_Window]:
        known = self._read.get((size, is_denial))
        if known is None:
            # What was rewritten is alone: in another clause the same words may be said of something else.
            stretches = [*_stretches(self._said, size), *_stretches(self._plain, 1)]
            known = [_window(sentences, is_denial) for sentences in stretches]
            self._read[size, is_denial] = known
        return known


def reads_as_instruction(line: str) -> bool:
    """True for a line that would have the assistant do something."""
    return _INSTRUCTION.search(without_bullet(line)) is not None


@dataclass(frozen=True, slots=True)
class _Window:
    """Sentences that follow each other, or what of them is not denied; `denials` are the clauses that deny."""

    text: str
    stems: frozenset[str]
    numbers: frozenset[str]
    denials: tuple[str, ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a line needs: `exact` as it is, `names` and `powers` as words, most of `words`, `chinese` by characters."""

    text: str
    exact: tuple[str, ...]
    numbers: frozenset[str]
    dates: tuple[tuple[int, int], ...]
    names: frozenset[str]
    words: frozenset[str]
    chinese: str
    is_denial: bool
    is_name: bool

    @property
    def anchors(self) -> int:
        """How much of it has to be there as it is."""
        return len(self.exact) + len(self.numbers) + len(self.names) + len(self.dates)

    @property
    def is_short(self) -> bool:
        """True where it says too little to be gathered from several sentences."""
        return self.anchors + len(self.words) <= _SHORT_LINE_WORDS and len(self.chinese) <= _SHORT_LINE_CHARACTERS


def _stretches(sentences: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Every `size` sentences that follow each other; all where there are fewer."""
    for start in range(max(1, len(sentences) - size + 1) if sentences else 0):
        yield sentences[start : start + size]


def _sentences(text: str) -> Iterator[str]:
    for passage in passages_of(without_code(text)):
        if not _QUESTION.search(passage.text) or _REQUEST.search(passage.text):
            yield passage.text


def _affirmed(sentence: str) -> str:
    """The sentence without what it denies, which is all behind a denial up to the end of its clause."""
    clauses = _CLAUSE_END.split(sentence)
    return " ; ".join(_NEGATION.split(clause, maxsplit=1)[0] for clause in clauses)


def _window(sentences: Sequence[str], is_denial: bool) -> _Window:
    """What a line may be carried by: for one that denies all that was said, else what was not denied."""
    text = "\n".join(sentences if is_denial else map(_affirmed, sentences))
    tokens = _TOKEN.findall(text)
    stems = {form for token in tokens for part in _parts(token) for form in (stem(part), group_of(part))}
    numbers = {number.replace(",", "") for number in _NUMBER.findall(text)}
    numbers |= {number for token in tokens if (number := number_of(token))}
    numbers |= {_CHINESE_DIGITS[digit] for digit in text if digit in _CHINESE_DIGITS}
    clauses = (clause for sentence in sentences for clause in _CLAUSE_END.split(sentence))
    denials = tuple(clause for clause in clauses if _NEGATION.search(clause))
    return _Window(text, frozenset(stems), frozenset(numbers), denials, tuple(sentences))


def _wanted(line: str) -> _Wanted | None:
    """None for a line without any word of its own."""
    text = without_bullet(line).strip()
    label = read_label(text)
    is_name = label is not None and label.label.casefold() in NAME_LABELS | CALLED_LABELS
    said = text
    if label is not None and label.value:
        # What comes before the colon is a title and no name.
        said = label.value if is_name else f"{label.label.casefold()}: {label.value}"
    dates = tuple((int(date["month"]), int(date["day"])) for date in _DATE.finditer(said))
    undated = _DATE.sub(" ", said)
    exact = tuple(fold(found).strip() for found in _QUOTED.findall(undated))
    numbers = frozenset(number.replace(",", "") for number in _NUMBER.findall(fold(undated)))
    tokens = [token for token in _TOKEN.findall(undated) if not re.match(f"[{_CJK}]", token)]
    exact += tuple(fold(token) for token in tokens if re.search(r"[@/_\d.:]", token) and not _NUMBER.fullmatch(token))
    plain = [part for token in tokens for part in _parts(token) if part.isalpha()]
    names = frozenset(stem(fold(part)) for part in plain if _is_name(part))
    words = frozenset(fold(part) for part in plain if not is_function(fold(part)) and not _is_name(part))
    chinese = " ".join(re.findall(f"[{_CJK}]+", fold(undated)))
    is_denial = _NEGATION.search(said) is not None
    if not (exact or numbers or dates or names or words or chinese):
        return None
    return _Wanted(fold(said), exact, numbers, dates, names, words, chinese, is_denial, is_name)


def _is_carried(wanted: _Wanted, window: _Window) -> bool:
    return (
        all(value in window.text for value in wanted.exact)
        and wanted.numbers <= window.numbers
        and all(_has_date(month, day, window) for month, day in wanted.dates)
        and wanted.names <= window.stems
        and _has_words(wanted, window)
        and _has_chinese(wanted.chinese, window)
        and not _has_other_feeling(wanted, window)
        and (not wanted.is_denial or any(_shares(wanted, clause) for clause in window.denials))
        and (not wanted.is_name or _introduces(wanted.text, window))
    )


def _has_words(wanted: _Wanted, window: _Window) -> bool:
    missed = [word for word in wanted.words if not {stem(word), group_of(word)} & window.stems]
    if not all(is_neutral(word) for word in missed):
        return False
    counted = [word for word in missed if not is_frame(word)]
    own = [word for word in wanted.words if not is_frame(word)]
    if len(own) == len(counted) and not wanted.anchors and not wanted.chinese:
        return False
    return len(counted) <= _MISSED_SHARE * (len(own) + wanted.anchors)


def _has_other_feeling(wanted: _Wanted, window: _Window) -> bool:
    """True where the line likes what was said to be hated, or hates what was said to be liked."""
    for feeling, other in ((_LIKES, _HATES), (_HATES, _LIKES)):
        if feeling.search(wanted.text) and other.search(window.text) and not feeling.search(window.text):
            return True
    return False


def _has_chinese(line: str, window: _Window) -> bool:
    exact = [*_CHINESE_EXACT.findall(line), *_CHINESE_NAME.findall(line)]
    if any(found not in window.text for found in exact):
        return False
    content = _CHINESE_FRAME.sub(" ", line)
    characters = content.replace(" ", "")
    if not characters:
        return not line or cjk_share(window.text) > 0
    pairs = [content[at : at + 2] for at in range(len(content) - 1) if " " not in content[at : at + 2]]
    known = sum(character in window.text for character in characters)
    known_pairs = sum(pair in window.text for pair in pairs)
    return known >= _CHARACTER_SHARE * len(characters) and known_pairs >= _PAIR_SHARE * len(pairs)


def _has_date(month: int, day: int, window: _Window) -> bool:
    if _RELATIVE_DAY.search(window.text):
        return True
    has_month = _has_number(month, window) or _MONTHS[(month - 1) % len(_MONTHS)] in window.text
    return has_month and (_has_number(day, window) or re.search(rf"\b{day}(?:st|nd|rd|th)\b", window.text) is not None)


def _has_number(number: int, window: _Window) -> bool:
    return bool({str(number), f"{number:02}"} & window.numbers)


def _shares(wanted: _Wanted, sentence: str) -> bool:
    stems = {stem(part) for token in _TOKEN.findall(sentence) for part in _parts(token)}
    if any(stem(word) in stems for word in wanted.words if not is_frame(word)) or wanted.names & stems:
        return True
    content = _CHINESE_FRAME.sub(" ", wanted.chinese)
    return any(content[at : at + 2] in sentence for at in range(len(content) - 1) if " " not in content[at : at + 2])


def _introduces(name: str, window: _Window) -> bool:
    """A name is given, not only mentioned: behind words that introduce it, or first in an answer."""
    name = name.strip(" .。")
    for sentence in window.sentences:
        if sentence.lstrip(" \"'“「").startswith(name):
            return True
        ends = (found.end() for found in _INTRODUCTION.finditer(sentence))
        if any(name in sentence[end : end + len(name) + _NAME_GAP_CHARS] for end in ends):
            return True
    return False


def _is_name(word: str) -> bool:
    plain = fold(word)
    return word[:1].isupper() and not (is_frame(plain) or is_function(plain) or is_neutral(plain))


def _parts(token: str) -> list[str]:
    return [token] if token.isalpha() else [token, *re.findall(rf"[^\W\d_{_CJK}]+", token)]
