"""Thoughts and calls that a model writes into its text, in the forms in use."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assistant.models.wire.written_text import Opening, opening_of
from tests.models.wire.readings import Reading, read, read_with_summary, said, sse

ONE = (("memory_get", {"path": "USER.md"}),)


def pieces(text: str, size: int) -> bytes:
    """The text streamed `size` characters at a time."""
    return sse(*said(*(text[start : start + size] for start in range(0, len(text), size))))


SIZES = pytest.mark.parametrize("size", [1, 5, 1000], ids=["1 char", "5 chars", "at once"])

THOUGHTS: dict[str, tuple[str, Reading]] = {
    "at the start": ("<think>\nHm.\n</think>\n\nYes.", Reading("Yes.", "\nHm.\n")),
    "thinking": ("<thinking>Hm.</thinking>Yes.", Reading("Yes.", "Hm.")),
    "thought": ("<thought>Hm.</thought>Yes.", Reading("Yes.", "Hm.")),
    "reasoning": ("<reasoning>Hm.</reasoning>Yes.", Reading("Yes.", "Hm.")),
    "Seed": ("<seed:think>Hm.</seed:think>Yes.", Reading("Yes.", "Hm.")),
    "Kimi": ("◁think▷Hm.◁/think▷Yes.", Reading("Yes.", "Hm.")),
    "Magistral": ("[THINK]Hm.[/THINK]Yes.", Reading("Yes.", "Hm.")),
    "Cohere": (
        "<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>Yes.<|END_RESPONSE|>",
        Reading("Yes.", "Hm."),
    ),
    "gpt-oss": (
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.",
        Reading("Yes.", "Hm."),
    ),
    "in the middle": ("First. <think>Hm.</think> Then.", Reading("First.  Then.", "Hm.")),
    "twice": ("<think>A</think>One.<think>B</think>Two.", Reading("One.Two.", "AB")),
    "never closed": ("<think>Hm. And on", Reading("", "Hm. And on")),
    "closed but never opened": ("Hm.\n</think>\n\nYes.", Reading("Yes.", "Hm.\n")),
    "empty": ("<think>\n\n</think>\n\nYes.", Reading("Yes.", "\n\n")),
    "in inline code": ("Write `<think>` first.", Reading("Write `<think>` first.")),
    "in a fence": ("```\n<think>a</think>\n```\nDone.", Reading("```\n<think>a</think>\n```\nDone.")),
    "a closing tag in code": ("It ends with `</think>` then.", Reading("It ends with `</think>` then.")),
    "something alike": ("a < b and <thin air>", Reading("a < b and <thin air>")),
}


@SIZES
@pytest.mark.parametrize(("text", "reading"), THOUGHTS.values(), ids=THOUGHTS)
def test_a_thought_in_the_text_is_a_thought(text: str, reading: Reading, size: int) -> None:
    assert read(pieces(text, size)) == reading


@SIZES
@pytest.mark.parametrize("opening", ["thought", "unknown"])
def test_a_model_that_begins_within_a_thought_shows_no_word_of_it(opening: Opening, size: int) -> None:
    reading, summary = read_with_summary(pieces("Hm.\n</think>\n\nYes.", size), opening=opening)
    assert (reading, summary.begins_in_thought) == (Reading("Yes.", "Hm.\n"), True)


@SIZES
def test_a_thinker_that_did_not_think_is_shown(size: int) -> None:
    assert read(pieces("Just this.", size), opening="unknown") == Reading("Just this.")
    assert read(pieces("Just this.", size), opening="thought") == Reading("Just this.", "Just this.")


@pytest.mark.parametrize(
    ("name", "opening"),
    [
        ("deepseek-r1:8b", "unknown"),
        ("QwQ-32B", "unknown"),
        ("qwen3-4b-thinking-2507", "unknown"),
        ("magistral-small", "unknown"),
        ("qwen-plus", "answer"),
        ("starling-lm", "answer"),
    ],
)
def test_the_name_says_how_answers_may_begin(name: str, opening: Opening) -> None:
    assert opening_of(name) == opening


HERMES = '<tool_call>\n{"name": "memory_get", "arguments": {"path": "USER.md"}}\n</tool_call>'
CALLS: dict[str, tuple[str, Reading]] = {
    "Hermes": (HERMES, Reading(calls=ONE)),
    "Hermes after a sentence": (f"Let me look.\n{HERMES}", Reading("Let me look.", calls=ONE)),
    "Hermes, never closed": (HERMES.removesuffix("\n</tool_call>"), Reading(calls=ONE)),
    "Hermes, twice": (f"{HERMES}\n{HERMES}", Reading(calls=(*ONE, *ONE))),
    "Hermes, two in one": (
        '<tool_call>[{"name":"memory_get","arguments":{"path":"USER.md"}},{"name":"today","arguments":{}}]</tool_call>',
        Reading(calls=(*ONE, ("today", {}))),
    ),
    "arguments as text": (
        '<tool_call>{"name":"memory_get","arguments":"{\\"path\\":\\"USER.md\\"}"}</tool_call>',
        Reading(calls=ONE),
    ),
    "behind a thought": (f"<think>Look.</think>{HERMES}", Reading("", "Look.", ONE)),
    "Qwen3-coder": (
        "<tool_call>\n<function=memory_get>\n<parameter=path>\nUSER.md\n</parameter>\n<parameter=lines>\n3\n</parameter>\n"
        "</function>\n</tool_call>",
        Reading(calls=(("memory_get", {"path": "USER.md", "lines": 3}),)),
    ),
    "Qwen3-coder without its frame": (
        "Now:\n<function=memory_get>\n<parameter=path>\nUSER.md\n</parameter>\n</function>",
        Reading("Now:", calls=ONE),
    ),
    "Llama with tags": ('<function=memory_get>{"path": "USER.md"}</function>', Reading(calls=ONE)),
    "Llama with its mark": (
        '<|python_tag|>{"name": "memory_get", "parameters": {"path": "USER.md"}}<|eom_id|>',
        Reading(calls=ONE),
    ),
    "Llama with type and parameters": (
        '{"type": "function", "name": "memory_get", "parameters": {"path": "USER.md"}}',
        Reading(calls=ONE),
    ),
    "Llama 4": (
        '[memory_get(path="USER.md", lines=2)]',
        Reading(calls=(("memory_get", {"path": "USER.md", "lines": 2}),)),
    ),
    "Mistral": ('[TOOL_CALLS][{"name": "memory_get", "arguments": {"path": "USER.md"}}]', Reading(calls=ONE)),
    "Mistral with a name before": ('[TOOL_CALLS]memory_get{"path": "USER.md"}', Reading(calls=ONE)),
    "Mistral with marks": ('[TOOL_CALLS]memory_get[CALL_ID]abc123def[ARGS]{"path": "USER.md"}', Reading(calls=ONE)),
    "GLM": (
        "<tool_call>memory_get\n<arg_key>path</arg_key>\n<arg_value>USER.md</arg_value>\n<arg_key>deep</arg_key>\n"
        "<arg_value>true</arg_value>\n</tool_call>",
        Reading(calls=(("memory_get", {"path": "USER.md", "deep": True}),)),
    ),
    "MiniMax": (
        '<minimax:tool_call>\n<invoke name="memory_get">\n<parameter name="path">USER.md</parameter>\n</invoke>\n'
        "</minimax:tool_call>",
        Reading(calls=ONE),
    ),
    "Kimi": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.memory_get:0<|tool_call_argument_begin|>"
        '{"path": "USER.md"}<|tool_call_end|><|tool_calls_section_end|>',
        Reading(calls=ONE),
    ),
    "DeepSeek": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>memory_get\n```json\n"
        '{"path": "USER.md"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        Reading(calls=ONE),
    ),
    "LFM": ('<|tool_call_start|>[memory_get(path="USER.md")]<|tool_call_end|>', Reading(calls=ONE)),
    "Phi": ('functools[{"name": "memory_get", "arguments": {"path": "USER.md"}}]', Reading(calls=ONE)),
    "JSON alone": ('{"name": "memory_get", "arguments": {"path": "USER.md"}}', Reading(calls=ONE)),
    "JSON in a fence": (
        '```json\n{"name": "memory_get", "arguments": {"path": "USER.md"}}\n```',
        Reading(calls=ONE),
    ),
    "JSON behind a sentence": (
        'I look it up.\n\n{"name": "memory_get", "arguments": {"path": "USER.md"}}',
        Reading("I look it up.", calls=ONE),
    ),
    "a fence behind a sentence": (
        'I look it up:\n```json\n{"tool": "memory_get", "args": {"path": "USER.md"}}\n```',
        Reading("I look it up:", calls=ONE),
    ),
    "OpenAI's own form": (
        '{"function": {"name": "memory_get", "arguments": {"path": "USER.md"}}}',
        Reading(calls=ONE),
    ),
}


@SIZES
@pytest.mark.parametrize(("text", "reading"), CALLS.values(), ids=CALLS)
def test_a_call_in_the_text_is_a_call(text: str, reading: Reading, size: int) -> None:
    found = read(pieces(text, size))
    # The blank line before a call may have been shown before the call was known.
    assert replace(found, text=found.text.rstrip()) == reading


NO_CALLS = {
    "a tool that is not on offer": '<tool_call>{"name": "rm", "arguments": {}}</tool_call>',
    "an argument that the tool does not know": '{"name": "memory_get", "arguments": {"path": "a", "colour": "red"}}',
    "an argument that is missing": '{"name": "memory_get", "arguments": {}}',
    "an example with words behind it": 'Like this:\n```json\n{"name": "today", "arguments": {}}\n```\nas you see.',
    "JSON that is data": '{"name": "Ada", "age": 36}',
    "a list of things": "[1, 2, 3]",
    "a tag in inline code": "Models write `<tool_call>` for that.",
    "a tag in a fence": '```\n<tool_call>{"name": "today", "arguments": {}}</tool_call>\n```',
    "brackets": "[see here]",
}


@SIZES
@pytest.mark.parametrize("text", NO_CALLS.values(), ids=NO_CALLS)
def test_what_is_no_call_is_shown(text: str, size: int) -> None:
    assert read(pieces(text, size)) == Reading(text)


@SIZES
def test_nothing_is_looked_for_where_no_tool_is_on_offer(size: int) -> None:
    assert read(pieces(HERMES, size), tools={}) == Reading(HERMES)
    assert read(pieces(HERMES, size), reads_calls=False) == Reading(HERMES)
