"""Players: what a fake provider answers. None of them knows anything that does not stand in the request."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from tests.fakes.wire import ChatRequest, Reply, ReplyCall, sentences, words

TaskCall = Callable[[int, int, Sequence[str]], ReplyCall]
"""Step (from 1), number of steps and the paths named in the task → the call of this step."""

NOTHING_FOUND = "Nothing in what I was given answers that."
_HEADING = re.compile(r"^#{2,4} +\S.*$", re.MULTILINE)
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

    - Summary: the system prompt matches `summary_marker`. The headings asked for (in the system prompt, else in the
      last user message) are filled with facts of the request.
    - Flush: the tools `read` and `add_lines` are offered. Facts of the user message go into `add_lines` calls, once.
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
        if not request.tools and self._summary_marker.search(request.system):
            return Reply(text=self._summary(request))
        reply = self._task(request) or _named_calls(request) or Reply(text=_answer(request))
        return Reply(
            text=reply.text, calls=reply.calls, thinking="Let me see what stands here." if self._thinks else ""
        )

    def _summary(self, request: ChatRequest) -> str:
        user_texts = [message.text for message in request.messages if message.role != "system"]
        headings = _unique(_HEADING.findall(request.system)) or _unique(_HEADING.findall(user_texts[-1])) or ["## Goal"]
        steps = [line for text in user_texts for line in sentences(text) if _STEP.search(line)]
        facts = _facts("\n".join(user_texts))
        # Old facts first, then the newest: an early one must survive every update of the summary.
        budget = self._summary_chars - len("".join(headings))
        chosen = [*steps[-1:], *_within(facts, budget * 2 // 3), *_within(facts[::-1], budget // 3)[::-1]]
        lines = _unique(chosen) or sentences(user_texts[-1])[-5:]
        share = -(-len(lines) // len(headings))
        parts: list[str] = []
        for index, heading in enumerate(headings):
            mine = lines[index * share : (index + 1) * share]
            parts.append("\n".join([heading, *(f"- {line}" for line in mine or ["(none)"])]))
        return "\n\n".join(parts)

    def _flush(self, request: ChatRequest) -> Reply:
        if any(call.name == "add_lines" for message in request.messages for call in message.calls):
            return Reply(text="NO_REPLY")
        user_text = "\n".join(message.text for message in request.messages if message.role == "user")
        known = request.system
        facts = [line for line in _facts(user_text) if line not in known][: self._flush_lines]
        preferences = [line for line in facts if _PREFERENCE.search(line)]
        others = [line for line in facts if line not in preferences]
        dates = _DATE.findall(request.system) or _DATE.findall(user_text)
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


def _facts(text: str) -> list[str]:
    return _unique([line for line in sentences(text) if 12 <= len(line) <= 400 and _FACT.search(line)])


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
