"""Players: what a fake provider answers. None of them knows anything that does not stand in the request."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Literal

from tests.fakes.material import Material, headings_asked, known_lines, material_of, parts_between, unique
from tests.fakes.wire import ChatRequest, Reply, ReplyCall, words

TaskCall = Callable[[int, int, Sequence[str]], ReplyCall]
"""Step (from 1), number of steps and the paths named in the task → the call of this step."""
Quality = Literal["good", "lossy", "failing"]
"""Of summaries. `lossy` forgets the previous one and fills two sections; `failing` writes no summary at all."""

NOTHING_FOUND = "Nothing in what I was given answers that."
_PREFERENCE = re.compile(
    r"\b(?:prefer|like|love|hate|allergic|favou?rite|always|never)\b|喜欢|偏好|讨厌|过敏|忌口", re.IGNORECASE
)
_DECISION = re.compile(r"\b(?:decided|decision|agreed|will use|chose)\b|决定|定了|选了", re.IGNORECASE)
_PLAN = re.compile(
    r"\b(?:plan|going to|want to|next week|tomorrow|deadline|will)\b|打算|计划|下周|明天|截止", re.IGNORECASE
)
_TASK = re.compile(r"\b(\d+)[- ]step (?:\w+ )*task\b|(\d+) ?步", re.IGNORECASE)
_STEP = re.compile(r"step (\d+) of (\d+)")
_RUN = re.compile(r"(?:\brun|运行) *`([^`]+)`", re.IGNORECASE)
_READ = re.compile(r"(?:\bread|读取?) *`([^`]+)`", re.IGNORECASE)
_OPENING = re.compile(
    r"(?:begin|start) (?:every|each) (?:answer|reply) with:? *[\"“]?([^\"”\n]+?)[\"”]?\.?$", re.I | re.M
)
_GO_ON = re.compile(r"Go on from where you stopped|请从停下的地方继续", re.IGNORECASE)
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_MAX_TOKENS = re.compile(r"at most ([\d,]+) tokens|最多 ([\d,]+) 个 token")
# Which sections take which kind of fact, by words of their titles in both languages.
_TITLES: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (_PREFERENCE, re.compile(r"constraint|preference|约束|偏好", re.IGNORECASE)),
    (_DECISION, re.compile(r"decision|problem|决策|决定|问题", re.IGNORECASE)),
    (_PLAN, re.compile(r"next|pending|needed|下一步|待办|继续", re.IGNORECASE)),
    (re.compile(""), re.compile(r"key context|concept|needed|关键上下文|概念|继续", re.IGNORECASE)),
)
_PROGRESS = re.compile(r"progress|state|进展|状态", re.IGNORECASE)
_ORIGINAL_REQUEST = re.compile(r"original request|原始请求", re.IGNORECASE)
# Lines a flush puts into each file that stands in every prompt, as long as these are small; the rest goes to the note.
_LINES_A_PROMPT_FILE = 8
_PROMPT_FILES_BYTES = 4_000


class SequencePlayer:
    """Answers the given replies in order; beyond them an error 500 that says so."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.requests: list[ChatRequest] = []

    def __call__(self, request: ChatRequest) -> Reply:
        self.requests.append(request)
        if len(self.requests) > len(self.replies):
            return Reply(text=f"request {len(self.requests)} is not in the script", status=500)
        return self.replies[len(self.requests) - 1]


