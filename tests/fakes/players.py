"""Players: what a fake provider answers. None of them knows anything that does not stand in the request."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from tests.fakes.wire import ChatRequest, Reply, ReplyCall, sentences, words

TaskCall = Callable[[int, int, Sequence[str]], ReplyCall]
"""Step (from 1), number of steps and the paths named in the task → the call of this step."""

NOTHING_FOUND = "Nothing in what I was given answers that."
_HEADING = re.compile(r"^#{2,4} +\S.*$", re.MULTILINE)
_FENCED = re.compile(r"<(conversation|previous-summary|request|hint|memory-file)\b[^>]*>\n?(.*?)</\1>", re.DOTALL)
_SPEAKER = re.compile(r"^(?:\[[\d :T-]+\] )?(user|assistant|tool call|tool result): ?")
_FACT = re.compile(
    r"\b(?:I|I'm|I've|my|we|our|remember|prefer|decided|deadline|allergic|favou?rite|birthday|named?|lives?|works?)\b"
    r"|我|记住|喜欢|决定|生日|名字|截止",
    re.IGNORECASE,
)
_PREFERENCE = re.compile(
    r"\b(?:prefer|like|love|hate|allergic|favou?rite|always|never)\b|喜欢|偏好|讨厌|过敏", re.IGNORECASE
)
_TASK = re.compile(r"\b(\d+)[- ]step (?:\w+ )*task\b|(\d+) ?步", re.IGNORECASE)
_STEP = re.compile(r"step (\d+) of (\d+)")
_RUN = re.compile(r"(?:\brun|运行) *`([^`]+)`", re.IGNORECASE)
_READ = re.compile(r"(?:\bread|读取?) *`([^`]+)`", re.IGNORECASE)
_OPENING = re.compile(
    r"(?:begin|start) (?:every|each) (?:answer|reply) with:? *[\"“]?([^\"”\n]+?)[\"”]?\.?$", re.I | re.M
)
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")


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
    """Writes summaries, flush lines and answers from the lines of the request alone.

    - Summary: the system prompt matches `summary_marker` and headings are asked for, in it or in the last user message
      outside its fences. They are filled with facts of the conversation and the previous summary.
    - Flush: the tools `read` and `add_lines` are offered. Facts the person told go into `add_lines` calls, once.
    - Connection test: the tool `connection_check` is called with the code that was given.
    - "run `…`" and "read `…`" in the newest user message: one call each, in parallel, then the results in a sentence.
    - "30-step task": one call a step, the step's number in the text, until the last one has its result.
    - Anything else: the sentence of the request that shares most words with the newest user message.
    """

    def __init__(
        self,
        *,
        summary_marker: str = r"summar|摘要|总结",
        summary_chars: int = 2_400,
        flush_lines: int = 80,
        task_call: TaskCall | None = None,
        task_steps: int = 0,
        thinks: bool = False,
    ) -> None:
        self._summary_marker = re.compile(summary_marker, re.IGNORECASE)
        self._summary_chars = summary_chars
        self._flush_lines = flush_lines
        self._task_call = task_call or next_task_call
        self._task_steps = task_steps
        self._thinks = thinks

    def __call__(self, request: ChatRequest) -> Reply:
        if {"read", "add_lines"} <= set(request.tools):
            return self._flush(request)
        if request.tools == ("connection_check",):
            return _connection_check(request)
        if not request.tools and self._summary_marker.search(request.system) and (headings := _asked_headings(request)):
            return Reply(text=self._summary(request, headings))
        reply = self._task(request) or _named_calls(request) or Reply(text=_answer(request))
        return replace(reply, thinking="Let me see what stands here." if self._thinks else "")

    def _summary(self, request: ChatRequest, headings: Sequence[str]) -> str:
        material = _material(request, ("previous-summary", "request", "conversation"))
        lines = _said(material, ("user", "assistant"))
        steps = [line for line in lines if _STEP.search(line)]
        facts = _facts(lines)
        # Old facts first, then the newest: an early one must survive every update of the summary.
        budget = self._summary_chars - len("".join(headings))
        chosen = [*steps[-1:], *_within(facts, budget * 2 // 3), *_within(facts[::-1], budget // 3)[::-1]]
        kept = _unique(chosen) or lines[-5:]
        share = -(-len(kept) // len(headings))
        parts: list[str] = []
        for index, heading in enumerate(headings):
            mine = kept[index * share : (index + 1) * share]
            parts.append("\n".join([heading, *(f"- {line}" for line in mine or ["(none)"])]))
        return "\n\n".join(parts)

    def _flush(self, request: ChatRequest) -> Reply:
        if any(call.name == "add_lines" for message in request.messages for call in message.calls):
            return Reply(text="NO_REPLY")
        told = _said(_material(request, ("conversation",)), ("user",))
        everything = "\n".join(message.text for message in request.messages)
        known = "\n".join(
            [request.system, *(body for fence, body in _FENCED.findall(everything) if fence == "memory-file")]
        )
        facts = [line for line in _facts(told) if line not in known][: self._flush_lines]
        preferences = [line for line in facts if _PREFERENCE.search(line)]
        others = [line for line in facts if line not in preferences]
        dates = _DATE.findall(request.system) or _DATE.findall(everything)
        calls = [
            _add_lines("USER.md", "Preferences", preferences),
            _add_lines("MEMORY.md", "Facts", others[::2]),
            _add_lines(f"memory/{dates[0]}.md" if dates else "MEMORY.md", "Conversation", others[1::2]),
        ]
        made = tuple(call for call in calls if call is not None)
        return Reply(calls=made) if made else Reply(text="NO_REPLY")

    def _task(self, request: ChatRequest) -> Reply | None:
        task = _newest_said(request)
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
    """The default task: shell and Read in turn, over the paths the task names."""
    if not paths:
        return ReplyCall("Bash", {"command": f"echo step {step} of {steps}"})
    path = paths[step % len(paths)]
    if step % 2:
        return ReplyCall("Bash", {"command": f"cat {PurePosixPath(path)}"})
    return ReplyCall("Read", {"file_path": path, "offset": 1 + step // 2})


def _named_calls(request: ChatRequest) -> Reply | None:
    said = _newest_said(request)
    calls = [ReplyCall("Bash", {"command": command}) for command in _RUN.findall(said)]
    calls += [ReplyCall("Read", {"file_path": path}) for path in _READ.findall(said)]
    calls = [call for call in calls if call.name in request.tools]
    if not calls:
        return None
    if results := request.results_since_user():
        return Reply(text="\n".join(f"The result is: {result.strip()[:400]}" for result in results))
    return Reply(text="I run that now.", calls=tuple(calls))


def _answer(request: ChatRequest) -> str:
    question = _newest_said(request)
    asked = words(question)
    best, best_score = NOTHING_FOUND, 0
    for message in request.messages:
        for sentence in sentences(message.text):
            # A question answers nothing, least of all itself.
            if sentence in question or sentence.endswith(("?", "？")):
                continue
            score = len(asked & words(sentence))
            if score > best_score:
                best, best_score = sentence, score
    openings = _OPENING.findall(request.system)
    return f"{openings[-1].strip()} {best}" if openings else best


def _newest_said(request: ChatRequest) -> str:
    """The newest user message that is not a fenced hint."""
    said = [message.text for message in request.messages if message.role == "user"]
    return next((text for text in reversed(said) if not text.lstrip().startswith("<")), "")


def _since(request: ChatRequest, user_text: str) -> str:
    texts = [message.text for message in request.messages]
    return "\n".join(texts[texts.index(user_text) + 1 :])


def _last_line(request: ChatRequest) -> str:
    lines = [line for result in request.results_since_user()[-1:] for line in result.splitlines() if line.strip()]
    return f"The last line was: {lines[-1].strip()[:200]}" if lines else ""


def _facts(lines: Sequence[str]) -> list[str]:
    return _unique([line for line in lines if len(line) <= 400 and len(line.encode()) >= 14 and _FACT.search(line)])


def _asked_headings(request: ChatRequest) -> list[str]:
    outside = _FENCED.sub("", request.messages[-1].text)
    return _unique(_HEADING.findall(request.system)) or _unique(_HEADING.findall(outside))


def _material(request: ChatRequest, fences: Sequence[str]) -> str:
    """What stands between the fences, in the order in which they are named; without any, all user messages."""
    text = "\n".join(message.text for message in request.messages if message.role == "user")
    found = {name: "\n".join(body for fence, body in _FENCED.findall(text) if fence == name) for name in fences}
    return "\n".join(body for body in found.values() if body) or text


def _said(text: str, speakers: Sequence[str]) -> list[str]:
    """Sentences of these speakers, without the mark of who speaks; lines nobody is named for count as anybody's."""
    lines: list[str] = []
    speaker = speakers[0]
    for line in text.splitlines():
        if mark := _SPEAKER.match(line):
            speaker = mark[1]
            line = line[mark.end() :]
        if speaker in speakers and not line.startswith("#") and line.strip() != "- (none)":
            lines += sentences(line)
    return lines


def _connection_check(request: ChatRequest) -> Reply:
    codes = re.findall(r"\b[0-9a-f]{6}\b", request.last_user)
    return Reply(calls=(ReplyCall("connection_check", {"code": codes[-1] if codes else ""}),))


def _add_lines(file: str, heading: str, lines: list[str]) -> ReplyCall | None:
    return ReplyCall("add_lines", {"file": file, "heading": heading, "lines": lines}) if lines else None


def _within(lines: Sequence[str], chars: int) -> list[str]:
    kept: list[str] = []
    for line in lines:
        chars -= len(line) + 3
        if chars < 0:
            break
        kept.append(line)
    return kept


def _unique(lines: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(lines))
