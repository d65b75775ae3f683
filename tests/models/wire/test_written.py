"""Thoughts and calls that a model writes into its text, in the forms in use."""

from __future__ import annotations

import re
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
    "in capital letters": ("<THINK>Hm.</THINK>Yes.", Reading("Yes.", "Hm.")),
    "mm": ("<mm:think>Hm.</mm:think>Yes.", Reading("Yes.", "Hm.")),
    "a scratchpad": ("<scratchpad>Hm.</scratchpad>Yes.", Reading("Yes.", "Hm.")),
    "a reflection": ("<reflection>Hm.</reflection>Yes.", Reading("Yes.", "Hm.")),
    "internal thoughts": ("<internal_thoughts>Hm.</internal_thoughts>Yes.", Reading("Yes.", "Hm.")),
    "marks around think": ("<|think|>Hm.<|/think|>Yes.", Reading("Yes.", "Hm.")),
    "marks around thinking": ("<|thinking|>Hm.<|/thinking|>Yes.", Reading("Yes.", "Hm.")),
    "OpenThinker": (
        "<|begin_of_thought|>Hm.<|end_of_thought|><|begin_of_solution|>Yes.<|end_of_solution|>",
        Reading("Yes.", "Hm."),
    ),
    "Gemma's channel": ("<|channel>thought\nHm.<channel|>Yes.", Reading("Yes.", "\nHm.")),
    "GLM's box behind it": ("<think>Hm.</think><|begin_of_box|>Yes.<|end_of_box|>", Reading("Yes.", "Hm.")),
    "an answer in tags behind it": ("<think>Hm.</think>\n<answer>Yes.</answer>", Reading("Yes.", "Hm.")),
    "gpt-oss with a preamble": (
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary<|message|>Yes.<|end|>",
        Reading("Yes.", "Hm."),
    ),
    "gpt-oss with its last mark": (
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>",
        Reading("Yes.", "Hm."),
    ),
    "closed twice": ("<think>Hm.</think></think>Yes.", Reading("Yes.", "Hm.")),
    "a call that is only thought of": (
        '<think>I could <tool_call>{"name": "today"}</tool_call></think>Yes.',
        Reading("Yes.", 'I could <tool_call>{"name": "today"}</tool_call>'),
    ),
    "no thought, the mark of ChatML": ("Yes.<|im_end|>", Reading("Yes.")),
    "no thought, the mark of Llama": ("Yes.<|eot_id|>", Reading("Yes.")),
    "no thought, the mark of Qwen": ("Yes.<|endoftext|>", Reading("Yes.")),
    "no thought, the mark of Gemma": ("Yes.<end_of_turn>", Reading("Yes.")),
    "no thought, the mark of DeepSeek": ("Yes.<｜end▁of▁sentence｜>", Reading("Yes.")),
    "no thought, the mark of Mistral": ("Yes.</s>", Reading("Yes.")),
    "no thought, tags of an answer": ("<answer>Yes.</answer>", Reading("<answer>Yes.</answer>")),
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
NAMESPACE = "ant" + "ml:"
INVOKED = (
    '<function_calls>\n<invoke name="memory_get">\n<parameter name="path">USER.md</parameter>\n</invoke>\n'
    "</function_calls>"
)
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
    "Hermes in an attribute": (
        '<tool_call name="memory_get">\n{"path": "USER.md"}\n</tool_call>',
        Reading(calls=ONE),
    ),
    "Hermes, only closed": (HERMES.removeprefix("<tool_call>\n"), Reading(calls=ONE)),
    "Hermes, a bracket too few": (HERMES.replace("}}", "}"), Reading(calls=ONE)),
    "Hermes, a bracket too many": (HERMES.replace("}}", "}}}"), Reading(calls=ONE)),
    "Hermes with Python's quotes": (HERMES.replace('"', "'"), Reading(calls=ONE)),
    "Nemotron": (
        '<TOOLCALL>[{"name": "memory_get", "arguments": {"path": "USER.md"}}]</TOOLCALL>',
        Reading(calls=ONE),
    ),
    "LongCat": (HERMES.replace("tool_call>", "longcat_tool_call>"), Reading(calls=ONE)),
    "tool use": ('<tool_use>\n{"name": "memory_get", "input": {"path": "USER.md"}}\n</tool_use>', Reading(calls=ONE)),
    "Seed's frame": (
        "<seed:tool_call>\n<function=memory_get>\n<parameter=path>USER.md</parameter>\n</function>\n</seed:tool_call>",
        Reading(calls=ONE),
    ),
    "Groq without a bracket": ('<function=memory_get{"path": "USER.md"}</function>', Reading(calls=ONE)),
    "Groq with a late bracket": ('<function=memory_get{"path":"USER.md"}></function>', Reading(calls=ONE)),
    "Groq with round brackets": ('<function(memory_get){"path": "USER.md"}</function>', Reading(calls=ONE)),
    "Llama's method": ('<|python_tag|>memory_get.call(path="USER.md")', Reading(calls=ONE)),
    "Hunyuan": (
        "<tool_calls>\n<tool_call>memory_get<tool_sep>\n<arg_key>path</arg_key>\n<arg_value>USER.md</arg_value>\n"
        "</tool_call>\n</tool_calls>",
        Reading(calls=ONE),
    ),
    "Anthropic": (INVOKED, Reading(calls=ONE)),
    "Anthropic's namespace": (re.sub(r"(</?)(?=[fip])", r"\1" + NAMESPACE, INVOKED), Reading(calls=ONE)),
    "DeepSeek's newest": (re.sub(r"(</?)(?=[fip])", r"\1｜DSML｜", INVOKED), Reading(calls=ONE)),
    "DeepSeek without a fence": (
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>memory_get<｜tool▁sep｜>{"path":"USER.md"}<｜tool▁call▁end｜>'
        "<｜tool▁calls▁end｜>",
        Reading(calls=ONE),
    ),
    "Step": (
        '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="memory_get">'
        '<steptml:parameter name="path">USER.md</steptml:parameter></steptml:invoke><｜tool_call_end｜>'
        "<｜tool_calls_end｜>",
        Reading(calls=ONE),
    ),
    "Kimi without its section": (
        '<|tool_call_begin|>functions.memory_get:0<|tool_call_argument_begin|>{"path": "USER.md"}<|tool_call_end|>',
        Reading(calls=ONE),
    ),
    "gpt-oss": (
        '<|channel|>commentary to=functions.memory_get <|constrain|>json<|message|>{"path":"USER.md"}<|call|>',
        Reading(calls=ONE),
    ),
    "gpt-oss with its start": (
        '<|start|>assistant<|channel|>commentary to=functions.memory_get<|message|>{"path":"USER.md"}<|call|>',
        Reading(calls=ONE),
    ),
    "gpt-oss, addressed first": (
        '<|start|>assistant to=functions.memory_get<|channel|>commentary json<|message|>{"path":"USER.md"}<|call|>',
        Reading(calls=ONE),
    ),
    "Cohere's action": (
        '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "memory_get", "parameters": {"path": "USER.md"}}]'
        "<|END_ACTION|>",
        Reading(calls=ONE),
    ),
    "Command-R": (
        'Action: ```json\n[{"tool_name": "memory_get", "parameters": {"path": "USER.md"}}]\n```',
        Reading(calls=ONE),
    ),
    "InternLM": (
        '<|action_start|><|plugin|>{"name": "memory_get", "parameters": {"path": "USER.md"}}<|action_end|>',
        Reading(calls=ONE),
    ),
    "Apertus": ('<|tools_prefix|>[{"memory_get": {"path": "USER.md"}}]<|tools_suffix|>', Reading(calls=ONE)),
    "Qwen's flowers": ('✿FUNCTION✿: memory_get\n✿ARGS✿: {"path": "USER.md"}', Reading(calls=ONE)),
    "Gemma's code": ('```tool_code\nmemory_get(path="USER.md")\n```', Reading(calls=ONE)),
    "Gemma's print": ('```tool_code\nprint(default_api.memory_get(path="USER.md"))\n```', Reading(calls=ONE)),
    "Gemma's function": (
        "<start_function_call>call:memory_get{path:<escape>USER.md<escape>,lines:3}<end_function_call>",
        Reading(calls=(("memory_get", {"path": "USER.md", "lines": 3}),)),
    ),
    "Olmo": ('<function_calls>\nmemory_get(path="USER.md")\n</function_calls>', Reading(calls=ONE)),
    "Python alone": ('memory_get(path="USER.md")', Reading(calls=ONE)),
    "Python in print": ('print(default_api.memory_get(path="USER.md"))', Reading(calls=ONE)),
    "a name and JSON": ('memory_get {"path": "USER.md"}', Reading(calls=ONE)),
    "a name with JSON in brackets": ('memory_get({"path": "USER.md"})', Reading(calls=ONE)),
    "a tag of the tool's name": ("<memory_get>\n<path>USER.md</path>\n</memory_get>", Reading(calls=ONE)),
    "action and input": (
        'I look.\nAction: memory_get\nAction Input: {"path": "USER.md"}',
        Reading("I look.", calls=ONE),
    ),
    "a list of calls": (
        '{"tool_calls": [{"id": "0", "name": "memory_get", "arguments": {"path": "USER.md"}}]}',
        Reading(calls=ONE),
    ),
    "calls with ids": (
        '[{"id":"0","type":"function","function":{"name":"memory_get","arguments":"{\\"path\\":\\"USER.md\\"}"}}]',
        Reading(calls=ONE),
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
    "a name in a sentence": "memory_get reads a file.",
    "a name with brackets in a sentence": "memory_get() reads a file:\nuse it often.",
    "an action that is none": "Action: take a walk\nthen rest.",
    "an element of another kind": "<note>\n<path>USER.md</path>\n</note>",
    "a line of Python": 'print("Hello")',
}


@SIZES
@pytest.mark.parametrize("text", NO_CALLS.values(), ids=NO_CALLS)
def test_what_is_no_call_is_shown(text: str, size: int) -> None:
    assert read(pieces(text, size)) == Reading(text)


@SIZES
def test_nothing_is_looked_for_where_no_tool_is_on_offer(size: int) -> None:
    assert read(pieces(HERMES, size), tools={}) == Reading(HERMES)
    assert read(pieces(HERMES, size), reads_calls=False) == Reading(HERMES)