class RuleBasedPlayer:
    """Writes summaries, flush lines and answers from the conversation in the request alone.

    - Summary: no tools, and the system prompt matches `summary_marker`. The sections asked for keep the lines of the
      previous summary and take the person's new statements by kind, within the tokens allowed. See `Quality`.
    - Flush: the tools `read` and `add_lines` are offered. The person's statements that no memory file shown has go
      into `add_lines` calls, once, the oldest first.
    - Connection test: the tool `connection_check` is called with the code that was given.
    - "run `…`" and "read `…`" in the newest user message: one call each, in parallel, then the results in a sentence.
    - "30-step task": one call a step, the step's number in the text, until the last one has its result.
    - Anything else: the known sentence that shares most words with the newest user message.
    """

    def __init__(
        self,
        *,
        summary_marker: str = r"summar|摘要|总结",
        quality: Quality = "good",
        flush_lines: int = 24,
        task_call: TaskCall | None = None,
        task_steps: int = 0,
        thinks: bool = False,
    ) -> None:
        self.quality: Quality = quality
        self._summary_marker = re.compile(summary_marker, re.IGNORECASE)
        self._flush_lines = flush_lines
        self._task_call = task_call or next_task_call
        self._task_steps = task_steps
        self._thinks = thinks

    def __call__(self, request: ChatRequest) -> Reply:
        if {"read", "add_lines"} <= set(request.tools):
            return self._flush(request)
        if request.tools == ("connection_check",):
            return _connection_check(request)
        user = "\n".join(message.text for message in request.messages if message.role == "user")
        is_summary = not request.tools and self._summary_marker.search(request.system)
        if is_summary and (titles := headings_asked(request.system, user)):
            return Reply(text=self._summary(user, titles))
        reply = self._task(request) or _named_calls(request) or Reply(text=_answer(request))
        return replace(reply, thinking="Let me see what stands here." if self._thinks else "")

    def _summary(self, user: str, titles: Sequence[str]) -> str:
        if self.quality == "failing":
            return "I would rather not."
        material = material_of(user)
        sections: dict[str, list[str]] = {title: [] for title in titles}
        if self.quality == "good":
            for title, lines in material.earlier.items():
                sections[title if title in sections else titles[0]] += lines
        _place_steps(sections, material)
        for fact in material.facts:
            sections[_title_for(fact, titles)].append(fact)
        if self.quality == "lossy":
            sections = {title: lines if title in titles[:2] else [] for title, lines in sections.items()}
        return _written(sections, _bytes_allowed(user))

    def _flush(self, request: ChatRequest) -> Reply:
        if any(call.name == "add_lines" for message in request.messages for call in message.calls):
            return Reply(text="NO_REPLY")
        user = "\n".join(message.text for message in request.messages if message.role == "user")
        known = user.partition("<conversation>")[0] if "<conversation>" in user else ""
        facts = [line for line in material_of(user).facts if line not in known][: self._flush_lines]
        standing = re.findall(r'<memory-file name="[A-Z]+\.md">\n(.*?)</memory-file>', known, re.DOTALL)
        room = _LINES_A_PROMPT_FILE if sum(map(_bytes_of, standing)) < _PROMPT_FILES_BYTES else 0
        preferences = [line for line in facts if _PREFERENCE.search(line)][:room]
        lasting = [line for line in facts if line not in preferences][:room]
        others = [line for line in facts if line not in preferences and line not in lasting]
        dates = _DATE.findall(request.system) or _DATE.findall(user)
        calls = [
            _add_lines("USER.md", "Preferences", preferences),
            _add_lines("MEMORY.md", "Facts", lasting),
            _add_lines(f"memory/{dates[0]}.md" if dates else "MEMORY.md", "Conversation", others),
        ]
        made = tuple(call for call in calls if call is not None)
        return Reply(calls=made) if made else Reply(text="NO_REPLY")

    def _task(self, request: ChatRequest) -> Reply | None:
        task = newest_said(request)
        match = _TASK.search(task)
        if match is None or "Bash" not in request.tools:
            return None
        steps = self._task_steps or int(match[1] or match[2])
        # Earlier steps may be folded into a summary, so the number counts and not how many results stand here.
        done = max((int(found[1]) for found in _STEP.finditer(_since(request, task))), default=0)
        if done >= steps:
            return Reply(text=f"All {steps} steps are done. {_last_line(request)}")
        step = done + 1
        paths = re.findall(r"(?<![\w/])/[\w./-]+\.\w+", task)
        return Reply(text=f"Working on step {step} of {steps}.", calls=(self._task_call(step, steps, paths),))


def next_task_call(step: int, steps: int, paths: Sequence[str]) -> ReplyCall:
    """The default task: shell and Read in turn, over the paths the task names, no call twice."""
    if not paths:
        return ReplyCall("Bash", {"command": f"echo step {step} of {steps}"})
    path = paths[step % len(paths)]
    if step % 2:
        return ReplyCall("Bash", {"command": f"tail -n +{step} {PurePosixPath(path)}"})
    return ReplyCall("Read", {"file_path": path, "offset": 1 + step // 2})


def _place_steps(sections: dict[str, list[str]], material: Material) -> None:
    """The request of a running turn, and how far it is: the newest step stands for those before it."""
    titles = list(sections)
    if material.request:
        title = next((title for title in titles if _ORIGINAL_REQUEST.search(title)), titles[0])
        sections[title] = unique([*sections[title], material.request.splitlines()[0]])
    if steps := [line for line in material.lines if _STEP.search(line)]:
        title = next((title for title in titles if _PROGRESS.search(title)), titles[0])
        sections[title] = [*(line for line in sections[title] if not _STEP.search(line)), steps[-1]]


def _title_for(fact: str, titles: Sequence[str]) -> str:
    for kind, wanted in _TITLES:
        if kind.search(fact) and (title := next((title for title in titles if wanted.search(title)), "")):
            return title
    return titles[0]


def _written(sections: dict[str, list[str]], max_bytes: int) -> str:
    """The document. Where not all fits, the oldest lines of each section stay, and the newest ones."""
    fixed = sum(len(title.encode()) + 8 for title in sections)
    wanted = {title: unique(lines) for title, lines in sections.items()}
    total = sum(_bytes_of(line) for lines in wanted.values() for line in lines) or 1
    share = min(1.0, (max_bytes - fixed) / total)
    parts: list[str] = []
    for title, lines in wanted.items():
        room = int(sum(map(_bytes_of, lines)) * share)
        # Old lines first, then the newest: an early one must survive every update.
        kept = _within(lines, room) if share == 1.0 else [*_within(lines, room * 2 // 3), *_newest(lines, room // 3)]
        parts.append("\n".join([f"## {title}", *(f"- {line}" for line in unique(kept) or ["(none)"])]))
    return "\n\n".join(parts)


def _bytes_allowed(user: str) -> int:
    """What an answer may have: a careful writer stays a fifth under the tokens named last."""
    named = [found[1] or found[2] for found in _MAX_TOKENS.finditer(user)]
    return int(named[-1].replace(",", "")) * 4 * 4 // 5 if named else 8_000


def _named_calls(request: ChatRequest) -> Reply | None:
    said = newest_said(request)
    calls = [ReplyCall("Bash", {"command": command}) for command in _RUN.findall(said)]
    calls += [ReplyCall("Read", {"file_path": path}) for path in _READ.findall(said)]
    calls = [call for call in calls if call.name in request.tools]
    if not calls:
        return None
    if results := request.results_since_user():
        return Reply(text="\n".join(f"The result is: {result.strip()[:400]}" for result in results))
    return Reply(text="I run that now.", calls=tuple(calls))


def _answer(request: ChatRequest) -> str:
    question = newest_said(request)
    asked = words(question)
    best, best_score = NOTHING_FOUND, 0
    for line in known_lines(request):
        # A question answers nothing, least of all itself.
        if line in question or line.endswith(("?", "？")):
            continue
        score = len(asked & words(line))
        if score > best_score:
            best, best_score = line, score
    openings = _OPENING.findall(request.system)
    return f"{openings[-1].strip()} {best}" if openings else best


def newest_said(request: ChatRequest) -> str:
    """The newest user message that is neither a fenced hint nor the summary."""
    said = [message.text for message in request.messages if message.role == "user"]
    return next((text for text in reversed(said) if not _is_ours(text)), "")


def _is_ours(text: str) -> bool:
    """True for what the assistant's program put among the person's messages: a hint, the summary, a nudge to go on."""
    fenced = parts_between(text, "summary") + parts_between(text, "recalled")
    return bool(fenced) or text.lstrip().startswith("<") or _GO_ON.match(text) is not None


def _since(request: ChatRequest, user_text: str) -> str:
    texts = [message.text for message in request.messages]
    return "\n".join(texts[texts.index(user_text) + 1 :]) if user_text in texts else ""


def _last_line(request: ChatRequest) -> str:
    lines = [line for result in request.results_since_user()[-1:] for line in result.splitlines() if line.strip()]
    return f"The last line was: {lines[-1].strip()[:200]}" if lines else ""


def _connection_check(request: ChatRequest) -> Reply:
    codes = re.findall(r"\b[0-9a-f]{6}\b", request.last_user)
    return Reply(calls=(ReplyCall("connection_check", {"code": codes[-1] if codes else ""}),))


def _add_lines(file: str, heading: str, lines: list[str]) -> ReplyCall | None:
    return ReplyCall("add_lines", {"file": file, "heading": heading, "lines": lines}) if lines else None


def _within(lines: Sequence[str], max_bytes: int) -> list[str]:
    kept: list[str] = []
    for line in lines:
        max_bytes -= _bytes_of(line)
        if max_bytes < 0:
            break
        kept.append(line)
    return kept


def _newest(lines: Sequence[str], max_bytes: int) -> list[str]:
    return _within(lines[::-1], max_bytes)[::-1]


def _bytes_of(line: str) -> int:
    return len(line.encode()) + 3
